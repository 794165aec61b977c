//! Styled lines for terminals: spans with a style, measured in columns, printed with or without the styles.

use anstyle::{AnsiColor, Style};
use std::fmt::{self, Write};
use unicode_width::UnicodeWidthStr as _;

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();

/// A coloured style.
pub(super) const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}

/// One line, built from left to right.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    spans: Vec<(Style, String)>,
    width: usize,
}

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Appends text.
    pub(super) fn put(&mut self, style: Style, text: impl Into<String>) -> &mut Self {
        let text = text.into();
        self.width += text.width();
        match self.spans.last_mut() {
            Some((last, before)) if *last == style => before.push_str(&text),
            _ => self.spans.push((style, text)),
        }
        self
    }

    /// Appends blanks up to a column.
    pub(super) fn to(&mut self, column: usize) -> &mut Self {
        if let Some(blanks) = column.checked_sub(self.width) {
            self.put(PLAIN, " ".repeat(blanks));
        }
        self
    }

    /// Appends another line.
    pub(super) fn append(&mut self, other: Self) -> &mut Self {
        for (style, text) in other.spans {
            self.put(style, text);
        }
        self
    }

    /// Writes the line without trailing blanks, and a newline.
    pub(super) fn write(mut self, out: &mut dyn Write, styled: bool) -> fmt::Result {
        while let Some((_, last)) = self.spans.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            self.spans.pop();
        }
        for (style, text) in &self.spans {
            if styled && !style.is_plain() && !text.trim().is_empty() {
                write!(out, "{style}{text}{style:#}")?;
            } else {
                out.write_str(text)?;
            }
        }
        out.write_char('\n')
    }
}

/// `text` without control characters, which could move the cursor or forge a line.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `text` cut to `width` columns, with `mark` at the end when something was cut.
pub(super) fn cut(text: &str, width: usize, mark: &str) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(mark.width());
    let mut kept = String::new();
    for c in text.chars() {
        let mut grown = kept.clone();
        grown.push(c);
        if grown.width() > room {
            break;
        }
        kept = grown;
    }
    let mut kept = kept.trim_end().to_owned();
    if width >= mark.width() {
        kept.push_str(mark);
    }
    kept
}

/// Breaks `text` at blanks into lines of at most `width` columns; words that are wider are broken anywhere.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        loop {
            let line = lines.last_mut().expect("there is always a line");
            let gap = usize::from(!line.is_empty());
            if line.width() + gap + word.width() <= width {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(&word);
                break;
            }
            if line.is_empty() {
                let mut head = cut(&word, width, "");
                if head.is_empty() {
                    head = word.chars().next().map(String::from).unwrap_or_default();
                }
                word = word[head.len()..].to_owned();
                *line = head;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Puts parts side by side with `between` in between, on as many lines of `width` columns as that takes; a part is
/// broken only where it is wider than a line.
pub(super) fn flow(parts: &[String], between: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts.iter().map(|part| clean(part)) {
        match lines.last_mut() {
            Some(line) if line.width() + between.width() + part.width() <= width => {
                line.push_str(between);
                line.push_str(&part);
            }
            _ => lines.extend(wrap(&part, width)),
        }
    }
    lines
}
