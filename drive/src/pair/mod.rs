//! A prefill and a decode node, moved by the steps of a script.

mod clients;
mod size;
mod writes;

pub use clients::Clients;
pub use size::{SECONDS_OF_A_UNIT, inexpressible, options};
pub use writes::{DONE, Writes};

use crate::error::DriveError;
use crate::host::{Done, Frames, Host, Kind, Line, Message, Node, Peer, Role, Said};
use pagefence::cell::{Config, Lane, Scope, Step, decode_node, prefill_node};
use pagefence::lifetime::{Answer, Event, Verdict};
use pagefence::trace::schema::Record;
use serde::Serialize;
use serde_json::json;
use std::collections::VecDeque;

/// Two hosts, ready for one scope.
#[derive(Debug)]
pub struct Hosts {
    /// The scope.
    pub scope: Scope,
    prefill: Host,
    decode: Host,
}

impl Hosts {
    /// Starts both. They become ready at the same time.
    ///
    /// # Errors
    /// When the scope is not expressible, or a host does not start.
    pub fn start(home: &crate::home::Home, release: &crate::home::Release, scope: &Scope) -> Result<Self, DriveError> {
        if let Some(what) = inexpressible(scope) {
            return Err(DriveError::NotExpressible(what));
        }
        let port = free_port()?;
        let start = |role| Host::start(home, release, options(scope, role, port, free_port()?));
        let mut hosts = Self { scope: scope.clone(), prefill: start(Role::Prefill)?, decode: start(Role::Decode)? };
        hosts.prefill.made()?;
        hosts.decode.made()?;
        Ok(hosts)
    }

    /// Hooks that this release has no place for.
    ///
    /// # Errors
    /// When a host has ended.
    pub fn missing(&mut self) -> Result<Vec<String>, DriveError> {
        let mut missing = [&self.prefill.made()?.missing[..], &self.decode.made()?.missing[..]].concat();
        missing.sort_unstable();
        missing.dedup();
        Ok(missing)
    }

    /// A pair in which nothing has happened.
    ///
    /// # Errors
    /// When a node does not come.
    pub fn pair(&mut self) -> Result<Pair, DriveError> {
        let (prefill, decode) = (self.prefill.fork()?, self.decode.fork()?);
        Pair::new(self.scope.clone(), prefill, decode)
    }
}

/// Asks the system for a port that nobody listens on.
fn free_port() -> Result<u16, DriveError> {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").map_err(DriveError::io("a port of this machine"))?;
    Ok(socket.local_addr().map_err(DriveError::io("a port of this machine"))?.port())
}

/// A running pair.
#[derive(Debug)]
pub struct Pair {
    scope: Scope,
    prefill: Node,
    decode: Node,
    to_prefill: VecDeque<Frames>,
    to_decode: VecDeque<Frames>,
    registrations: Vec<Frames>,
    clients: Clients,
    writes: Writes,
    /// Chunks that wait for the worker, and whether it has taken one and not looked at its room yet.
    queued: bool,
    /// What the last step has shown.
    events: Vec<Event>,
    stale: u64,
}

impl Pair {
    fn new(scope: Scope, prefill: Node, decode: Node) -> Result<Self, DriveError> {
        let (writes, clients) = (Writes::new(&scope), Clients::new(&scope));
        let (to_prefill, to_decode) = (VecDeque::new(), VecDeque::new());
        let (registrations, events) = (Vec::new(), Vec::new());
        let mut pair = Self {
            scope,
            prefill,
            decode,
            to_prefill,
            to_decode,
            registrations,
            clients,
            writes,
            queued: false,
            events,
            stale: 0,
        };
        let (ours, theirs) = (pair.prefill.ready().clone(), pair.decode.ready().clone());
        pair.say(Role::Prefill, "peer", Peer { node: decode_node(0).0, ready: &theirs })?;
        pair.say(Role::Decode, "peer", Peer { node: prefill_node(0).0, ready: &ours })?;
        pair.say(Role::Decode, "resolve", json!({}))?;
        Ok(pair)
    }

    /// Takes a step, and returns what happened; nothing where the step is not possible.
    ///
    /// # Errors
    /// When the step has no counterpart on an engine, or a node does not do its part.
    pub fn take(&mut self, step: Step) -> Result<&[Event], DriveError> {
        self.events.clear();
        self.stale = 0;
        match step {
            Step::Submit => self.submit()?,
            Step::Abort(request) => self.leave(request, true)?,
            Step::Disconnect(request) => self.leave(request, false)?,
            Step::Prefill => self.say(Role::Prefill, "tick", json!({}))?,
            Step::Decode => self.say(Role::Decode, "tick", json!({}))?,
            Step::Worker(0) => self.work()?,
            Step::Deliver(Lane::ToPrefill { from: 0, to: 0 }) => {
                let frames = self.to_prefill.pop_front();
                self.deliver(Role::Prefill, frames)?;
            }
            Step::Deliver(Lane::ToDecode { from: 0, to: 0 }) => {
                let frames = self.to_decode.pop_front();
                self.deliver(Role::Decode, frames)?;
            }
            Step::Lose(Lane::ToPrefill { .. }) => drop(self.to_prefill.pop_front()),
            Step::Lose(Lane::ToDecode { .. }) => drop(self.to_decode.pop_front()),
            Step::Land { op, piece } => self.land(op, piece)?,
            Step::TransferError(op) => {
                if let Some(engine) = self.writes.fail(op) {
                    self.say(Role::Prefill, "settle", json!({ "op": engine }))?;
                }
            }
            Step::TransferTimeout(op) => self.writes.time_out(op),
            Step::Elapse => {
                for role in [Role::Prefill, Role::Decode] {
                    self.say(role, "clock", json!({ "seconds": SECONDS_OF_A_UNIT }))?;
                }
            }
            Step::Heartbeat => self.say(Role::Decode, "prefill_fails", json!({}))?,
            other => return Err(DriveError::NotExpressible(other.to_string())),
        }
        Ok(&self.events)
    }

    /// How many slots the last step has read that held something else than their reader had to find there.
    #[must_use]
    pub const fn stale(&self) -> u64 {
        self.stale
    }

    /// What is in which queue of a node.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn state(&mut self, role: Role) -> Result<serde_json::Value, DriveError> {
        let node = if role == Role::Prefill { &mut self.prefill } else { &mut self.decode };
        Ok(node.command("state", json!({}), |_| ())?.result)
    }

    fn submit(&mut self) -> Result<(), DriveError> {
        let Some(request) = self.clients.submit() else { return Ok(()) };
        let life = Config::life(request);
        self.events.push(Event::Begin { life });
        let spec = &self.scope.requests[usize::from(request)];
        let fields = json!({
            "rid": rid(request),
            "room": self.scope.room(usize::from(request)),
            "life": [life.request, life.generation],
            "prompt": spec.prompt,
            "max_new": spec.max_new,
        });
        self.say(Role::Prefill, "request", &fields)?;
        self.say(Role::Decode, "request", &fields)
    }

    fn leave(&mut self, request: u8, explicit: bool) -> Result<(), DriveError> {
        let legs = self.clients.leave(request, explicit, self.scope.policy);
        let told = Answer { verdict: Verdict::Aborted, prompt_tokens: 0, tokens_of: None };
        self.events.push(Event::Finish { life: Config::life(request), told, processed: None });
        for role in legs {
            self.say(role, "abort", json!({ "rid": rid(request) }))?;
        }
        Ok(())
    }

    /// The worker goes on: with a write whose end has been reported, or with the next chunk.
    fn work(&mut self) -> Result<(), DriveError> {
        if let Some((op, status)) = self.writes.report() {
            self.say(Role::Prefill, "report", json!({ "op": op, "status": status }))?;
            // An engine refuses a decode to which a write has failed until a probe finds that it is there. Here it does at once.
            return if status == DONE { Ok(()) } else { self.say(Role::Prefill, "revive", json!({})) };
        }
        if self.writes.awaited() || !self.queued {
            return Ok(());
        }
        self.say(Role::Prefill, "work", json!({}))
    }

    fn deliver(&mut self, role: Role, frames: Option<Frames>) -> Result<(), DriveError> {
        frames.map_or(Ok(()), |frames| self.say(role, "deliver", json!({ "frames": frames })))
    }

    fn land(&mut self, op: u8, piece: u8) -> Result<(), DriveError> {
        let Some(landing) = self.writes.land(op, piece) else { return Ok(()) };
        let (engine, items) = (landing.engine, landing.items);
        self.say(Role::Prefill, "land", json!({ "op": engine, "start": items.start, "count": items.len }))?;
        if landing.last {
            self.say(Role::Prefill, "settle", json!({ "op": engine }))?;
        }
        Ok(())
    }

    /// Gives a command to a node, and takes in what it says.
    fn say(&mut self, role: Role, command: &str, fields: impl Serialize) -> Result<(), DriveError> {
        let node = if role == Role::Prefill { &mut self.prefill } else { &mut self.decode };
        let mut lines = Vec::new();
        let done = node.command(command, fields, |line| lines.push(line))?;
        for line in lines {
            self.hear(role, line)?;
        }
        self.settle(role, command, &done)
    }

    fn settle(&mut self, role: Role, command: &str, done: &Done) -> Result<(), DriveError> {
        if let Some(error) = &done.error {
            return Err(DriveError::Node { role: role.name(), what: format!("could not {command}: {error}") });
        }
        if role == Role::Prefill {
            self.queued = done.transport.queued + done.transport.looking > 0;
        }
        // Where decode's memory is, is said once, and is no message of the protocol.
        for frames in std::mem::take(&mut self.registrations) {
            self.deliver(Role::Prefill, Some(frames))?;
        }
        Ok(())
    }

    fn hear(&mut self, role: Role, line: Line) -> Result<(), DriveError> {
        let strange = |what: String| DriveError::Node { role: role.name(), what };
        match line {
            Line::Event(text) => {
                let mut record = Record::parse(&text).map_err(|error| strange(format!("said {text}: {error}")))?;
                self.stale += stale(&text);
                let event = record.take_event().map_err(|error| strange(format!("said {text}: {error}")))?;
                self.events.push(self.writes.renamed(event));
            }
            Line::Said(Said::Message(Message { kind, frames, .. })) => match kind {
                Kind::Registration => self.registrations.push(frames),
                Kind::TransferInfo | Kind::Abort => self.to_prefill.push_back(frames),
                Kind::KvStatus | Kind::AbortAck => self.to_decode.push_back(frames),
                Kind::AuxData => return Err(DriveError::NotExpressible("metadata by message".to_owned())),
            },
            Line::Said(Said::Answer(answered)) => self.answered(role, &answered)?,
            Line::Said(Said::Crashed(_) | Said::Died(_)) => {
                let node = if role == Role::Prefill { prefill_node(0) } else { decode_node(0) };
                self.events.push(Event::Crash { node, life: Config::life(0) });
            }
            Line::Said(other) => return Err(strange(format!("said {other:?}"))),
        }
        Ok(())
    }

    fn answered(&mut self, role: Role, answered: &crate::host::Answered) -> Result<(), DriveError> {
        let Some(request) = request_of(&answered.rid) else { return Ok(()) };
        let reply = self.clients.reply(request, role, answered, self.scope.policy);
        if let Some(told) = reply.told {
            self.events.push(Event::Finish { life: Config::life(request), told, processed: None });
        }
        match reply.cancel {
            Some(other) => self.say(other, "abort", json!({ "rid": rid(request) })),
            None => Ok(()),
        }
    }
}

/// The strange slots that a read has found, which nodes tell beside the event.
fn stale(line: &str) -> u64 {
    let told = line.split_once("\"stale\":").map(|(_, rest)| rest);
    let digits = told.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// What a request is called on an engine. No name begins with another: aborts go by prefix.
fn rid(request: u8) -> String {
    format!("r{request}.")
}

fn request_of(rid: &str) -> Option<u8> {
    rid.strip_prefix('r')?.strip_suffix('.')?.parse().ok()
}
