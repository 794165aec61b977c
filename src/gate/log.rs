//! Start-up logs: the few lines that tell sizes, among anything else.

use super::Found;
use super::report::Origin;

/// How much of a line is looked at. The lines that matter are some hundred bytes long.
const MAX_LINE: usize = 64 << 10;

/// Reads a log. Prefixes, colours and other lines don't matter.
///
/// A node says the size of its pool twice: when it allocates (`KV Cache is allocated. #tokens: …`, each rank) and in
/// its summary (`max_total_num_tokens=…`, one rank). Both are kept; the smallest decides.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    for (index, line) in text.split('\n').enumerate() {
        let line = head(line);
        let origin = || Origin::Line(index as u64 + 1);
        let summary = field(line, "max_total_num_tokens=");
        if let Some(tokens) = summary {
            found.pool(tokens, origin);
        }
        if line.contains("KV Cache is allocated")
            && let Some(tokens) = field(line, "#tokens:")
        {
            found.pool(tokens, origin);
        }
        // The context length of the summary. Elsewhere (`server_args=…`) it is what was asked for, not what is.
        if summary.is_some()
            && let Some(context) = field(line, "context_len=")
        {
            found.context(context);
        }
        if let Some(limit) = field(line, "max_req_input_len=") {
            found.limit(limit);
        }
    }
    found
}

/// The start of a line, cut at a character.
fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE)]
}

/// The number behind `key`, which must be a word of its own. Thousands may be grouped as in `681,280`; a number that
/// goes on as something else (a fraction, a sign, more digits than there are tokens) is none.
fn field(line: &str, key: &str) -> Option<u64> {
    let mut from = 0;
    while let Some(at) = line[from..].find(key) {
        let start = from + at;
        from = start + key.len();
        let before = line[..start].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        if let Some(number) = number(without_colour(line[from..].trim_start())) {
            return Some(number);
        }
    }
    None
}

/// Passes over a colour code in front of a value.
fn without_colour(text: &str) -> &str {
    match text.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) {
        Some((code, rest)) if code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') => rest,
        _ => text,
    }
}

fn number(text: &str) -> Option<u64> {
    let mut rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut digits = text[..text.len() - rest.len()].to_owned();
    // Groups of exactly three digits; a comma followed by anything else ends the number.
    while let Some(group) = rest.strip_prefix(',') {
        let len = group.len() - group.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if len != 3 || digits.is_empty() {
            break;
        }
        digits.push_str(&group[..3]);
        rest = &group[3..];
    }
    let goes_on = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        || rest.strip_prefix('.').is_some_and(|more| more.starts_with(|c: char| c.is_ascii_digit()));
    if goes_on { None } else { digits.parse().ok() }
}
