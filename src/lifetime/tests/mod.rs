//! Tests of the oracle.
#![expect(clippy::single_range_in_vec_init, reason = "a list of one run is what is meant")]

mod answers;
mod forgetting;
mod kit;
mod legal;
mod naive;
mod names;
mod ownership;
mod reads;
mod reference;
mod renamed;
mod runs;
mod scale;
mod transfers;
mod views;
mod vocabulary;
mod writes;
