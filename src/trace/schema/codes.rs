//! The compact spellings of the schema: `[start, len]` for a run, `[request, generation]` for a life.

use super::{Life, Span, Spans};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A life, written `[request, generation]`, or `request` alone for the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct LifeCode(pub(super) Life);

impl Serialize for LifeCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0.request, self.0.generation).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LifeCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LifeVisitor;
        impl<'de> Visitor<'de> for LifeVisitor {
            type Value = LifeCode;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a life: `[request, generation]` or `request`")
            }

            fn visit_u64<E: de::Error>(self, request: u64) -> Result<LifeCode, E> {
                let request = u32::try_from(request)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(request), &"a request below 2^32"))?;
                Ok(LifeCode(Life::first(request)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<LifeCode, A::Error> {
                let request = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let generation = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
                Ok(LifeCode(Life { request, generation }))
            }
        }
        deserializer.deserialize_any(LifeVisitor)
    }
}

/// A run, written `[start, len]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanCode(pub(super) Span);

impl Serialize for SpanCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0.start, self.0.len).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SpanCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (start, len) = <(u32, u32)>::deserialize(deserializer)?;
        Ok(Self(Span::new(start, len)))
    }
}

/// An ordered list of runs, written `[[start, len], …]`. Two of them fit without an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs(pub Spans);

impl Serialize for Runs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.0.len()))?;
        for &run in &self.0 {
            seq.serialize_element(&SpanCode(run))?;
        }
        seq.end()
    }
}

impl<'de> Deserialize<'de> for Runs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RunsVisitor;
        impl<'de> Visitor<'de> for RunsVisitor {
            type Value = Runs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("runs: `[[start, len], …]`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Runs, A::Error> {
                let mut runs = Spans::new();
                while let Some(SpanCode(run)) = seq.next_element()? {
                    runs.push(run);
                }
                Ok(Runs(runs))
            }
        }
        deserializer.deserialize_seq(RunsVisitor)
    }
}

/// A string that borrows from the line unless it holds an escape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    /// The characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}
