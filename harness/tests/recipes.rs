//! Recipes for CI services name every fuzz target: one that is forgotten there is never run.

use pagefence_harness::targets::Target;
use std::path::Path;

#[test]
fn every_target_is_named_in_every_recipe_and_has_a_binary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let names = Target::ALL.map(Target::name);
    let recipes = [
        ".github/workflows/pull-request.yml",
        ".github/workflows/nightly.yml",
        ".github/workflows/clusterfuzzlite.yml",
        ".clusterfuzzlite/build.sh",
        ".clusterfuzzlite/project.yaml",
    ];
    for recipe in recipes {
        // As a list: single names stand for other things too.
        let text = read(recipe);
        assert!(text.contains(&names.join(" ")) || text.contains(&names.join(", ")), "{recipe} lacks a target");
    }
    let manifest = read("fuzz/Cargo.toml");
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml lacks {name}");
        assert!(root.join(format!("fuzz/fuzz_targets/{name}.rs")).exists());
    }
    assert_eq!(manifest.matches("[[bin]]").count(), names.len(), "a binary that is no target");
}
