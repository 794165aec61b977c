//! Messages of the control network, in words.

use crate::cell::{Config, Lane, RoomKey, Step, ToDecode, ToPrefill};
use crate::explore::ServingState;
use crate::lifetime::{Life, Verdict};
use crate::platform::Shared as _;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) what: What,
    pub(super) key: RoomKey,
}

/// The kinds of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Pages,
    Abort,
    Success,
    Failure(Verdict),
    Ack,
    Metadata,
}

/// The messages of every lane, oldest first.
pub(super) type Mail = Vec<(Lane, Vec<Letter>)>;

/// What is on its way.
pub(super) fn letters(state: &ServingState, config: &Config) -> Mail {
    let world = &state.cell.world;
    let mut mail = Mail::new();
    for p in 0..config.scope.prefill_ranks {
        for d in 0..config.scope.decode_ranks {
            let up = world.to_prefill(d, p).with(|queue| queue.iter().map(to_prefill).collect());
            let down = world.to_decode(p, d).with(|queue| queue.iter().map(to_decode).collect());
            let aux = world
                .aux(p, d)
                .with(|queue| queue.iter().map(|message| Letter { what: What::Metadata, key: message.key }).collect());
            mail.push((Lane::ToPrefill { from: d, to: p }, up));
            mail.push((Lane::ToDecode { from: p, to: d }, down));
            mail.push((Lane::Aux { from: p, to: d }, aux));
        }
    }
    mail
}

fn to_prefill(message: &ToPrefill) -> Letter {
    match message {
        ToPrefill::Info(info) => Letter { what: What::Pages, key: info.key },
        ToPrefill::Abort { key, .. } => Letter { what: What::Abort, key: *key },
    }
}

fn to_decode(message: &ToDecode) -> Letter {
    match message {
        ToDecode::Status { key, failure, .. } => {
            Letter { what: failure.map_or(What::Success, What::Failure), key: *key }
        }
        ToDecode::Ack { key, .. } => Letter { what: What::Ack, key: *key },
    }
}

/// What `step` sent: what is at the end of a lane now and was not before.
pub(super) fn sent(before: &Mail, after: &Mail, step: Step) -> Vec<(Lane, Letter)> {
    let mut new = Vec::new();
    for ((lane, old), (_, now)) in before.iter().zip(after) {
        let taken = usize::from(matches!(step, Step::Deliver(from) | Step::Lose(from) if from == *lane));
        let kept = old.len().saturating_sub(taken);
        // A dead process's messages go with it: then the lane is shorter than what was kept.
        new.extend(now.iter().skip(kept).map(|letter| (*lane, *letter)));
    }
    new
}

impl Letter {
    /// `A's page list`, `ABORT for A`.
    pub(super) fn name(self, config: &Config) -> String {
        let who = who(config, self.key);
        match self.what {
            What::Pages => format!("{who}'s page list"),
            What::Abort => format!("ABORT for {who}"),
            What::Success => format!("success of {who}"),
            What::Failure(verdict) => format!("failure of {who} ({})", verdict_name(verdict)),
            What::Ack => format!("ABORT_ACK for {who}"),
            What::Metadata => format!("{who}'s metadata"),
        }
    }

    /// The section of the protocol that has the message.
    pub(super) const fn reference(self) -> &'static str {
        "5"
    }
}

/// Whose room it is; rooms may be shared.
fn who(config: &Config, key: RoomKey) -> String {
    let requests = 0..config.scope.requests.len() as u8;
    let names: Vec<String> = requests
        .filter(|&request| config.key(request) == key)
        .map(|request| Life::first(u32::from(request)).to_string())
        .collect();
    if names.len() == 1 { names.concat() } else { format!("room {} ({})", key.room(), names.join(" or ")) }
}

/// A verdict in a word.
pub(super) const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "success",
        Verdict::Rejected => "rejected",
        Verdict::Aborted => "aborted",
        Verdict::Failed => "failed",
    }
}
