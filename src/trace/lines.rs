//! Lines of bounded length out of one buffer that is used again and again.

use super::error::Problem;
use std::io::{BufRead, Read};

/// The longest line that is read, in bytes. The widest legal record (every page of a large pool, one by one) stays
/// well below it; anything longer is not a trace.
pub const MAX_LINE: usize = 16 << 20;

/// Hands out one line at a time.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
    ended: bool,
    /// The line read last was too long, and its rest has not been passed over yet.
    midway: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0, ended: true, midway: false }
    }

    /// The number of the line read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line read last ended in a newline; if not, the file may be cut off.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The line read last, without its newline.
    pub(super) fn line(&self) -> &[u8] {
        self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer)
    }

    /// Reads the next line that is not blank; `false` at the end. After `LineTooLong` a lenient caller can go on with
    /// the line after it; a strict one is not made to wait for the end of a line of a terabyte.
    pub(super) fn advance(&mut self) -> Result<bool, Problem> {
        if std::mem::take(&mut self.midway) {
            self.skip_rest().map_err(Problem::Io)?;
        }
        loop {
            self.buffer.clear();
            let limit = MAX_LINE as u64 + 1;
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(Problem::Io)?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.ended = self.buffer.last() == Some(&b'\n');
            if !self.ended && self.buffer.len() > MAX_LINE {
                self.buffer = Vec::new();
                self.midway = true;
                return Err(Problem::LineTooLong);
            }
            if !self.line().iter().all(u8::is_ascii_whitespace) {
                return Ok(true);
            }
        }
    }

    /// Passes over the rest of a line without holding it.
    fn skip_rest(&mut self) -> std::io::Result<()> {
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(());
            }
            let newline = chunk.iter().position(|&byte| byte == b'\n');
            let used = newline.map_or(chunk.len(), |at| at + 1);
            self.input.consume(used);
            if newline.is_some() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_counted_but_not_handed_out() {
        let mut lines = Lines::new(&b"\n  \na\r\nb"[..]);
        assert!(lines.advance().unwrap());
        assert_eq!((lines.number(), lines.line(), lines.ended()), (3, &b"a\r"[..], true));
        assert!(lines.advance().unwrap());
        assert_eq!((lines.number(), lines.line(), lines.ended()), (4, &b"b"[..], false));
        assert!(!lines.advance().unwrap());
    }

    #[test]
    fn a_line_over_the_cap_is_refused_and_passed_over() {
        let mut text = vec![b'x'; MAX_LINE + 1];
        text.extend_from_slice(b"yyy\nnext\n");
        let mut lines = Lines::new(&text[..]);
        assert!(matches!(lines.advance(), Err(Problem::LineTooLong)));
        assert!(lines.advance().unwrap());
        assert_eq!((lines.number(), lines.line()), (2, &b"next"[..]));
    }

    #[test]
    fn a_line_without_end_is_refused_at_once() {
        let mut lines = Lines::new(std::io::BufReader::new(std::io::repeat(0)));
        assert!(matches!(lines.advance(), Err(Problem::LineTooLong)));
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_read() {
        let mut text = vec![b'x'; MAX_LINE];
        text.push(b'\n');
        let mut lines = Lines::new(&text[..]);
        assert!(lines.advance().unwrap());
        assert_eq!(lines.line().len(), MAX_LINE);
    }
}
