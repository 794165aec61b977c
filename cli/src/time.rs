//! Times as people write them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A time that is written `500ms`, `30s`, `10m` or `2h`; a bare number is seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(pub Duration);

const WANTED: &str = "write a number and ms, s, m or h: 30s";

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let scale: u64 = match unit {
            "ms" => 1,
            "s" | "" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(WANTED.to_owned()),
        };
        let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale));
        millis.map(|millis| Self(Duration::from_millis(millis))).ok_or_else(|| WANTED.to_owned())
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.to_string()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match millis {
            0 => f.write_str("0s"),
            millis if millis % 3_600_000 == 0 => write!(f, "{}h", millis / 3_600_000),
            millis if millis % 60_000 == 0 => write!(f, "{}m", millis / 60_000),
            millis if millis % 1000 == 0 => write!(f, "{}s", millis / 1000),
            millis => write!(f, "{millis}ms"),
        }
    }
}

/// For the command line.
pub fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<Time>().map(|time| time.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written_alike() {
        for (text, millis) in [("500ms", 500), ("30s", 30_000), ("10m", 600_000), ("2h", 7_200_000), ("90s", 90_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)));
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        for wrong in ["", "s", "-1s", "1.5s", "10 s", "1d", "99999999999999999999h", "18446744073709551615h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
