//! Scopes: what is refused, key by key.

use super::kit::scope;
use crate::cell::Scope;

/// The key that validation names, for the test scope with `line` in it.
fn refused(line: &str) -> String {
    let mut text = String::from("name = 't'\n");
    let key = line.split('=').next().unwrap().trim();
    for (name, value) in
        [("page_size", "2"), ("prefill_pages", "4"), ("decode_pages", "4"), ("requests", "[{ prompt = 4 }]")]
    {
        if name != key {
            text.push_str(&format!("{name} = {value}\n"));
        }
    }
    let scope: Scope = toml::from_str(&(text + line)).unwrap();
    let error = scope.validate().expect_err(line);
    assert_eq!(error.scope, "t");
    error.key.to_owned()
}

#[test]
fn impossible_values_are_refused_by_key() {
    let cases = [
        ("page_size = 0", "page_size"),
        ("prefill_pages = 0", "prefill_pages"),
        ("prefill_pages = 134217729", "prefill_pages"),
        ("decode_pages = 0", "decode_pages"),
        ("decode_pages = 134217729", "decode_pages"),
        ("metadata_rows = 0", "metadata_rows"),
        ("metadata_rows = 65", "metadata_rows"),
        ("prefill_ranks = 0", "prefill_ranks"),
        ("prefill_ranks = 3", "prefill_ranks"),
        ("decode_ranks = 0", "decode_ranks"),
        ("decode_ranks = 3", "decode_ranks"),
        ("chunk = 0", "chunk"),
        ("chunk = 3", "chunk"),
        ("slices = 0", "slices"),
        ("slices = 9", "slices"),
        ("siblings = 0", "siblings"),
        ("siblings = 5", "siblings"),
        ("batch_pages = 0", "batch_pages"),
        ("requests = []", "requests"),
        ("requests = [{ prompt = 0 }]", "requests"),
        ("requests = [{ prompt = 4, max_new = 0 }]", "requests"),
        ("requests = [{ prompt = 268435457 }]", "requests"),
        ("requests = [{ prompt = 4, room = 0 }]", "room"),
        ("requests = [{ prompt = 4, room = 248 }]", "room"),
    ];
    for (line, key) in cases {
        assert_eq!(refused(line), key, "{line}");
    }
    let nine = format!("requests = [{}]", ["{ prompt = 1 }"; 9].join(", "));
    assert_eq!(refused(&nine), "requests");
}

#[test]
fn limits_themselves_are_possible() {
    for line in [
        "prefill_pages = 134217728",
        "decode_pages = 134217728",
        "metadata_rows = 64",
        "prefill_ranks = 2",
        "chunk = 4",
        "slices = 8",
        "siblings = 4",
        "requests = [{ prompt = 268435456 }]",
        "requests = [{ prompt = 4, room = 247 }]",
    ] {
        scope(line);
    }
}

#[test]
fn the_error_says_which_scope_and_key() {
    let wrong: Scope =
        toml::from_str("name = 't'\npage_size = 0\nprefill_pages = 1\ndecode_pages = 1\nrequests = []").unwrap();
    assert_eq!(wrong.validate().unwrap_err().to_string(), "scope `t`: `page_size` must be at least 1");
}

#[test]
fn unknown_keys_are_refused_at_every_level() {
    let base = "name = 't'\npage_size = 1\nprefill_pages = 1\ndecode_pages = 1\n";
    for (more, key) in [
        ("requests = []\npage = 2", "page"),
        ("requests = [{ prompt = 1, promt = 2 }]", "promt"),
        ("requests = [{ prompt = 1, rejected = { by = 'queue-full', leg = 'both' } }]", "leg"),
        ("requests = []\nfaults = { abort = 1 }", "abort"),
        ("requests = []\ntimers = { wait = 1 }", "wait"),
    ] {
        let error = toml::from_str::<Scope>(&format!("{base}{more}")).unwrap_err().to_string();
        assert!(error.contains(&format!("unknown field `{key}`")), "{error}");
    }
}

#[test]
fn requests_without_a_room_never_meet_a_chosen_one() {
    let eight = ["{ prompt = 1 }"; 8].join(", ");
    let scope = scope(&format!("requests = [{eight}]"));
    let rooms: Vec<u16> = (0..8).map(|request| scope.room(request)).collect();
    assert_eq!(rooms, [255, 254, 253, 252, 251, 250, 249, 248]);
}

#[test]
fn the_largest_scope_makes_a_cell() {
    let large = scope(
        "page_size = 1\nprefill_pages = 268435456\ndecode_pages = 268435456\nprefill_ranks = 2\ndecode_ranks = 2",
    );
    let bench = super::kit::Bench::new(super::kit::newest(), large);
    assert!(bench.enabled(crate::cell::Step::Submit));
}

#[test]
fn limits_are_the_smaller_of_context_and_pool() {
    let scope = scope("context = 7\nprefill_pages = 3");
    assert_eq!((scope.prefill_limit(), scope.decode_limit()), (6, 7));
    assert_eq!((scope.pages(6), scope.pages(7)), (3, 4));
}

#[test]
fn shipped_scopes_are_valid_and_have_names_of_their_own() {
    let mut names: Vec<String> = crate::library::scopes()
        .map(|scope| {
            scope.validate().unwrap();
            scope.name
        })
        .collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert!(count >= 22 && names.len() == count, "{names:?}");
}
