//! The only source of randomness: `SplitMix64`, so that a seed determines a run.

use std::sync::{Arc, Mutex};

use preauth_core::port::IdSource;
use preauth_core::value::Timestamp;
use uuid::Uuid;

/// A generator of numbers determined by its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True `per_mille` times in a thousand.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let count = u64::try_from(choices.len()).unwrap();
        choices[usize::try_from(self.below(count)).unwrap()]
    }

    /// An independent generator.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }
}

/// A generator shared by several actors.
#[derive(Clone, Debug)]
pub(crate) struct SharedRandom(Arc<Mutex<Random>>);

impl SharedRandom {
    pub(crate) fn new(random: Random) -> Self {
        Self(Arc::new(Mutex::new(random)))
    }

    pub(crate) fn draw<T>(&self, draw: impl FnOnce(&mut Random) -> T) -> T {
        draw(&mut self.0.lock().unwrap())
    }
}

/// `UUIDv7` from the simulation's clock and generator.
#[derive(Debug)]
pub(crate) struct SeededIds(SharedRandom);

impl SeededIds {
    pub(crate) fn new(random: Random) -> Self {
        Self(SharedRandom::new(random))
    }
}

impl IdSource for SeededIds {
    fn uuid(&self, now: Timestamp) -> Uuid {
        let (high, low) = self.0.draw(|random| (random.next(), random.next()));
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&high.to_be_bytes());
        bytes[8..].copy_from_slice(&low.to_be_bytes()[..2]);
        let millis = now.unix_millis().unsigned_abs();
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }
}
