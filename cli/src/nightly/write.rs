//! Everything that is made of a night: a page, and what services read. Each is written whole or not at all.

use super::junit::junit;
use super::night::Night;
use super::page::{self, page};
use super::sarif::sarif;
use anyhow::Result;
use pagefence::report::{Table, write_whole};
use std::path::Path;

/// Writes `report.html`, `junit.xml`, `results.sarif` and `summary.json` into the folder of a night; returns the tables that belong
/// on a terminal.
pub fn write(night: &Night, previous: Option<&Night>, root: &Path) -> Result<Vec<Table>> {
    write_whole(&root.join("summary.json"), serde_json::to_string_pretty(&night.summary())?)?;
    write_whole(&root.join("junit.xml"), junit(night)?)?;
    write_whole(&root.join("results.sarif"), sarif(night)?)?;
    // Last: whoever sees the report has the rest.
    write_whole(&root.join("report.html"), page(night, previous, root))?;
    Ok(page::summary(night, previous))
}
