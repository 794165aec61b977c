//! Protocol steps by name: what a finding's signature is made of.

use super::nearest::nearest;
use crate::lifetime::Label;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares [`Site`] with text and protocol reference.
macro_rules! sites {
    ($($variant:ident = $text:literal, $reference:literal;)+) => {
        /// A place in the protocol from which events come.
        ///
        /// In files it goes by its name: numbers change with every protocol step that is added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        #[repr(u8)]
        pub enum Site { $(#[doc = $text] $variant,)+ }

        impl Site {
            /// Every site.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// What happens there, as a timeline says it.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The protocol section that the step stands for.
            #[must_use]
            pub const fn reference(self) -> &'static str {
                match self { $(Self::$variant => $reference,)+ }
            }

            /// The stable short name in signatures, cases and findings.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)+ }
            }
        }
    };
}

sites! {
    Submit = "the client sends the request", "5, HTTP";
    ClientAbort = "the client aborts the request", "7, abort_request";
    ClientDisconnect = "the client goes away", "7, abort_request";
    Answer = "the client is answered", "5, HTTP";
    PrefillReject = "prefill refuses the request", "7, producers";
    DecodeReject = "decode refuses the request", "7, producers";
    PrefillAlloc = "prefill reserves source pages", "P8";
    PrefillRow = "prefill reserves a metadata row", "P4";
    PrefillForward = "the forward writes source pages", "P10";
    PrefillSetBuf = "prefill fills its metadata row", "P11";
    PrefillFinish = "prefill has sent everything and releases", "P18";
    PrefillFailure = "prefill sees the transfer failed and releases", "P19";
    PrefillRetire = "prefill retires an aborted result", "P12";
    PrefillDequeue = "prefill drops a request that waits", "P5, P7";
    PrefillHoldEnd = "prefill's workers have drained; it releases", "reference, #38961";
    WorkerPost = "a worker posts the write of KV pages", "P13";
    WorkerRetry = "the transport posts the write again", "transfer semantics K.1";
    WorkerPostAux = "a worker posts the metadata write", "P13";
    Land = "bytes land", "transfer semantics K.1";
    LandAux = "metadata arrives as a message", "5, AUX_DATA";
    Settled = "the write is over", "transfer semantics K.1";
    PrefillDeath = "prefill dies", "3.4";
    DecodeAlloc = "decode reserves destination pages", "D7";
    DecodeRow = "decode reserves a metadata row", "D7";
    DecodeCommit = "decode commits the transfer", "D11";
    DecodeCommitRow = "decode frees the metadata row", "D11";
    DecodeCorruption = "decode finds the wrong room and releases at once", "D11";
    DecodeLength = "decode refuses a handoff of another length", "#38704";
    DecodeReleaseNow = "decode sees the transfer failed and releases at once", "D12";
    DecodeDrained = "every acknowledgement is in; decode releases", "D13";
    DecodeTimeout = "the release timeout passes; decode releases anyway", "D13, section 10";
    DecodeGrow = "decode reserves a page for new tokens", "D15";
    DecodeStep = "a decode step reads the context and writes a token", "D15";
    DecodeFinish = "decode has finished and releases", "6.1";
    DecodeAbortRunning = "decode ends an aborted running request and releases", "7, abort_request method 3";
    DecodeOutOfMemory = "decode runs out of pages and drops the youngest request", "D16";
    CheckStatus = "a poll finds no such room", "1.1, check_status";
    PrefillPollState = "a poll in the bootstrap queue finds an impossible state", "P6";
    Admission = "ranks reserve for different requests", "D7, 4";
    Quiet = "nothing is left to do but wait", "13, at rest";
    Final = "nothing is left to do", "13, at rest";
}

impl From<Site> for Label {
    fn from(site: Site) -> Self {
        Self(site as u32)
    }
}

impl TryFrom<Label> for Site {
    type Error = Label;

    fn try_from(label: Label) -> Result<Self, Label> {
        Self::ALL.get(label.0 as usize).copied().ok_or(label)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no protocol step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol step `{name}`; did you mean `{nearest}`?")]
pub struct UnknownSite {
    /// What was asked for.
    pub name: String,
    /// The nearest valid name.
    pub nearest: &'static str,
}

impl FromStr for Site {
    type Err = UnknownSite;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|site| site.name() == name).ok_or_else(|| UnknownSite {
            name: name.to_owned(),
            nearest: nearest(name, Self::ALL.iter().map(|site| site.name())).unwrap_or_default(),
        })
    }
}

impl From<Site> for &'static str {
    fn from(site: Site) -> Self {
        site.name()
    }
}

impl TryFrom<String> for Site {
    type Error = UnknownSite;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_step_and_no_other_name_is() {
        for site in Site::ALL.iter().copied() {
            assert_eq!(site.name().parse(), Ok(site));
            assert_eq!(<&'static str>::from(site), site.name());
        }
        let error = "DecodeStepp".parse::<Site>().unwrap_err();
        assert_eq!((error.name.as_str(), error.nearest), ("DecodeStepp", "DecodeStep"));
    }

    /// Sections of the protocol, its steps, and the part on transfers; pull requests are elsewhere.
    #[test]
    fn what_a_step_cites_is_in_the_protocol_document() {
        let document = include_str!("../../docs/protocol.md");
        for site in Site::ALL {
            let cited = site.reference().split(',').next().unwrap().rsplit(' ').next().unwrap();
            if cited.starts_with('#') || cited == "reference" {
                continue;
            }
            let ways = [format!("## {cited}. "), format!("**{cited}"), format!("| {cited} |")];
            assert!(
                ways.iter().any(|way| document.contains(way)),
                "{site} cites {cited}, which is not in the document"
            );
        }
    }
}
