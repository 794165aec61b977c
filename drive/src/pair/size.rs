//! From a scope to the options of its nodes, and what of a scope no engine can be brought to do here.

use crate::host::{Options, Role};
use pagefence::cell::{Completion, Scope, decode_node, prefill_node};
use std::collections::BTreeMap;

/// What a unit of the cell's timers is on an engine.
pub const SECONDS_OF_A_UNIT: u32 = 10;
/// A timer that never fires.
const NEVER: u32 = 1 << 30;
/// Chunks when the scope does not cut prompts.
const WHOLE: u32 = 8192;

/// What has no counterpart, if anything; the first of several.
#[must_use]
pub fn inexpressible(scope: &Scope) -> Option<String> {
    let reasons = [
        (scope.prefill_ranks > 1 || scope.decode_ranks > 1, "more than one rank"),
        (scope.overlap, "the overlapped loop"),
        (scope.siblings > 1, "writes that are split into siblings"),
        (scope.retries > 0, "a transport that tries again by itself"),
        (scope.completion != Completion::Applied, "completions that come before the bytes"),
        (scope.aux_by_message, "metadata by message"),
        (scope.plants_a_rejection(), "a planted rejection"),
        (scope.timers.prealloc > 0 && scope.timers.waiting == 0, "a timer of the prealloc queue"),
    ];
    let first = reasons.into_iter().find(|(there, _)| *there)?;
    Some(format!("scope `{}` has {}", scope.name, first.1))
}

/// What the node of `role` is told to be.
#[must_use]
pub fn options(scope: &Scope, role: Role, bootstrap_port: u16, group_port: u16) -> Options {
    let prefill = role == Role::Prefill;
    let timers = [
        ("SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT", scope.timers.bootstrap),
        ("SGLANG_DISAGGREGATION_WAITING_TIMEOUT", scope.timers.waiting),
        ("SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE_TIMEOUT", scope.timers.release),
    ];
    let seconds = |units: u8| if units == 0 { NEVER } else { u32::from(units) * SECONDS_OF_A_UNIT };
    let environment: BTreeMap<String, String> =
        timers.into_iter().map(|(name, units)| (name.to_owned(), seconds(units).to_string())).collect();
    Options {
        role,
        node: if prefill { prefill_node(0).0 } else { decode_node(0).0 },
        page_size: scope.page_size,
        pages: if prefill { scope.prefill_pages } else { scope.decode_pages },
        longest_prompt: if prefill { scope.prefill_limit() } else { scope.decode_limit() },
        chunk: if scope.chunk == u32::MAX { WHOLE.next_multiple_of(scope.page_size) } else { scope.chunk },
        metadata_rows: scope.metadata_rows,
        prefix_cache: false,
        bootstrap_port,
        group_port,
        environment,
    }
}
