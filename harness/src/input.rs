//! A walk through a cell, as bytes.

use arbitrary::{Arbitrary, Unstructured};

/// The bytes before the first step.
const HEADER: usize = 3;
/// The bytes of a step.
const OP: usize = 2;
/// The most steps of an input: beyond these a walk shows nothing that a shorter one does not, and a mutation changes little.
pub(crate) const MAX_OPS: usize = 512;

/// What a fuzzer chooses: a world and the way through it.
///
/// The form in bytes is fixed: three for the world, two for each step. So one changed byte changes one choice, and a run of
/// bytes that is moved moves whole steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Input {
    /// Which profile, modulo how many there are.
    pub profile: u8,
    /// Which scope, modulo how many there are.
    pub scope: u8,
    /// Who produces the rejection that the scope plants: zero for the one that it names, else modulo how many there are.
    pub producer: u8,
    /// The steps.
    pub ops: Vec<Op>,
}

/// One choice among the enabled steps. What is not enabled is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Op {
    /// Below 128: the family of the step, modulo how many there are. From 128 on: any family.
    pub family: u8,
    /// Which of the enabled steps of that family, modulo how many there are.
    pub pick: u8,
}

impl Op {
    /// A step of any family.
    pub const ANY: u8 = 128;
}

impl Input {
    /// The input in bytes, as [`Arbitrary`] reads it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = [self.profile, self.scope, self.producer];
        header.into_iter().chain(self.ops.iter().flat_map(|op| [op.family, op.pick])).collect()
    }

    /// The input that these bytes are; what is missing at the end is zero or left out, what is too long is cut.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        // It reads what there is, and never fails.
        Self::arbitrary_take_rest(Unstructured::new(bytes)).unwrap_or_default()
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let [profile, scope, producer] = <[u8; HEADER]>::arbitrary(u)?;
        let mut ops = Vec::with_capacity((u.len() / OP).min(MAX_OPS));
        while u.len() >= OP && ops.len() < MAX_OPS {
            let [family, pick] = <[u8; OP]>::arbitrary(u)?;
            ops.push(Op { family, pick });
        }
        Ok(Self { profile, scope, producer, ops })
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (HEADER, Some(HEADER + OP * MAX_OPS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_come_back_as_they_were(bytes in prop::collection::vec(any::<u8>(), 3..200)) {
            let whole = HEADER + (bytes.len() - HEADER) / OP * OP;
            prop_assert_eq!(Input::from_bytes(&bytes).to_bytes(), &bytes[..whole]);
        }

        #[test]
        fn one_changed_byte_changes_one_choice(bytes in prop::collection::vec(any::<u8>(), 5..80), at in 3_usize..80) {
            let at = HEADER + (at - HEADER) % (bytes.len() - HEADER);
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let (one, other) = (Input::from_bytes(&bytes), Input::from_bytes(&changed));
            let differing = one.ops.iter().zip(&other.ops).filter(|(a, b)| a != b).count();
            let whole = at < HEADER + one.ops.len() * OP;
            prop_assert_eq!(differing, usize::from(whole));
        }
    }

    #[test]
    fn what_is_missing_is_zero_and_what_is_too_long_is_cut() {
        assert_eq!(Input::from_bytes(&[]), Input::default());
        assert_eq!(Input::from_bytes(&[7]), Input { profile: 7, ..Input::default() });
        assert_eq!(Input::from_bytes(&[1; 4000]).ops.len(), MAX_OPS);
    }
}
