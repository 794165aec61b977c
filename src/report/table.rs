//! Tables: as data, and for the terminal. The HTML report draws the same data.

use super::ink::{self, BOLD, DIM, Line};
use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};
use std::fmt;
use unicode_width::UnicodeWidthStr as _;

/// A small table: cases by profiles, counts by explorer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows; may be empty.
    pub caption: String,
    /// The headings.
    pub head: Vec<String>,
    /// The rows; short ones are filled up.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// How it says it.
    pub tone: Tone,
}

/// What a cell means. Never the only carrier of meaning: the text must say it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Not as it should be, but not broken.
    Warn,
    /// Broken.
    Bad,
    /// Of no interest here.
    Dim,
}

impl Cell {
    /// A cell with a tone.
    #[must_use]
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl Table {
    /// An empty table with these headings.
    #[must_use]
    pub fn new(caption: impl Into<String>, head: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { caption: caption.into(), head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item: Into<Cell>>) -> &mut Self {
        self.rows.push(row.into_iter().map(Into::into).collect());
        self
    }

    /// How many columns there are.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).chain([self.head.len()]).max().unwrap_or(0)
    }

    /// Whether a column holds numbers only, and is aligned to the right.
    #[must_use]
    pub fn numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).filter(|c| !c.text.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|c| is_number(&c.text))
    }
}

/// `1,234`, `0.5`, `12%`, `-3`: what belongs under other numbers.
fn is_number(text: &str) -> bool {
    let text = text.strip_suffix('%').unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | '_'))
}

/// Draws a table: headings dim, columns two blanks apart, numbers to the right.
///
/// # Errors
/// When `out` fails.
pub fn render_table(table: &Table, styled: bool, out: &mut dyn fmt::Write) -> fmt::Result {
    let columns = table.columns();
    let shown = |text: &str| ink::clean(text);
    let width = |column: usize| {
        let head = table.head.get(column).map_or(0, |h| shown(h).width());
        let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|c| shown(&c.text).width());
        cells.max().unwrap_or(0).max(head)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let put = |cells: Vec<(Style, String)>, out: &mut dyn fmt::Write| {
        let mut line = Line::new();
        let mut start = 0;
        for (column, (style, text)) in cells.into_iter().enumerate() {
            let indent = if table.numeric(column) { widths[column] - text.width() } else { 0 };
            line.to(start + indent).put(style, text);
            start += widths[column] + 2;
        }
        line.write(out, styled)
    };
    if !table.caption.is_empty() {
        put_line(BOLD, &shown(&table.caption), styled, out)?;
    }
    if !table.head.is_empty() {
        put(table.head.iter().map(|h| (DIM, shown(h))).collect(), out)?;
    }
    for row in &table.rows {
        put(row.iter().map(|c| (tone(c.tone), shown(&c.text))).collect(), out)?;
    }
    Ok(())
}

fn put_line(style: Style, text: &str, styled: bool, out: &mut dyn fmt::Write) -> fmt::Result {
    let mut line = Line::new();
    line.put(style, text);
    line.write(out, styled)
}

fn tone(tone: Tone) -> Style {
    match tone {
        Tone::Plain => ink::PLAIN,
        Tone::Good => ink::colour(AnsiColor::Green),
        Tone::Warn => ink::colour(AnsiColor::Yellow),
        Tone::Bad => ink::colour(AnsiColor::Red).bold(),
        Tone::Dim => DIM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_numbers_stand_to_the_right() {
        let mut table = Table::new("cases", ["case", "steps", "verdict"]);
        table.push([Cell::from("S14"), "19".into(), Cell::new("stale-read", Tone::Bad)]);
        table.push(["表", "1,204", "clean\n"]);
        let mut out = String::new();
        render_table(&table, false, &mut out).unwrap();
        assert_eq!(out, "cases\ncase  steps  verdict\nS14      19  stale-read\n表    1,204  clean\n");
        out.clear();
        render_table(&table, true, &mut out).unwrap();
        assert!(out.contains("\u{1b}[31mstale-read"), "{out:?}");
    }
}
