//! The HTML pages of the commands.

use crate::console::Console;
use anyhow::Result;
use pagefence::report::{Summary, Table, Timeline, render_html, write_whole};
use std::path::Path;

/// Writes a page, whole or not at all, and says where it is. `rows` are facts beside the version, as (name, value).
pub fn write(
    path: &Path,
    title: String,
    rows: Vec<(String, String)>,
    tables: Vec<Table>,
    timelines: &[Timeline],
    console: &mut Console,
) -> Result<()> {
    let version = ("pagefence".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let summary = Summary { title, rows: std::iter::once(version).chain(rows).collect(), tables, ..Summary::default() };
    write_whole(path, render_html(timelines, &summary))?;
    console.line(format!("written to {}", path.display()))?;
    Ok(())
}
