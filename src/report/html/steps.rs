//! The table of steps.

use super::super::elide::{self, Row};
use super::super::timeline::{SlotState, Timeline};
use super::{class, hue, link, mark};
use crate::lifetime::Severity;
use maud::{Markup, html};

/// Up to so many steps are all listed; of longer runs, only those that matter.
const ALL: usize = 200;

pub(super) fn steps(id: usize, timeline: &Timeline) -> Markup {
    let rows = elide::rows(timeline, if timeline.steps.len() > ALL { 3 } else { 0 });
    let watched = timeline.watched.len();
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        th.num { "#" } th {} th { "lane" } th { "who" } th { "what happens" } th { "protocol" }
                        @for slot in &timeline.watched { th.slot { (slot.label) } }
                    }
                }
                tbody {
                    @for row in rows {
                        @match row {
                            Row::Step(at) => (step(id, timeline, at)),
                            Row::Gap { from, until } => tr {
                                td.num { "⋮" } td {}
                                td.soft colspan=(4 + watched) { (elide::gap_text(timeline, until - from)) }
                            },
                        }
                    }
                }
            }
        }
    }
}

fn step(id: usize, timeline: &Timeline, at: usize) -> Markup {
    let step = &timeline.steps[at];
    let role = timeline.role(step.number);
    html! {
        tr id=(format!("t{id}-s{}", step.number)) class=[role.map(|(role, severity)| class(role, severity))] {
            td.num { (step.number) }
            td.mark { @match role {
                Some((role, severity)) => (mark(role, severity)),
                None if step.fault => span.warn title="injected by the schedule" { "◆" },
                None => "",
            } }
            td.soft { (step.lane.name()) }
            td.soft.actor[step.actor.len() < 24] { (step.actor) }
            td.text {
                (step.text)
                @for v in timeline.violations.iter().filter(|v| v.broke == step.number) {
                    p.danger[v.severity() <= Severity::Race] {
                        (v.kind) ": " (v.headline)
                        @if let Some(n) = v.started { " · started at " a href=(link(id, n)) { (n) } }
                        @if let Some(n) = v.released { " · taken away at " a href=(link(id, n)) { (n) } }
                    }
                }
            }
            td.soft { (step.protocol.as_deref().unwrap_or_default()) }
            @for slot in 0..timeline.watched.len() {
                @let now = timeline.slot(at, slot);
                @let same = at > 0 && timeline.slot(at - 1, slot) == now;
                td.slot.same[same && role.is_none()] { (state(&now)) }
            }
        }
    }
}

fn state(state: &SlotState) -> Markup {
    html! {
        @match state.owner {
            Some(owner) => span class=(format!("who life{}", hue(owner))) { (owner) },
            None => span.who.none { "free" },
        }
        " "
        span.hot[state.foreign_content()] { (state.content_text()) }
        @for access in &state.in_flight {
            " " span class=(if Some(access.life) == state.owner { "soft" } else { "hot" }) { (access) }
        }
    }
}
