//! Everything that produces a rejection in the scheduler (protocol section 7), by the shape of what happens next.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the engine does with a request once a producer has refused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `set_finish_with_abort`: the prompt becomes one placeholder token, `to_finish` carries the verdict, and the
    /// request is queued all the same.
    Placeholder,
    /// The same, one scheduler iteration later, out of the grammar queue.
    PlaceholderFromGrammarQueue,
    /// `prepare_abort`, stream the error, return: the request never reaches a queue.
    Immediate,
    /// The error is computed and the request is queued without any mark of it.
    Unmarked,
    /// Accepted at the door; the result of the forward refuses it (`discard_output_reason`).
    AtResult,
}

impl Shape {
    /// Whether one placeholder token stands in for the prompt from here on.
    #[must_use]
    pub const fn replaces_prompt(self) -> bool {
        matches!(self, Self::Placeholder | Self::PlaceholderFromGrammarQueue)
    }
}

/// Declares [`Producer`] with name, shape and source.
macro_rules! producers {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $shape:ident;)+) => {
        /// A place in the engine that refuses a request. `S` is `managers/scheduler.py` of 0.5.23.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Producer { $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+ }

        impl Producer {
            /// Every producer.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in scope files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What the engine does next.
            #[must_use]
            pub const fn shape(self) -> Shape {
                match self { $(Self::$variant => Shape::$shape,)+ }
            }
        }
    };
}

producers! {
    /// `validate_input_length` (S:3252): the prompt exceeds `max_req_input_len`. Decided by geometry, not by a scope.
    InputLength = "input-length", Placeholder;
    /// The prompt exceeds the KV memory budget, inside `init_req_max_new_tokens` (S:2731).
    KvBudget = "kv-budget", Placeholder;
    /// The session is missing or closing (S:3111).
    SessionMissing = "session-missing", Placeholder;
    /// A session range error (`session/session_controller.py`:61, 66, 345).
    SessionRange = "session-range", Placeholder;
    /// Multimodal inputs could not be processed (S:3122).
    MultimodalInput = "multimodal-input", Placeholder;
    /// The multimodal processor failed (S:3205).
    MultimodalError = "multimodal-error", Placeholder;
    /// Multimodal inputs expand beyond the limit (S:3232).
    MultimodalTooLong = "multimodal-too-long", Placeholder;
    /// A speculative decoder refuses the request (DFlash S:3147, UNO S:3155).
    Speculative = "speculative", Placeholder;
    /// `logprob_start_len` is out of range (S:3278, 3296).
    LogprobStart = "logprob-start", Placeholder;
    /// Routed experts were asked for and can't be returned (S:3317).
    RoutedExperts = "routed-experts", Placeholder;
    /// An embedding request fails validation (S:3699, 3712, 3736).
    Embedding = "embedding", Placeholder;
    /// The request queue is full.
    QueueFull = "queue-full", Placeholder;
    /// The grammar backend is `none` (`grammar_manager.py`:120).
    GrammarUnsupported = "grammar-unsupported", Placeholder;
    /// The grammar is invalid, found when it is looked up (`grammar_manager.py`:159, 195).
    GrammarInvalid = "grammar-invalid", PlaceholderFromGrammarQueue;
    /// The grammar's compilation was cancelled or timed out (`grammar_manager.py`:317, 330).
    GrammarCancelled = "grammar-cancelled", PlaceholderFromGrammarQueue;
    /// Beam search is not supported (S:3044).
    BeamSearch = "beam-search", Immediate;
    /// No `bootstrap_room` came with the request (S:3063).
    NoBootstrapRoom = "no-bootstrap-room", Immediate;
    /// A sampling mask can't be served (S:3517).
    SamplingMask = "sampling-mask", Immediate;
    /// An embedding request that is too long is queued on `error_msg` without an abort (S:3751).
    EmbeddingUnmarked = "embedding-unmarked", Unmarked;
    /// The grammar refuses the token that prefill sampled (public fault S05; `discard_output_reason`).
    GrammarRefusesToken = "grammar-refuses-token", AtResult;
}

impl fmt::Display for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which of the two servers refuses. Both validate every request; they differ where their pools or inputs differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Legs {
    /// Only prefill: its pool is smaller, its inputs differ.
    #[default]
    Prefill,
    /// Only decode.
    Decode,
    /// Both alike.
    Both,
}

impl Legs {
    /// Whether prefill refuses.
    #[must_use]
    pub const fn prefill(self) -> bool {
        matches!(self, Self::Prefill | Self::Both)
    }

    /// Whether decode refuses.
    #[must_use]
    pub const fn decode(self) -> bool {
        matches!(self, Self::Decode | Self::Both)
    }
}

/// A rejection that a scope plants in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// Who refuses.
    pub by: Producer,
    /// On which server.
    #[serde(default)]
    pub legs: Legs,
}
