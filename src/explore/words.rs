//! Signatures and violations of the serving cell in words: with the names of protocol steps instead of their numbers.
//!
//! A number means another step as soon as one is added before it; a file must mean the same for years.

use super::signature::Signature;
use crate::cell::Site;
use crate::lifetime::{Kind, Label, Life, OpId, Place, Spans, Violation};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A [`Signature`] of the serving cell, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// What is wrong.
    pub kind: Kind,
    /// The step that started the access, or gave the slot away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Site>,
    /// The step that took the slot away: the release path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Site>,
    /// The step in which it broke.
    pub broke: Site,
}

impl Words {
    /// The signature of a violation by name; nothing if it is another protocol's.
    #[must_use]
    pub fn of(violation: &Violation) -> Option<Self> {
        Signature::from(violation).try_into().ok()
    }
}

impl TryFrom<Signature> for Words {
    type Error = Label;

    /// Fails with the label that no protocol step of the cell has: the signature is another protocol's.
    fn try_from(signature: Signature) -> Result<Self, Label> {
        let Signature { kind, started, released, broke } = signature;
        let site = |label: Option<Label>| label.map(Site::try_from).transpose();
        Ok(Self { kind, started: site(started)?, released: site(released)?, broke: broke.try_into()? })
    }
}

impl From<Words> for Signature {
    fn from(words: Words) -> Self {
        let Words { kind, started, released, broke } = words;
        Self { kind, started: started.map(Into::into), released: released.map(Into::into), broke: broke.into() }
    }
}

impl fmt::Display for Words {
    /// `stale-read: WorkerPost, DecodeReleaseNow, DecodeStep`: what started, what took the slot away, what broke.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind)?;
        for site in [self.started, self.released].into_iter().flatten() {
            write!(f, "{site}, ")?;
        }
        write!(f, "{}", self.broke)
    }
}

/// How a violation is written into a finding: as [`Violation`], its labels by name.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Violation", deny_unknown_fields)]
pub struct ViolationInWords {
    kind: Kind,
    place: Option<Place>,
    slots: Spans,
    cells: u32,
    life: Life,
    other: Option<Life>,
    op: Option<OpId>,
    #[serde(with = "maybe")]
    started: Option<Label>,
    #[serde(with = "maybe")]
    released: Option<Label>,
    #[serde(with = "always")]
    broke: Label,
}

mod always {
    use crate::cell::Site;
    use crate::lifetime::Label;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, ser::Error as _};

    pub(super) fn serialize<S: Serializer>(label: &Label, to: S) -> Result<S::Ok, S::Error> {
        let unknown = |label: Label| S::Error::custom(format!("no protocol step has the number {}", label.0));
        Site::try_from(*label).map_err(unknown)?.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Label, D::Error> {
        Site::deserialize(from).map(Label::from)
    }
}

mod maybe {
    use crate::cell::Site;
    use crate::lifetime::Label;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(label: &Option<Label>, to: S) -> Result<S::Ok, S::Error> {
        match label {
            None => to.serialize_none(),
            Some(label) => super::always::serialize(label, to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Label>, D::Error> {
        Ok(Option::<Site>::deserialize(from)?.map(Label::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_goes_by_names() {
        let words = Words {
            kind: Kind::StaleRead,
            started: Some(Site::WorkerPost),
            released: Some(Site::DecodeReleaseNow),
            broke: Site::DecodeStep,
        };
        assert_eq!(words.to_string(), "stale-read: WorkerPost, DecodeReleaseNow, DecodeStep");
        let json = serde_json::to_string(&words).unwrap();
        let expected =
            r#"{"kind":"stale-read","started":"WorkerPost","released":"DecodeReleaseNow","broke":"DecodeStep"}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Words>(&json).unwrap(), words);
        assert_eq!(Words::try_from(Signature::from(words)), Ok(words));
        let error = serde_json::from_str::<Words>(&json.replace("WorkerPost", "WorkerPots")).unwrap_err();
        assert!(error.to_string().contains("did you mean `WorkerPost`?"), "{error}");
    }

    #[test]
    fn labels_of_another_protocol_have_no_words() {
        let strange = Signature { kind: Kind::Leak, started: None, released: None, broke: Label(4000) };
        assert_eq!(Words::try_from(strange), Err(Label(4000)));
    }
}
