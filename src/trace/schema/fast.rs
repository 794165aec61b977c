//! A parser for records as exporters write them.
//!
//! General JSON parsing is most of what an audit costs, and nearly every line of a trace is of the plainest kind: known
//! fields, each once, no escapes, no exponents. Those are parsed here. At anything else this gives up, and the general
//! parser decides; so it may refuse whatever it likes, but must never accept what the general one would refuse, or
//! read it differently. A property test compares the two.

use super::codes::{LifeCode, SpanCode};
use super::{Area, EventName, Record, Runs, Text};
use crate::lifetime::{Arena, Life, Node, OpId, Span, Spans, Verdict};

/// The record of a plain line, or `None` for the general parser.
pub(super) fn record(line: &str) -> Option<Record<'_>> {
    let mut at = Cursor { line, at: 0 };
    let mut record = Record::bare(EventName::Begin);
    let mut event = None;
    at.expect(b'{')?;
    loop {
        let key = at.text()?;
        at.expect(b':')?;
        match key {
            "event" => once(&mut event, event_name(at.text()?)?)?,
            "life" => once(&mut record.life, at.life()?)?,
            "slots" => once(&mut record.slots, at.area()?)?,
            "cells" => once(&mut record.cells, at.area()?)?,
            "source" => once(&mut record.source, at.area()?)?,
            "target" => once(&mut record.target, at.area()?)?,
            "op" => once(&mut record.op, OpId(at.number()?))?,
            "part" => once(&mut record.part, SpanCode(at.span()?))?,
            "group" => once(&mut record.group, at.small()?)?,
            "rank" => once(&mut record.rank, at.small()?)?,
            "verdict" => once(&mut record.verdict, verdict(at.text()?)?)?,
            "prompt_tokens" => once(&mut record.prompt_tokens, at.number()?)?,
            "tokens_of" => once(&mut record.tokens_of, at.life()?)?,
            "processed" => once(&mut record.processed, at.number()?)?,
            "node" => once(&mut record.node, Node(at.small()?))?,
            "thread" => once(&mut record.thread, Text::from(at.text()?))?,
            "request" => once(&mut record.request, Text::from(at.text()?))?,
            "clock" => once(&mut record.clock, at.decimal()?)?,
            _ => return None,
        }
        if !at.goes_on(b'}')? {
            break;
        }
    }
    at.end()?;
    record.event = event?;
    Some(record)
}

/// Fills a field that was not given before.
fn once<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

fn event_name(name: &str) -> Option<EventName> {
    Some(match name {
        "begin" => EventName::Begin,
        "alloc" => EventName::Alloc,
        "free" => EventName::Free,
        "write" => EventName::Write,
        "post" => EventName::Post,
        "land" => EventName::Land,
        "settle" => EventName::Settle,
        "read" => EventName::Read,
        "decide" => EventName::Decide,
        "finish" => EventName::Finish,
        "crash" => EventName::Crash,
        _ => return None,
    })
}

fn verdict(name: &str) -> Option<Verdict> {
    Some(match name {
        "success" => Verdict::Success,
        "rejected" => Verdict::Rejected,
        "aborted" => Verdict::Aborted,
        "failed" => Verdict::Failed,
        _ => return None,
    })
}

fn arena(name: &str) -> Option<Arena> {
    Some(match name {
        "kv_page" => Arena::KvPage,
        "metadata_row" => Arena::MetadataRow,
        "request_row" => Arena::RequestRow,
        "staging_region" => Arena::StagingRegion,
        "host_page" => Arena::HostPage,
        _ => return None,
    })
}

/// A place in a line.
struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not a space.
    fn token(&mut self) -> Option<u8> {
        while self.peek()? == b' ' {
            self.at += 1;
        }
        self.peek()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.token()? == byte).then(|| self.at += 1)
    }

    /// After a member: whether another follows, or the list closes.
    fn goes_on(&mut self, close: u8) -> Option<bool> {
        let byte = self.token()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            _ if byte == close => Some(false),
            _ => None,
        }
    }

    /// Nothing but blanks follow.
    fn end(&self) -> Option<()> {
        self.line.as_bytes()[self.at..].iter().all(|byte| matches!(byte, b' ' | b'\r')).then_some(())
    }

    /// A string without escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' | 0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        let text = self.line.get(start..self.at);
        self.at += 1;
        text
    }

    /// A number of one to ten digits without a leading zero, and nothing of a fraction or an exponent.
    fn number(&mut self) -> Option<u32> {
        let first = self.token()?;
        let start = self.at;
        let mut value = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value * 10 + u64::from(digit - b'0');
            self.at += 1;
            if self.at - start > 10 {
                return None;
            }
        }
        let digits = self.at - start;
        let plain = digits == 1 || (digits > 1 && first != b'0');
        let goes_on = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if plain && !goes_on { u32::try_from(value).ok() } else { None }
    }

    fn small(&mut self) -> Option<u8> {
        u8::try_from(self.number()?).ok()
    }

    /// A number with or without a fraction.
    fn decimal(&mut self) -> Option<f64> {
        self.token()?;
        let start = self.at;
        self.whole_digits()?;
        if self.peek() == Some(b'.') {
            self.at += 1;
            let fraction = self.at;
            while matches!(self.peek(), Some(b'0'..=b'9')) {
                self.at += 1;
            }
            if self.at == fraction {
                return None;
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            return None;
        }
        self.line.get(start..self.at)?.parse().ok()
    }

    fn whole_digits(&mut self) -> Option<()> {
        let start = self.at;
        let first = self.peek()?;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let digits = self.at - start;
        (digits == 1 || (digits > 1 && first != b'0')).then_some(())
    }

    fn span(&mut self) -> Option<Span> {
        self.expect(b'[')?;
        let start = self.number()?;
        self.expect(b',')?;
        let len = self.number()?;
        self.expect(b']')?;
        Some(Span::new(start, len))
    }

    fn life(&mut self) -> Option<LifeCode> {
        if self.token()? != b'[' {
            return Some(LifeCode(Life::first(self.number()?)));
        }
        self.at += 1;
        let request = self.number()?;
        self.expect(b',')?;
        let generation = u16::try_from(self.number()?).ok()?;
        self.expect(b']')?;
        Some(LifeCode(Life { request, generation }))
    }

    fn area(&mut self) -> Option<Area> {
        let (mut node, mut kind, mut runs) = (None, None, None);
        self.expect(b'{')?;
        loop {
            let key = self.text()?;
            self.expect(b':')?;
            match key {
                "node" => once(&mut node, Node(self.small()?))?,
                "arena" => once(&mut kind, arena(self.text()?)?)?,
                "runs" => once(&mut runs, self.runs()?)?,
                _ => return None,
            }
            if !self.goes_on(b'}')? {
                break;
            }
        }
        Some(Area { node: node?, arena: kind?, runs: Runs(runs?) })
    }

    /// At least one run; an empty list is for the general parser.
    fn runs(&mut self) -> Option<Spans> {
        let mut runs = Spans::new();
        self.expect(b'[')?;
        loop {
            runs.push(self.span()?);
            if !self.goes_on(b']')? {
                return Some(runs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both parsers of a line, as JSON again: what they read, not how they hold it.
    fn both(line: &str) -> (Option<String>, Option<String>) {
        let shown = |record: &Record<'_>| {
            // The general parser may round the last bit of a fraction differently.
            let clock = record.clock.map(|clock| format!("{clock:.9e}"));
            format!("{} {clock:?}", serde_json::to_string(&Record { clock: None, ..record.clone() }).unwrap())
        };
        let general = serde_json::from_str::<Record<'_>>(line).ok();
        (record(line).as_ref().map(shown), general.as_ref().map(shown))
    }

    const LINES: [&str; 9] = [
        r#"{"event":"begin","life":[0,0],"request":"ok é","clock":26.4849,"node":1,"thread":"t"}"#,
        r#"{"event": "alloc", "life": 0, "slots": {"node": 1, "arena": "kv_page", "runs": [[1, 2], [7, 1], [9, 3]]}}"#,
        r#"{"event":"post","op":1,"life":[7,2],"source":{"node":0,"arena":"kv_page","runs":[[4,8]]},"target":{"runs":[[4,8]],"arena":"host_page","node":1}}"#,
        r#"{"event":"land","op":4294967295,"part":[0,8]}"#,
        r#"{"event":"settle","op":1}"#,
        r#"{"event":"read","life":10,"cells":{"node":255,"arena":"metadata_row","runs":[[4,8]]},"clock":0}"#,
        r#"{"event":"decide","life":1,"group":1,"rank":0,"verdict":"rejected"}"#,
        r#"{"event":"finish","life":0,"verdict":"success","prompt_tokens":8,"tokens_of":[1,0],"processed":8}"#,
        r#"{"event":"crash","node":0,"life":3}  "#,
    ];

    #[test]
    fn plain_lines_are_read_here() {
        for line in LINES {
            let (fast, general) = both(line);
            assert!(fast.is_some(), "{line}");
            assert_eq!(fast, general);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn what_is_read_here_is_what_the_general_parser_reads(
            which in 0..LINES.len(),
            edits in proptest::collection::vec(
                (any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(&br#"0123456789.eE-+[]{},:" \nrt"#[..])),
                0..4,
            ),
        ) {
            let mut bytes = LINES[which].as_bytes().to_vec();
            for (at, edit, byte) in edits {
                let at = at.index(bytes.len());
                match edit {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ => drop(bytes.remove(at)),
                }
            }
            if let Ok(line) = std::str::from_utf8(&bytes) {
                let (fast, general) = both(line);
                if fast.is_some() {
                    prop_assert_eq!(fast, general);
                }
            }
        }
    }
}
