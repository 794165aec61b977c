use super::*;

/// The line as SGLang writes it, amid others.
const INCIDENT_LOG: &str = "\
[2026-06-02 10:11:12 DP0 TP0] Load weight begin. avail mem=139.22 GB\n\
\x1b[32m[2026-06-02 10:13:01 DP0 TP0] KV Cache is allocated. #tokens: 681280, K size: 20.10 GB, V size: 20.10 GB\x1b[0m\n\
[2026-06-02 10:13:01 DP1 TP1] KV Cache is allocated. #tokens: 681344, K size: 20.10 GB, V size: 20.10 GB\n\
[2026-06-02 10:13:09 DP0 TP0] max_total_num_tokens=681280, chunked_prefill_size=8192, max_prefill_tokens=16384, \
max_running_requests=2048, context_len=1048576, available_gpu_mem=9.21 GB\n\
INFO:     Uvicorn running on http://0.0.0.0:30000\n";

fn log(text: &str) -> Source<'_> {
    Source { name: "decode.log", kind: TextKind::Log, text }
}

fn page(text: &str) -> Source<'_> {
    Source { name: "http://decode:30000/metrics", kind: TextKind::Metrics, text }
}

fn line(tokens: u64, line: u64) -> Allocation {
    Allocation { tokens, origin: Origin::Line(line) }
}

#[test]
fn the_incident() {
    let found = coverage(681_280, 1_048_576);
    assert_eq!(found, Coverage { covers: false, share_basis_points: 6497, band: 367_296 });
    assert_eq!(found.share(), "64.97%");
    assert_eq!(coverage(1_048_576, 1_048_576), Coverage { covers: true, share_basis_points: 10_000, band: 0 });
    assert_eq!(coverage(1_048_575, 1_048_576), Coverage { covers: false, share_basis_points: 9_999, band: 1 });
    assert_eq!(coverage(0, 0), Coverage { covers: true, share_basis_points: 10_000, band: 0 });
    assert_eq!(coverage(u64::MAX, 1), Coverage { covers: true, share_basis_points: 10_000, band: 0 });
    assert_eq!(coverage(1, u64::MAX), Coverage { covers: false, share_basis_points: 0, band: u64::MAX - 1 });
}

#[test]
fn a_log_is_read_line_by_line() {
    let report = judge(&[log(INCIDENT_LOG)], None).unwrap();
    assert!(!report.covers);
    let source = &report.sources[0];
    assert_eq!(source.allocations, [line(681_280, 2), line(681_344, 3), line(681_280, 4)]);
    assert_eq!((source.pool, source.context, source.context_said), (681_280, 1_048_576, Some(1_048_576)));
    assert_eq!(
        report.to_string(),
        "decode.log\n  line 2: 681,280 tokens\n  line 3: 681,344 tokens\n  line 4: 681,280 tokens\n  \
         pool tokens against context length: 681,280 of 1,048,576 (64.97%)\n  \
         NOT covered: prompts of the last 367,296 tokens of the context fit into no pool of this size\n\
         not covered: 1 of 1 nodes\n"
    );
}

#[test]
fn the_caller_may_say_what_is_promised() {
    let report = judge(&[log(INCIDENT_LOG)], Some(131_072)).unwrap();
    assert!(report.covers);
    assert_eq!(report.sources[0].coverage, Coverage { covers: true, share_basis_points: 10_000, band: 0 });
    assert_eq!(report.sources[0].context_said, Some(1_048_576));
    assert!(report.to_string().contains("the node itself says a context of 1,048,576"));
}

#[test]
fn a_metrics_page_has_one_series_a_rank() {
    let text = "\
# HELP sglang:max_total_num_tokens Maximum total number of tokens in the KV cache pool.\n\
# TYPE sglang:max_total_num_tokens gauge\n\
sglang:max_total_num_tokens{engine_type=\"decode\",model_name=\"a } \\\" b\",tp_rank=\"0\"} 681280.0\n\
sglang:max_total_num_tokens{dp_rank=\"1\"} 1.2e+06 1717000000000\n\
sglang:context_len{tp_rank=\"0\"} 1.048576e+06\n\
sglang:num_used_tokens{tp_rank=\"0\"} 12.0\n";
    let report = judge(&[page(text)], None).unwrap();
    let labels = |labels: &str, tokens| Allocation { tokens, origin: Origin::Labels(labels.to_owned()) };
    let first = labels("{engine_type=\"decode\",model_name=\"a } \\\" b\",tp_rank=\"0\"}", 681_280);
    assert_eq!(report.sources[0].allocations, [first, labels("{dp_rank=\"1\"}", 1_200_000)]);
    assert_eq!(report.sources[0].context, 1_048_576);
    assert_eq!(report.sources[0].coverage.share(), "64.97%");
    assert!(!report.covers);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["sources"][0]["coverage"]["band"], 367_296);
    assert_eq!(json["covers"], false);
}

#[test]
fn one_short_node_is_enough() {
    let big = "max_total_num_tokens=2000000, context_len=1048576";
    assert!(judge(&[log(big)], None).unwrap().covers);
    let report = judge(&[log(big), log(INCIDENT_LOG)], None).unwrap();
    assert!(!report.covers);
    assert!(report.to_string().ends_with("not covered: 1 of 2 nodes\n"));
}

#[test]
fn a_restart_is_judged_by_the_smaller_start() {
    let text = "max_total_num_tokens=500000, context_len=600000\nmax_total_num_tokens=700000, context_len=600000\n";
    let report = judge(&[log(text)], None).unwrap();
    assert_eq!((report.covers, report.sources[0].pool), (false, 500_000));
    assert_eq!(report.sources[0].allocations, [line(500_000, 1), line(700_000, 2)]);
}

#[test]
fn what_cannot_be_read_is_no_pass() {
    let said = |sources: &[Source<'_>], context| judge(sources, context).unwrap_err().to_string();
    assert_eq!(said(&[], Some(1)), "no node was given to read");
    assert_eq!(
        said(&[log("nothing here\n")], Some(1)),
        "decode.log: no KV capacity found; a start-up log has lines with `max_total_num_tokens=` or \
         `KV Cache is allocated. #tokens:`"
    );
    assert_eq!(
        said(&[page("up 1\n")], Some(1)),
        "http://decode:30000/metrics: no KV capacity found; a metrics page has the gauge `sglang:max_total_num_tokens`"
    );
    assert_eq!(
        said(&[log("KV Cache is allocated. #tokens: 681280, K size")], None),
        "decode.log: no context length found, and none was given"
    );
    assert_eq!(said(&[log(INCIDENT_LOG)], Some(0)), "the caller: no context length found, and none was given");
    // One unreadable node among readable ones is not passed over.
    assert!(judge(&[log(INCIDENT_LOG), log("")], Some(10)).is_err());
}

#[test]
fn numbers_that_are_none_are_passed_over() {
    for value in ["-5", "NaN", "", "1e6", "12.5", "99999999999999999999999999", "0x10", "12abc", "None"] {
        let text = format!("max_total_num_tokens={value}, context_len=100");
        assert!(judge(&[log(&text)], None).is_err(), "{value}");
    }
    for value in ["-5", "NaN", "+Inf", "", "1e300", "12.5", "text", "-0.5"] {
        let text = format!("sglang:max_total_num_tokens{{a=\"b\"}} {value}\nsglang:context_len 100");
        assert!(judge(&[page(&text)], None).is_err(), "{value}");
    }
    for text in [
        "max_total_num_tokens=1,000,000, context_len=100",
        "x max_total_num_tokens=\x1b[1m1000000\x1b[0m, context_len=100",
    ] {
        assert_eq!(judge(&[log(text)], None).unwrap().sources[0].pool, 1_000_000);
    }
    // The name of another setting that ends alike.
    assert!(judge(&[log("swa_max_total_num_tokens=7, context_len=5")], None).is_err());
    // A pool of nothing is a pool, and covers nothing.
    assert!(!judge(&[log("max_total_num_tokens=0, context_len=5")], None).unwrap().covers);
}

#[test]
fn hostile_texts_do_no_harm() {
    let huge = "max_total_num_tokens=".repeat(1 << 16);
    let unclosed = format!("sglang:max_total_num_tokens{{{}", "é\"".repeat(1 << 16));
    let wide = format!("{}max_total_num_tokens=5", "é".repeat(1 << 16));
    for text in [huge.as_str(), &unclosed, &wide, "\0\0\u{fffd}\u{1b}[", "sglang:max_total_num_tokens", "{} 5", "="] {
        assert!(judge(&[log(text)], Some(5)).is_err());
        assert!(judge(&[page(text)], Some(5)).is_err());
    }
    // The list is cut; the verdict is not.
    let many = format!("{}max_total_num_tokens=4\n", "max_total_num_tokens=9\n".repeat(10_000));
    let report = judge(&[log(&many)], Some(5)).unwrap();
    assert_eq!((report.sources[0].allocations.len(), report.sources[0].pool, report.covers), (4096, 4, false));
}
