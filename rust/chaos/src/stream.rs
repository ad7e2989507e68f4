//! Random numbers keyed by (seed, name): SplitMix64 (Steele, Lea and Flood, 2014), one stream per name.

/// A stream of random numbers.
pub(crate) struct Stream {
    state: u64,
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Stream {
    /// Stream number `name` of a seed.
    pub(crate) fn new(seed: u64, name: u64) -> Self {
        Self {
            state: mix(mix(seed.wrapping_add(GOLDEN)) ^ name.wrapping_mul(GOLDEN)),
        }
    }

    /// A whole number in 0..bound, every one equally likely (Lemire, 2019).
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        loop {
            self.state = self.state.wrapping_add(GOLDEN);
            let wide = u128::from(mix(self.state)) * u128::from(bound);
            // The lowest 2^64 mod bound values of the low half would favour some results.
            if wide as u64 >= bound.wrapping_neg() % bound {
                return (wide >> 64) as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_streams_differ() {
        let mut counts = [0u32; 7];
        let mut stream = Stream::new(1, 2);
        for _ in 0..70_000 {
            counts[stream.below(7)] += 1;
        }
        // Standard deviation of a count is 93.
        assert!(
            counts.iter().all(|&c| c.abs_diff(10_000) < 450),
            "{counts:?}"
        );
        let first = |seed, name| Stream::new(seed, name).below(1 << 40);
        assert_ne!(first(1, 2), first(2, 1));
        assert_ne!(first(1, 2), first(1, 3));
    }
}
