//! One step of all lanes: Newton's method on the accelerations, then what the step adds to state, peaks and work.

use super::{LANES, Lane, Lanes, ZERO, lane};
use crate::fixed_step::newton::{ITERATIONS, TOLERANCE};

impl Lanes {
    /// One step of the lanes that go; those that cannot take it stop. Returns which have taken it.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        w: usize,
        ground: &Lane,
        going: &mut [bool; LANES],
    ) -> [bool; LANES] {
        let n = self.n;
        let (dt, half, quarter) = (self.dt, 0.5 * self.dt, 0.25 * self.dt * self.dt);
        let [u, v, a] = &self.state;
        let [next_u, next_v, _] = &mut self.next;
        // whole lanes are taken out and put back: only then the compiler sees that a row is a vector
        for i in 0..n {
            let (u, v, a, mass) = (u[i], v[i], a[i], self.masses[i]);
            next_u[i] = lane(|l| u[l] + dt * v[l] + quarter * a[l]);
            next_v[i] = lane(|l| v[l] + half * a[l]);
            self.x[i] = a;
            self.right[i] = lane(|l| -mass[l] * ground[l]);
        }
        let mut loads = ZERO;
        for i in 0..n {
            let inertia = self.right[i];
            let sprung = self.stiffness.subtract_row_times(w, i, next_u, inertia);
            let right = self.damping.subtract_row_times(w, i, next_v, sprung);
            raise(&mut loads, &right);
            self.right[i] = right;
        }
        for element in &mut self.elements {
            let (left, right) = (next_u[element.left], next_u[element.right]);
            let plastic = element.plastic;
            element.offset = lane(|l| plastic[l] - (left[l] - right[l]));
        }
        let mut converged = [false; LANES];
        for _ in 0..ITERATIONS {
            let (largest, differences) = self.evaluate(w, quarter, loads);
            let mut off = ZERO;
            for residual in &self.residual[..n] {
                raise(&mut off, residual);
            }
            for l in 0..LANES {
                converged[l] |= off[l] <= TOLERANCE * largest[l];
            }
            if (0..LANES).all(|l| converged[l] || !going[l]) {
                break;
            }
            // lanes that wait have slopes that nobody asks for
            if (0..LANES).any(|l| differences[l] != 0 && going[l] && !converged[l]) {
                self.factor(w, quarter);
            }
            self.tangent.solve(w, &mut self.residual);
            if !converged.contains(&true) {
                for (x, moved) in self.x[..n].iter_mut().zip(&self.residual) {
                    let before = *x;
                    *x = lane(|l| before[l] + moved[l]);
                }
                continue;
            }
            for (x, moved) in self.x[..n].iter_mut().zip(&self.residual) {
                let before = *x;
                *x = lane(|l| {
                    let after = before[l] + moved[l];
                    if converged[l] { before[l] } else { after }
                });
            }
        }
        for l in 0..LANES {
            going[l] &= converged[l];
        }
        let [next_u, next_v, _] = &mut self.next;
        for i in 0..n {
            let (u, v, x) = (next_u[i], next_v[i], self.x[i]);
            next_u[i] = lane(|l| u[l] + quarter * x[l]);
            next_v[i] = lane(|l| v[l] + half * x[l]);
        }
        for contact in &self.contacts {
            let (left, right) = (next_u[contact.left], next_u[contact.right]);
            for l in 0..LANES {
                going[l] &= left[l] - right[l] - contact.gap[l] <= 0.0;
            }
        }
        let taken = *going;
        // a version for the usual case, in which nothing is chosen lane by lane
        if taken == [true; LANES] {
            self.commit(w, ground, &[true; LANES]);
        } else {
            self.commit(w, ground, &taken);
        }
        taken
    }

    /// Residual and slopes at the accelerations `x`; returns the largest force of each lane, and not zero where a slope is
    /// another than the tangent was factored with.
    #[inline(always)]
    fn evaluate(&mut self, w: usize, quarter: f64, loads: Lane) -> (Lane, [u64; LANES]) {
        let mut largest = loads;
        let mut differences = [0_u64; LANES];
        for i in 0..self.n {
            self.residual[i] = self.left.subtract_row_times(w, i, &self.x, self.right[i]);
        }
        for element in &mut self.elements {
            let (left, right) = (self.x[element.left], self.x[element.right]);
            let (offset, reach, stiffness) = (element.offset, element.reach, element.stiffness);
            let free = lane(|l| quarter * (left[l] - right[l]) - offset[l]);
            let elastic = lane(|l| clamp(free[l], reach[l]));
            let force = lane(|l| stiffness[l] * elastic[l]);
            let (slope, factored) = (
                lane(|l| {
                    if free[l] == elastic[l] {
                        stiffness[l]
                    } else {
                        0.0
                    }
                }),
                element.factored,
            );
            element.slope = slope;
            differences = std::array::from_fn(|l| {
                differences[l] | (slope[l].to_bits() ^ factored[l].to_bits())
            });
            raise(&mut largest, &force);
            let (left, right) = (self.residual[element.left], self.residual[element.right]);
            self.residual[element.left] = lane(|l| left[l] - force[l]);
            self.residual[element.right] = lane(|l| right[l] + force[l]);
        }
        // what the base has taken up is nobody's residual
        self.residual[self.n] = ZERO;
        (largest, differences)
    }

    /// Factor the tangent with the slopes of the last look.
    #[inline(always)]
    fn factor(&mut self, w: usize, quarter: f64) {
        self.tangent.rows.copy_from_slice(&self.left.rows);
        for element in &mut self.elements {
            let slope = element.slope;
            element.factored = slope;
            let (low, high) = (
                element.left.min(element.right),
                element.left.max(element.right),
            );
            let values = lane(|l| quarter * slope[l]);
            self.tangent.add_between(w, low, high, values);
        }
        self.tangent.factor(w);
    }

    /// Make the step the state of the lanes that take it; peaks, work and powers.
    #[inline(always)]
    fn commit(&mut self, w: usize, ground: &Lane, taken: &[bool; LANES]) {
        let n = self.n;
        let [next_u, next_v, _] = &self.next;
        let [u, v, a] = &mut self.state;
        let mut momentum = ZERO;
        for i in 0..n {
            let beside = self.damping.before_diagonal(w, i, next_v);
            let (place, rate, x) = (next_u[i], next_v[i], self.x[i]);
            let own = self.damping.rows[i * (w + 1)];
            let (mass, damped) = (self.masses[i], self.damped[i]);
            let (old_u, old_v, old_a, sum) = (u[i], v[i], a[i], momentum);
            self.damped[i] = lane(|l| {
                let power = rate[l] * (own[l] * rate[l] + 2.0 * beside[l]);
                damped[l] + if taken[l] { power } else { 0.0 }
            });
            momentum = lane(|l| sum[l] + mass[l] * rate[l]);
            let absolute = lane(|l| x[l] + ground[l]);
            u[i] = lane(|l| if taken[l] { place[l] } else { old_u[l] });
            v[i] = lane(|l| if taken[l] { rate[l] } else { old_v[l] });
            a[i] = lane(|l| if taken[l] { x[l] } else { old_a[l] });
            // a lane that has not moved has its old values here, or a step's that do not count
            let [peak_u, peak_v, peak_a] = &mut self.peaks;
            raise_if(taken, &mut peak_u[i], &place);
            raise_if(taken, &mut peak_v[i], &rate);
            raise_if(taken, &mut peak_a[i], &absolute);
        }
        let base = self.base;
        self.base = lane(|l| {
            let power = -ground[l] * momentum[l];
            base[l] + if taken[l] { power } else { 0.0 }
        });
        for element in &mut self.elements {
            let (left, right) = (next_u[element.left], next_u[element.right]);
            let (plastic, reach, stiffness) = (element.plastic, element.reach, element.stiffness);
            let (old_force, old_elongation, old_work) =
                (element.force, element.elongation, element.work);
            let elongation = lane(|l| left[l] - right[l]);
            let elastic = lane(|l| clamp(elongation[l] - plastic[l], reach[l]));
            let force = lane(|l| stiffness[l] * elastic[l]);
            let pick = |new: Lane, old: Lane| lane(|l| if taken[l] { new[l] } else { old[l] });
            let work = lane(|l| {
                old_work[l] + 0.5 * (force[l] + old_force[l]) * (elongation[l] - old_elongation[l])
            });
            element.plastic = pick(lane(|l| elongation[l] - elastic[l]), plastic);
            element.work = pick(work, old_work);
            element.force = pick(force, old_force);
            element.elongation = pick(elongation, old_elongation);
            raise_if(taken, &mut element.peak, &element.elongation);
        }
        for contact in &mut self.contacts {
            let (left, right) = (next_u[contact.left], next_u[contact.right]);
            let (gap, nearest) = (contact.gap, contact.nearest);
            contact.nearest = lane(|l| {
                let d = left[l] - right[l] - gap[l];
                let nearer = taken[l] && d > nearest[l];
                if nearer { d } else { nearest[l] }
            });
        }
    }
}

/// Within plus and minus `reach`, written so that it is two instructions a vector.
#[inline(always)]
fn clamp(value: f64, reach: f64) -> f64 {
    let below = if value > reach { reach } else { value };
    if below < -reach { -reach } else { below }
}

#[inline(always)]
fn raise(largest: &mut Lane, values: &Lane) {
    let before = *largest;
    *largest = lane(|l| {
        let size = values[l].abs();
        if size > before[l] { size } else { before[l] }
    });
}

#[inline(always)]
fn raise_if(taken: &[bool; LANES], peaks: &mut Lane, values: &Lane) {
    let before = *peaks;
    *peaks = lane(|l| {
        let size = values[l].abs();
        let higher = taken[l] && size > before[l];
        if higher { size } else { before[l] }
    });
}
