//! Every input of the corpus, without a fuzzer; and every finding that was ever promoted.

use pagefence::cases::Suite;
use pagefence::explore::Finding;
use pagefence_harness::corpus::{files, root, seeds};
use pagefence_harness::coverage::Seen;
use pagefence_harness::targets::{Script, Target};
use std::collections::BTreeSet;

#[test]
fn no_input_of_the_corpus_is_a_crash() {
    let mut script = Script::default();
    for target in Target::ALL {
        let files = files(&root(), target).unwrap();
        assert!(!files.is_empty(), "{} has no corpus", target.name());
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            // The worlds of one walk serve the next.
            let outcome =
                if target == Target::Script { script.run(&bytes, &mut ()) } else { target.run(&bytes, &mut ()) };
            assert_eq!(outcome, Ok(()), "{}", file.display());
        }
    }
    assert!(script.declared() > 0, "the seeds show what cases declare");
}

#[test]
fn the_seeds_of_the_cases_are_in_the_corpus() {
    let names = |files: Vec<std::path::PathBuf>| -> BTreeSet<String> {
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    let there = names(files(&root(), Target::Script).unwrap());
    for (name, input) in seeds() {
        assert!(there.contains(&name), "{name} is missing; run the example `seeds`");
        assert_eq!(std::fs::read(root().join("script").join(&name)).unwrap(), input.to_bytes(), "{name} is stale");
    }
}

#[test]
fn the_corpus_comes_further_than_any_of_its_inputs() {
    let (mut script, mut all, mut best) = (Script::default(), Seen::default(), 0);
    for file in files(&root(), Target::Script).unwrap() {
        let bytes = std::fs::read(&file).unwrap();
        let mut own = Seen::default();
        script.run(&bytes, &mut own).unwrap();
        script.run(&bytes, &mut all).unwrap();
        best = best.max(own.len());
    }
    assert!(all.len() > 2 * best, "{} against {best}", all.len());
}

#[test]
fn every_regression_is_named_by_its_signature_and_still_shows_it() {
    let suite = Suite::shipped();
    for entry in std::fs::read_dir(root().join("regressions")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let finding = Finding::load(&path).unwrap();
        assert_eq!(path.file_name().unwrap().to_str(), Some(finding.file_name().as_str()));
        assert!(shows_itself(&finding), "{} no longer shows itself", path.display());
        assert!(suite.declares(&finding).is_some(), "{} has no case", path.display());
    }
}

/// Whether a finding's script, or with threads its schedule, still shows its violation. A slice that changed since is an error:
/// the schedule has to be found anew then.
fn shows_itself(finding: &Finding) -> bool {
    let switches = finding.profile.switches;
    match finding.threads {
        Some(_) => pagefence_models::finding::replay(finding, switches).unwrap().same.is_some(),
        None => finding.reproduce(switches).same.is_some(),
    }
}
