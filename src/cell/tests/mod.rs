//! Scripts that are stepped by hand: each protocol rule in the protocol's own terms, with its protection and without.

mod kit;

mod aborts;
mod balancer;
mod chunks;
mod crew;
mod faults;
mod handoff;
mod happy;
mod memory;
mod pieces;
mod profiles;
mod properties;
mod queues;
mod ranks;
mod rejections;
mod release;
mod rooms;
mod running;
mod scopes;
mod threads;
mod timers;
mod transfers;
mod waiting;
