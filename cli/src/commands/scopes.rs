//! `pagefence scopes`.

use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::Result;
use pagefence::cell::Scope;
use pagefence::library;
use pagefence::report::{Table, grouped};
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report {
    command: &'static str,
    scopes: Vec<Scope>,
}

pub fn run(console: &mut Console) -> Result<Outcome> {
    let scopes: Vec<Scope> = library::scopes().collect();
    let mut table = Table::new("", ["scope", "requests", "pages", "of tokens", "ranks", "what for"]);
    for scope in &scopes {
        table.push([
            scope.name.clone(),
            scope.requests.len().to_string(),
            format!("{} to {}", grouped(scope.prefill_pages.into()), grouped(scope.decode_pages.into())),
            scope.page_size.to_string(),
            format!("{} to {}", scope.prefill_ranks, scope.decode_ranks),
            scope.about.clone(),
        ]);
    }
    console.table(&table)?;
    console.json(&Report { command: "scopes", scopes })?;
    Ok(Outcome::AsDeclared)
}
