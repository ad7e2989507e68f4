//! Which things hang together: disjoint sets joined pair by pair (Tarjan 1975), the smallest member standing for all.

/// Disjoint sets of the numbers below a count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Union {
    parent: Vec<u32>,
}

impl Union {
    /// Every number on its own.
    pub fn reset(&mut self, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
    }

    /// The smallest number of the set; paths are halved on the way.
    #[inline]
    pub fn root(&mut self, mut x: u32) -> u32 {
        loop {
            let up = self.parent[x as usize];
            if up == x {
                return x;
            }
            let over = self.parent[up as usize];
            self.parent[x as usize] = over;
            x = over;
        }
    }

    /// Makes one set of two.
    #[inline]
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_stands_for_all() {
        let mut union = Union::default();
        union.reset(8);
        for (a, b) in [(7, 3), (3, 5), (6, 2), (1, 6)] {
            union.join(a, b);
        }
        let roots: Vec<u32> = (0..8).map(|x| union.root(x)).collect();
        assert_eq!(roots, [0, 1, 1, 3, 4, 3, 1, 3]);
    }
}
