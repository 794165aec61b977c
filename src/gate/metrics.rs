//! Prometheus metrics pages: the gauges that tell sizes.

use super::Found;
use super::report::Origin;

/// The longest line that is looked at.
const MAX_LINE: usize = 64 << 10;

/// The largest number that a double counts exactly; a pool beyond it is no pool.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a page in the text format. What does not parse is passed over.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    for line in text.lines().filter(|line| line.len() <= MAX_LINE && !line.starts_with('#')) {
        let Some((name, labels, value)) = sample(line.trim()) else { continue };
        // Prometheus may rewrite the colon, which it keeps for its own rules.
        match name.strip_prefix("sglang:").or_else(|| name.strip_prefix("sglang_")) {
            Some("max_total_num_tokens") => {
                let labels = if labels.is_empty() { "(no labels)" } else { labels };
                found.pool(value, || Origin::Labels(labels.to_owned()));
            }
            Some("context_len") => found.context(value),
            _ => {}
        }
    }
    found
}

/// `name{labels} value [timestamp]`: the name, the labels with their braces, and the value as a count of tokens.
fn sample(line: &str) -> Option<(&str, &str, u64)> {
    let name_end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(name_end);
    let (labels, rest) = if rest.starts_with('{') { rest.split_at(labels_end(rest)?) } else { ("", rest) };
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    // NaN, infinities, negatives and fractions count nothing.
    let counts = (0.0..=MAX_EXACT).contains(&value) && value.fract() == 0.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be an exact count")]
    counts.then_some((name, labels, value as u64))
}

/// Where the labels end: a brace inside a quoted value is not the end.
fn labels_end(labels: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (index, byte) in labels.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(index + 1),
            _ => {}
        }
    }
    None
}
