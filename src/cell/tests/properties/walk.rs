//! Random walks.

use crate::cell::{Config, Profile, Scope, Step, Switch, Switches};
use crate::explore::{Protocol, Random, Serving, ServingState};

/// Some switches, each on or off by the toss of a coin.
pub(super) fn any_switches(random: &mut Random) -> Switches {
    Switch::ALL.iter().fold(Switches::default(), |set, switch| set.with(*switch, random.below(2) == 1))
}

/// Every shipped scope with every shipped profile, and with `random_profiles` random ones.
pub(super) fn configs(random_profiles: u64) -> impl Iterator<Item = Config> {
    let mut random = Random::new(7, 0);
    crate::library::scopes().flat_map(move |scope| {
        let shipped = Profile::presets().map(|(profile, _)| profile.switches);
        let mut all: Vec<Switches> = shipped.collect();
        all.extend((0..random_profiles).map(|_| any_switches(&mut random)));
        all.into_iter().map(move |switches| Config { switches, scope: scope.clone() })
    })
}

/// The names of the switches that are on, for messages.
pub(super) fn names(switches: Switches) -> Vec<&'static str> {
    switches.iter().map(Switch::name).collect()
}

/// Takes `length` random enabled steps, and shows each state and the step that comes next.
pub(super) fn walk(
    serving: &Serving,
    seed: u64,
    length: usize,
    mut visit: impl FnMut(&ServingState, &[Step], Step),
) -> ServingState {
    let mut random = Random::new(seed, 1);
    let mut state = serving.initial();
    let mut enabled = Vec::new();
    for _ in 0..length {
        enabled.clear();
        serving.steps(&state, &mut enabled);
        if enabled.is_empty() {
            break;
        }
        let step = enabled[random.below(enabled.len() as u64) as usize];
        visit(&state, &enabled, step);
        serving.apply(&mut state, &step, &mut Vec::new());
    }
    state
}

/// A scope that nobody shipped: any mix of what a scope can say, small.
pub(super) fn any_scope(random: &mut Random) -> Scope {
    let page_size = 1 + random.below(3) as u32;
    let mut pick = |bound: u64| 1 + random.below(bound) as u32;
    let text = format!(
        "name = 'any'\npage_size = {page_size}\nprefill_pages = {}\ndecode_pages = {}\nmetadata_rows = {}\n\
         prefill_ranks = {}\ndecode_ranks = {}\nchunk = {}\nslices = {}\nsiblings = {}\nbatch_pages = {}\n\
         slow_pages = {}\nretries = {}\ncompletion = '{}'\naux_by_message = {}\noverlap = {}\npolicy = '{}'\n\
         context = {}\n\
         faults = {{ aborts = {}, disconnects = {}, losses = {}, transfer_errors = {}, transfer_timeouts = {}, kills = {} }}\n\
         timers = {{ bootstrap = {}, waiting = {}, release = {}, prealloc = {} }}\n",
        pick(4),
        pick(5),
        pick(2),
        pick(2),
        pick(2),
        page_size * pick(3),
        pick(3),
        pick(3),
        pick(2),
        pick(2) - 1,
        pick(3) - 1,
        ["applied", "accepted"][pick(2) as usize - 1],
        pick(2) == 1,
        pick(2) == 1,
        ["forward", "hold", "hold-and-cancel"][pick(3) as usize - 1],
        pick(12) + 2,
        pick(3) - 1,
        pick(2) - 1,
        pick(4) - 1,
        pick(3) - 1,
        pick(3) - 1,
        pick(3) - 1,
        pick(3) - 1,
        pick(3) - 1,
        pick(3) - 1,
        pick(3) - 1,
    );
    let requests: Vec<String> = (0..pick(4))
        .map(|_| {
            let room = if pick(3) == 1 { format!(", room = {}", pick(2)) } else { String::new() };
            let producers = crate::cell::Producer::ALL;
            let rejected = if pick(4) == 1 {
                let by = producers[pick(producers.len() as u64) as usize - 1];
                format!(
                    ", rejected = {{ by = '{by}', legs = '{}' }}",
                    ["prefill", "decode", "both"][pick(3) as usize - 1]
                )
            } else {
                String::new()
            };
            format!("{{ prompt = {}, max_new = {}{room}{rejected} }}", pick(8), pick(3))
        })
        .collect();
    let scope: Scope = toml::from_str(&format!("{text}requests = [{}]", requests.join(", "))).unwrap();
    scope.validate().unwrap();
    scope
}
