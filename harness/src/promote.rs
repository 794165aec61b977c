//! From an input to what it shows: findings that anybody can replay without a fuzzer.

use crate::input::Input;
use crate::known::Known;
use crate::targets::{Target, chosen_world, run_schedule};
use crate::walk::Walk;
use crate::worlds::{World, WorldKey, Worlds};
use pagefence::cases::Suite;
use pagefence::explore::{Finding, Found, Signature};
use pagefence::lifetime::Severity;
use pagefence_models::finding::keep;
use std::cmp::Reverse;

/// What an input of a target shows of an engine, the worst first, each with its smallest script or schedule. Of the declared
/// ones too if `declared`. `audit` and `config` are about pagefence itself, and show none.
#[must_use]
pub fn findings(target: Target, bytes: &[u8], declared: bool) -> Vec<Finding> {
    let mut findings = match target {
        Target::Script => {
            let (worlds, input) = (Worlds::shipped(), Input::from_bytes(bytes));
            let key = worlds.key(&input);
            let world = worlds.world(key);
            walked(&world, &world, key, &input, declared)
        }
        Target::Profile => {
            let (world, plain, key, input) = chosen_world(bytes);
            walked(&world, &plain, key, &input, declared)
        }
        Target::Schedule => raced(bytes, declared),
        Target::Audit | Target::Config => Vec::new(),
    };
    let severity = |finding: &Finding| finding.violation.kind.severity();
    findings.sort_by_key(|finding| Reverse::<Severity>(severity(finding)));
    findings
}

/// What a walk through `world` shows. Cases are asked about `plain`, whose profile they know.
fn walked(world: &World, plain: &World, key: WorldKey, input: &Input, declared: bool) -> Vec<Finding> {
    let mut walk = Walk::new(world);
    let met = walk.walk(input, &mut ()).to_vec();
    let mut known = Known::default();
    let news = met.into_iter().filter(|met| declared || known.case(key, plain, &met.violation).is_none());
    let finding = |met: crate::walk::Met| {
        let signature = Signature::from(&met.violation);
        let steps = walk.script().to_vec();
        let found = Found { signature, violation: met.violation, steps, at_rest: false, count: 1, walk: None };
        let finding = Finding::new(&found, world.profile.clone(), world.scope.clone(), "libFuzzer", 0)?;
        finding.minimise()
    };
    news.filter_map(finding).collect()
}

fn raced(bytes: &[u8], declared: bool) -> Vec<Finding> {
    let suite = Suite::shipped();
    let race = run_schedule(bytes);
    let news = race.met.iter().filter(|met| declared || suite.declares(&race.finding(met)).is_none());
    news.map(|met| keep(&race.job, race.slice, met)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::seeds;

    #[test]
    fn the_seed_of_a_case_is_promoted_to_its_finding_with_a_script_that_is_no_longer() {
        let suite = Suite::shipped();
        let case = suite.cases().iter().find(|case| case.id == "S14").unwrap();
        let (_, input) = seeds().into_iter().find(|(name, _)| name == "S14").unwrap();
        let findings = findings(Target::Script, &input.to_bytes(), true);
        let finding = findings.iter().find(|finding| case.violation.matches(&finding.signature)).unwrap();
        assert!(finding.minimised && finding.script.len() <= case.script.len());
        assert!(finding.reproduce(finding.profile.switches).same.is_some());
        assert!(self::findings(Target::Script, &input.to_bytes(), false).is_empty(), "S14 is declared");
        assert!(findings.is_sorted_by_key(|finding| Reverse(finding.violation.kind.severity())));
    }
}
