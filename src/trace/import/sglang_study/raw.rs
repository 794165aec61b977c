//! The recorder's lines as they are, and what is kept of them.

use super::pages::push_page;
use crate::lifetime::Spans;
use crate::trace::error::Problem;
use crate::trace::schema::Text;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;

/// One line. Fields that several events share have one type that fits all of them.
#[derive(Debug, Deserialize)]
pub(in crate::trace) struct Raw<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    ev: Text<'a>,
    #[serde(default)]
    t: Option<f64>,
    #[serde(default, borrow)]
    rid: Option<Text<'a>>,
    #[serde(default)]
    room: Option<u64>,
    #[serde(default)]
    pages: Option<PageList>,
    #[serde(default)]
    src_pages: Option<PageList>,
    #[serde(default)]
    aux: Option<Loose>,
    #[serde(default, borrow)]
    via: Option<Text<'a>>,
    #[serde(default)]
    tokens: Option<u32>,
    #[serde(default)]
    free_after: Option<u64>,
    #[serde(default)]
    free: Option<u64>,
    #[serde(default)]
    page_size: Option<u32>,
    #[serde(default)]
    kv_ptrs: Option<Addresses>,
    #[serde(default)]
    kv_item_lens: Option<Vec<u64>>,
    #[serde(default)]
    id: Option<u32>,
    #[serde(default)]
    src: Option<Addresses>,
    #[serde(default)]
    dst: Option<Addresses>,
    #[serde(default)]
    lens: Option<Vec<u64>>,
    #[serde(default)]
    n: Option<u64>,
    #[serde(default)]
    status: Option<i64>,
    #[serde(default)]
    forced: Option<bool>,
    #[serde(default)]
    prompt_tokens: Option<u32>,
    #[serde(default)]
    reqs: Option<Vec<RawRequest<'a>>>,
    #[serde(default, borrow)]
    finish: Option<RawFinish<'a>>,
    #[serde(default, borrow)]
    state: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawRequest<'a> {
    #[serde(borrow)]
    rid: Text<'a>,
    pages: PageList,
    ctx_tokens: u32,
}

#[derive(Debug, Deserialize)]
struct RawFinish<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(default)]
    status_code: Option<Loose>,
}

/// One of the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Prefill,
    Decode,
}

/// One line, kept until what it means is known.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) line: u64,
    pub(super) bytes: usize,
    pub(super) clock: Option<f64>,
    pub(super) role: Role,
    pub(super) fact: Fact,
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Fact {
    Ready {
        page_size: u32,
        free: u64,
        kv_ptrs: Vec<u64>,
        kv_item_lens: Vec<u64>,
    },
    Queued {
        rid: Box<str>,
    },
    Reserve {
        extend: bool,
        pages: Spans,
        tokens: u32,
        free_after: Option<u64>,
    },
    Publish {
        room: u64,
        pages: Spans,
        aux: Option<u32>,
    },
    Free {
        pages: Spans,
        free_after: Option<u64>,
    },
    SendChunk {
        room: u64,
        pages: Spans,
    },
    Post {
        id: u32,
        src: Vec<u64>,
        dst: Vec<u64>,
        lens: Vec<u64>,
        n: u64,
    },
    Done {
        id: u32,
        status: i64,
        forced: bool,
    },
    Commit {
        rid: Box<str>,
        room: Option<u64>,
        prompt_tokens: u32,
    },
    RunBatch {
        reqs: Vec<Running>,
    },
    Poll {
        room: u64,
        starts: bool,
    },
    ReceiverAbort {
        room: u64,
    },
    Client {
        rid: Box<str>,
        told: Told,
    },
    Crash,
    /// Only how much is free.
    Count {
        free: u64,
    },
    /// Nothing that the oracle needs.
    Other,
}

/// A request in a batch.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) rid: Box<str>,
    /// Sorted by the recorder: not in the order of tokens.
    pub(super) pages: Spans,
    pub(super) ctx_tokens: u32,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Tokens,
    Abort { status: Option<u64> },
}

impl Seen {
    /// Takes from a line what is needed.
    pub(super) fn new(line: u64, bytes: usize, raw: &Raw<'_>) -> Result<Self, Problem> {
        let role = match raw.role.as_str() {
            "prefill" => Role::Prefill,
            "decode" => Role::Decode,
            other => return Err(Problem::Unplaceable(format!("the role `{other}` is neither prefill nor decode"))),
        };
        Ok(Self { line, bytes, clock: raw.t, role, fact: fact(raw)? })
    }
}

fn fact(raw: &Raw<'_>) -> Result<Fact, Problem> {
    fn need<T: Clone>(value: Option<&T>, event: &'static str, field: &'static str) -> Result<T, Problem> {
        value.cloned().ok_or(Problem::MissingField { event, field })
    }
    let rid =
        |event| raw.rid.as_ref().map(|rid| rid.as_str().into()).ok_or(Problem::MissingField { event, field: "rid" });
    let pages = |event| match &raw.pages {
        None => Ok(Spans::new()),
        Some(list) => list.checked(event),
    };
    Ok(match raw.ev.as_str() {
        "ready" => Fact::Ready {
            page_size: need(raw.page_size.as_ref(), "ready", "page_size")?,
            free: need(raw.free.as_ref(), "ready", "free")?,
            kv_ptrs: need(raw.kv_ptrs.as_ref(), "ready", "kv_ptrs")?.0,
            kv_item_lens: need(raw.kv_item_lens.as_ref(), "ready", "kv_item_lens")?,
        },
        "queued" => Fact::Queued { rid: rid("queued")? },
        "reserve" => Fact::Reserve {
            extend: raw.via.as_ref().is_none_or(|via| via.as_str() != "alloc_decode"),
            pages: pages("reserve")?,
            tokens: raw.tokens.unwrap_or_default(),
            free_after: raw.free_after,
        },
        "publish_dst" => Fact::Publish {
            room: need(raw.room.as_ref(), "publish_dst", "room")?,
            pages: pages("publish_dst")?,
            aux: raw.aux.and_then(|aux| aux.0).and_then(|aux| u32::try_from(aux).ok()),
        },
        "free" => Fact::Free { pages: pages("free")?, free_after: raw.free_after },
        "send_chunk" => Fact::SendChunk {
            room: need(raw.room.as_ref(), "send_chunk", "room")?,
            pages: need(raw.src_pages.as_ref(), "send_chunk", "src_pages")?.checked("send_chunk")?,
        },
        "xfer_post" => {
            let lens = need(raw.lens.as_ref(), "xfer_post", "lens")?;
            Fact::Post {
                id: need(raw.id.as_ref(), "xfer_post", "id")?,
                src: need(raw.src.as_ref(), "xfer_post", "src")?.0,
                dst: need(raw.dst.as_ref(), "xfer_post", "dst")?.0,
                n: raw.n.unwrap_or(lens.len() as u64),
                lens,
            }
        }
        "xfer_done" => Fact::Done {
            id: need(raw.id.as_ref(), "xfer_done", "id")?,
            status: need(raw.status.as_ref(), "xfer_done", "status")?,
            forced: raw.forced.unwrap_or_default(),
        },
        "commit" => Fact::Commit {
            rid: rid("commit")?,
            room: raw.room,
            prompt_tokens: need(raw.prompt_tokens.as_ref(), "commit", "prompt_tokens")?,
        },
        "run_batch" => {
            let reqs = raw.reqs.as_ref().ok_or(Problem::MissingField { event: "run_batch", field: "reqs" })?;
            let running = |request: &RawRequest<'_>| {
                let pages = request.pages.checked("run_batch")?;
                Ok(Running { rid: request.rid.as_str().into(), pages, ctx_tokens: request.ctx_tokens })
            };
            Fact::RunBatch { reqs: reqs.iter().map(running).collect::<Result<_, Problem>>()? }
        }
        "poll" => match raw.room {
            Some(room) => {
                Fact::Poll { room, starts: raw.state.as_ref().is_some_and(|state| state.as_str() == "Bootstrapping") }
            }
            None => Fact::Other,
        },
        "recv_abort" => Fact::ReceiverAbort { room: need(raw.room.as_ref(), "recv_abort", "room")? },
        // An answer without an end is a piece of a stream.
        "client" => match (&raw.rid, &raw.finish) {
            (Some(rid), Some(finish)) => Fact::Client { rid: rid.as_str().into(), told: finish.told() },
            _ => Fact::Other,
        },
        "crash" => Fact::Crash,
        "ticked" | "state" => raw.free.map_or(Fact::Other, |free| Fact::Count { free }),
        // The harness of deterministic mode lands bytes itself and names no request.
        "landed" | "meta_landed" => {
            return Err(Problem::Unplaceable("recordings of the controlled mode name no transfers".to_owned()));
        }
        _ => Fact::Other,
    })
}

impl RawFinish<'_> {
    fn told(&self) -> Told {
        match self.kind.as_str() {
            "abort" => Told::Abort { status: self.status_code.and_then(|code| code.0) },
            _ => Told::Tokens,
        }
    }
}

/// A list of pages in the recorded order, as runs. A free of something unusual is recorded as a string, a failed
/// reservation as null: both name no page.
#[derive(Clone, Debug)]
struct PageList {
    runs: Spans,
    bad: bool,
}

impl PageList {
    fn checked(&self, event: &'static str) -> Result<Spans, Problem> {
        if self.bad {
            return Err(Problem::Unplaceable(format!("`{event}` names a page that no pool has")));
        }
        Ok(self.runs.clone())
    }
}

impl<'de> Deserialize<'de> for PageList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PagesVisitor;
        impl<'de> Visitor<'de> for PagesVisitor {
            type Value = PageList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of pages")
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<PageList, E> {
                Ok(PageList { runs: Spans::new(), bad: false })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PageList, A::Error> {
                let mut list = PageList { runs: Spans::new(), bad: false };
                while let Some(page) = seq.next_element::<i64>()? {
                    match u32::try_from(page) {
                        Ok(page) if page < u32::MAX => push_page(&mut list.runs, page),
                        _ => list.bad = true,
                    }
                }
                Ok(list)
            }
        }
        deserializer.deserialize_any(PagesVisitor)
    }
}

/// Hexadecimal addresses; one alone is written without brackets.
#[derive(Clone, Debug)]
struct Addresses(Vec<u64>);

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AddressVisitor;
        fn parse<E: de::Error>(text: &str) -> Result<u64, E> {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            u64::from_str_radix(digits, 16).map_err(|_| E::custom(format_args!("`{text:.40}` is not an address")))
        }
        impl<'de> Visitor<'de> for AddressVisitor {
            type Value = Addresses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hexadecimal addresses")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Addresses, E> {
                Ok(Addresses(vec![parse(text)?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Addresses, A::Error> {
                let mut addresses = Vec::new();
                while let Some(text) = seq.next_element::<Text<'de>>()? {
                    addresses.push(parse(text.as_str())?);
                }
                Ok(Addresses(addresses))
            }
        }
        deserializer.deserialize_any(AddressVisitor)
    }
}

/// A number where there is one: the recorder writes whatever Python had.
#[derive(Clone, Copy, Debug)]
struct Loose(Option<u64>);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LooseVisitor;
        impl<'de> Visitor<'de> for LooseVisitor {
            type Value = Loose;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Loose, E> {
                Ok(Loose(Some(number)))
            }

            fn visit_i64<E: de::Error>(self, _: i64) -> Result<Loose, E> {
                Ok(Loose(None))
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<Loose, E> {
                Ok(Loose(None))
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<Loose, E> {
                Ok(Loose(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
        }
        deserializer.deserialize_any(LooseVisitor)
    }
}
