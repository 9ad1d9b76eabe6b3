//! Data from a seed: the same on every machine, so that a failure can be run again.

/// A generator of 64-bit numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A generator for one thing among several of a seed: adding a parameter does not change the
    /// data of the others.
    pub fn named(seed: u64, name: &str) -> Random {
        // FNV-1a keeps names apart; the first draw mixes them.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Random(Random(seed ^ hash).next())
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias of the product is under 2^-32 for the bounds in use, and the result is the same
        // everywhere.
        ((u128::from(self.next()) * u128::from(bound.max(1))) >> 64) as u64
    }

    /// A number in `-1 .. 1`, a multiple of 2^-23, so that it is the same in both precisions.
    pub fn unit(&mut self) -> f64 {
        let k = (self.next() >> 40) as i64 - (1 << 23);
        k as f64 / f64::from(1 << 23)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::named(1, "xs");
        for bound in 1..200 {
            assert!(random.below(bound) < bound);
            let x = random.unit();
            assert!((-1.0..1.0).contains(&x) && f64::from(x as f32) == x);
        }
    }
}
