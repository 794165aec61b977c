//! What the commands do.

use super::kit::{Desk, names, pagefence, small_scope};
use serde_json::Value;

/// Hunts in the small scope and saves.
fn hunt(desk: &Desk, profile: &str) -> Value {
    let scope = small_scope(desk);
    let folder = desk.path("findings");
    let words = ["hunt", "--profile", profile, "--scope", scope.to_str().unwrap(), "--explorers", "exhaustive"];
    let out = ["--out", folder.to_str().unwrap(), "--jobs", "1", "--budget", "10m", "--format", "json"];
    pagefence(words.into_iter().chain(out)).is(1).json()
}

/// The file of the worst finding of a kind.
fn saved(desk: &Desk, kind: &str) -> String {
    let folder = desk.path("findings");
    let name = names(&folder).into_iter().find(|name| name.starts_with(kind)).unwrap();
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_hunt_saves_what_replay_reproduces() {
    let desk = Desk::new();
    let report = hunt(&desk, "sglang-0.5.11");
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(report["command"], "hunt");
    assert_eq!(report["runs"][0]["stop"], "closed");
    assert_eq!(names(&desk.path("findings")).len(), findings.len());
    for path in report["saved"].as_array().unwrap() {
        let said = pagefence(["replay", path.as_str().unwrap()]).is(1);
        assert!(said.out.contains("\nreproduced"), "{}", said.out);
        assert!(said.out.starts_with("replay: seed 0, profile sglang-0.5.11, scope small\n"), "{}", said.out);
        assert!(said.out.contains("what happens"), "{}", said.out);
        let json = pagefence(["--format", "json", "replay", path.as_str().unwrap()]).is(1).json();
        assert_eq!(json["reproduced"], true);
    }
}

#[test]
fn a_hunt_names_the_case_that_explains_a_finding() {
    let words = ["hunt", "--scope", "incident-small", "--explorers", "exhaustive", "--jobs", "1", "--budget", "10m"];
    let hunt = |profile: &[&'static str], format| {
        pagefence(words.into_iter().chain(profile.iter().copied()).chain(["--format", format])).is(1)
    };
    let json = hunt(&["--profile", "sglang-0.5.11"], "json").json();
    let findings = json["findings"].as_array().unwrap();
    let stale = findings.iter().position(|f| f["signature"]["kind"] == "stale-read").unwrap();
    assert_eq!(json["known"].as_array().unwrap().len(), findings.len());
    assert_eq!(json["known"][stale]["declared"], true);
    assert_eq!(json["known"][stale]["case"], "INCIDENT-SMALL");
    // No case names this profile: the finding is only alike.
    let text = hunt(&["--profile", "sglang-0.5.11", "--set", "batch_bound=on"], "text").out;
    assert!(text.lines().any(|line| line.starts_with("stale-read") && line.ends_with("like INCIDENT-SMALL")), "{text}");
    assert!(text.contains("known: like INCIDENT-SMALL"), "{text}");
}

#[test]
fn a_patch_is_seen_to_help() {
    let desk = Desk::new();
    hunt(&desk, "sglang-0.5.11");
    let file = saved(&desk, "free-in-flight");
    let page = desk.path("page.html");
    let said = pagefence(["replay", &file, "--profile", "reference", "--html", page.to_str().unwrap()]).is(0);
    assert!(said.out.contains("\nno longer reproduced under reference: free-in-flight"), "{}", said.out);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("no longer reproduced"));
    let one = pagefence(["replay", &file, "--set", "metadata_gate=on"]).is(1);
    assert!(one.out.contains("under sglang-0.5.11 metadata_gate=on"), "{}", one.out);
}

#[test]
fn minimize_writes_a_finding() {
    let desk = Desk::new();
    hunt(&desk, "sglang-0.5.11");
    let file = saved(&desk, "free-in-flight");
    let small = desk.path("small.json");
    let said = pagefence(["minimize", &file, "-o", small.to_str().unwrap()]).is(0);
    assert!(said.out.contains(" steps to "), "{}", said.out);
    pagefence(["replay", small.to_str().unwrap()]).is(1);
    let printed = pagefence(["minimize", &file]).is(0);
    assert_eq!(printed.json()["schema"], "pagefence-finding");
    assert_eq!(printed.out, std::fs::read_to_string(&small).unwrap());
}

#[test]
fn prove_tells_closed_from_truncated() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(small_scope(&desk)).unwrap();
    let scope = desk.write("one.toml", text.replace(", { prompt = 2 }", ""));
    let scope = scope.to_str().unwrap();
    let reference = ["prove", "--profile", "reference", "--scope", scope, "--jobs", "1"];
    let said = pagefence(reference).is(0);
    assert!(said.out.contains("small: clean; closed: every reachable state was visited"), "{}", said.out);
    let cut = pagefence(reference.into_iter().chain(["--states", "10"])).is(1);
    assert!(cut.out.contains("small: TRUNCATED; TRUNCATED: the limit of states is reached"), "{}", cut.out);
    let json = pagefence(reference.into_iter().chain(["--format", "json"])).is(0).json();
    assert_eq!((&json["proven"], &json["scopes"][0]["closed"]), (&Value::Bool(true), &Value::Bool(true)));
    let plain = pagefence(reference.into_iter().chain(["--format", "json", "--no-symmetry"])).is(0).json();
    assert!(plain["scopes"][0]["states"].as_u64() >= json["scopes"][0]["states"].as_u64());
    let found = pagefence(["prove", "--profile", "sglang-0.5.11", "--scope", scope, "--timelines"]).is(1);
    assert!(found.out.contains("small: found;") && found.out.contains("what happens"), "{}", found.out);
}

#[test]
fn profiles_are_a_table_of_switches() {
    let said = pagefence(["profiles"]).is(0);
    let row = |name: &str| {
        let row = said.out.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        row.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("switch"), ["0.5.11", "0.5.20", "0.5.21", "0.5.22", "0.5.23", "reference"]);
    assert_eq!(row("door"), ["-", "-", "on", "on", "on", "on"]);
    assert_eq!(row("tp_agreement"), ["-", "-", "-", "-", "on", "on"]);
    assert!(pagefence(["profiles", "--long"]).is(0).out.contains("Both admission queues refuse"));
    let json = pagefence(["profiles", "--format", "json"]).is(0).json();
    assert_eq!(json["profiles"][0]["switches"]["door"], false);
}

#[test]
fn scopes_are_listed() {
    let said = pagefence(["scopes"]).is(0);
    assert!(said.out.lines().any(|line| line.starts_with("abort ")), "{}", said.out);
    let json = pagefence(["scopes", "--format", "json"]).is(0).json();
    assert!(json["scopes"].as_array().unwrap().iter().any(|scope| scope["name"] == "abort"));
}

#[test]
fn the_gate_measures_the_incident() {
    let desk = Desk::new();
    let log = "[2026-01-01 00:00:00 TP0] max_total_num_tokens=681280, chunked_prefill_size=8192, \
               max_prefill_tokens=16384, max_running_requests=2048, context_len=1048576, available_gpu_mem=9.00 GB\n";
    let log = desk.write("prefill.log", log);
    let said = pagefence(["gate", log.to_str().unwrap()]).is(1);
    assert!(said.out.contains("64.97%") && said.out.contains("367,296"), "{}", said.out);
    let json = pagefence(["gate", log.to_str().unwrap(), "--context", "681280", "--format", "json"]).is(0).json();
    assert_eq!(json["covers"], true);
    let page = "# HELP sglang:max_total_num_tokens Pool.\n# TYPE sglang:max_total_num_tokens gauge\n\
                sglang:max_total_num_tokens{model_name=\"m\"} 681280.0\nsglang:context_len{model_name=\"m\"} 1048576.0\n";
    let page = desk.write("metrics", page);
    assert!(pagefence(["gate", page.to_str().unwrap()]).is(1).out.contains("64.97%"));
    let nothing = desk.write("nothing.log", "it started\n");
    assert!(pagefence(["gate", nothing.to_str().unwrap()]).refused().contains("nothing.log"));
}

#[test]
fn the_gate_reads_a_page_over_http() {
    use std::io::{Read as _, Write as _};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", server.local_addr().unwrap());
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut request = [0; 1024];
        _ = stream.read(&mut request).unwrap();
        let page = "# TYPE sglang:max_total_num_tokens gauge\nsglang:max_total_num_tokens 100\nsglang:context_len 50\n";
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}", page.len()).unwrap();
    });
    assert!(pagefence(["gate", &url]).is(0).out.contains("100.00%"));
    answer.join().unwrap();
    let gone = pagefence(["gate", &url]).refused();
    assert!(gone.contains(&url), "{gone}");
    assert!(pagefence(["gate", "https://localhost/metrics"]).refused().contains("no TLS"));
}

#[test]
fn cases_are_listed_and_told() {
    let json = pagefence(["cases", "--format", "json"]).is(0).json();
    let cases = json["cases"].as_array().unwrap();
    let said = pagefence(["cases"]).is(0).out;
    for case in cases {
        let id = case["id"].as_str().unwrap();
        assert!(said.contains(id), "{id} is not in:\n{said}");
    }
    if let Some(id) = cases.first().map(|case| case["id"].as_str().unwrap()) {
        let told = pagefence(["cases", id]).is(0).out;
        assert!(told.contains("found on") && told.contains("held on"), "{told}");
    }
    assert!(pagefence(["cases", "S0"]).refused().contains("there is no case `S0`"));
}
