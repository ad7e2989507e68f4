//! Gauss-Seidel sweeps with Nesterov momentum and two restarts: the default.
//!
//! From r_k and r_(k-1) the sweep starts at y = r_k + beta (r_k - r_(k-1)) with Nesterov's factor, and u
//! follows by the same linear combination, without a product with W. The law is not monotone, so momentum
//! has no proof here; it is dropped whenever it points the wrong way, that is when
//! (y - r_new) . (r_new - r_k) > 0 weighted by trace(W_ii) (O'Donoghue and Candes 2015), and, once progress is poor,
//! when the residual is 2.2 times its lowest since the last restart. Two sweeps without momentum follow, one more
//! than Nesterov's factors have: found by counts (docs/contact-solvers.md), not derived.
//!
//! Where contacts jam, momentum itself raises the residual, and restarts alone do not bring it down. So a restart by the
//! residual that does not find its lowest halved since the last that did was in vain: each time the rest from
//! momentum is twice as long, and until it is halved momentum may go further.

use pulp::{Arch, NullaryFnOnce};

use crate::cone::dot;
use crate::focus::{self, Focus};
use crate::nsgs::{INTERVAL, REFRESH, sweep};
use crate::problem::Problem;
use crate::solver::{Iteration, Settings};

/// Sweeps after which progress counts as poor, and the residual is computed every time.
const POOR: usize = 30;
/// Growth of the residual, over its lowest since the last restart, that ends the momentum; and after restarts in vain.
const GROWTH: f64 = 2.2;
const GROWTH_IN_VAIN: f64 = 7.0;
/// Share of the lowest residual that has to be reached between restarts that are not in vain.
const PROGRESS: f64 = 0.5;

/// Sweeps until the residual meets the tolerance, or `go_on` is false.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    go_on: impl FnMut(&Iteration) -> bool,
) {
    dispatch::<false, _>(problem, settings, state, go_on);
}

/// The same, with further passes over the few contacts that a sweep has moved by much, where they are few.
pub(crate) fn solve_focused(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    dispatch::<true, _>(problem, settings, state, |_| true);
}

fn dispatch<const FOCUSED: bool, G: FnMut(&Iteration) -> bool>(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    go_on: G,
) {
    struct Sweeps<'a, const FOCUSED: bool, G>(&'a Problem, &'a Settings, &'a mut Iteration, G);
    impl<const FOCUSED: bool, G: FnMut(&Iteration) -> bool> NullaryFnOnce for Sweeps<'_, FOCUSED, G> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            iterate::<FOCUSED>(self.0, self.1, self.2, self.3);
        }
    }
    Arch::new().dispatch(Sweeps::<FOCUSED, G>(problem, settings, state, go_on));
}

#[inline(always)]
fn iterate<const FOCUSED: bool>(
    problem: &Problem,
    settings: &Settings,
    state: &mut Iteration,
    mut go_on: impl FnMut(&Iteration) -> bool,
) {
    let mut focus = Focus::new(problem, settings);
    state.previous_r.clone_from(&state.r);
    state.previous_u.clone_from(&state.u);
    let (mut lowest, mut reached, mut growth) = (f64::INFINITY, f64::INFINITY, GROWTH);
    let (mut momentum, mut rest, mut rests) = (1.0_f64, 1, 1);
    while state.sweeps < settings.max_iterations && go_on(state) {
        let mut beta = 0.0;
        if rest > 0 {
            rest -= 1;
        } else {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            beta = (momentum - 1.0) / next;
            momentum = next;
        }
        // The older iterate becomes y, then by the sweep the newest.
        for (old, new) in [
            (&mut state.previous_r, &state.r),
            (&mut state.previous_u, &state.u),
        ] {
            for (old, new) in old.iter_mut().zip(new) {
                *old = old.each(new, |old, new| new + beta * (new - old));
            }
        }
        let mut against = 0.0;
        let (current, trace) = (&state.r, &problem.trace);
        sweep(
            problem,
            0..current.len(),
            &mut state.previous_r,
            &mut state.previous_u,
            #[inline(always)]
            |i, new, change| {
                let progress = [
                    new[0] - current[i][0],
                    new[1] - current[i][1],
                    new[2] - current[i][2],
                ];
                against -= trace[i] * dot(change, &progress);
                if FOCUSED {
                    focus.note(i, problem.weight[i] * dot(change, change));
                }
            },
        );
        if FOCUSED {
            let passes = focus::passes(state.sweeps);
            focus.sweep(
                problem,
                passes,
                &mut state.previous_r,
                &mut state.previous_u,
            );
        }
        std::mem::swap(&mut state.r, &mut state.previous_r);
        std::mem::swap(&mut state.u, &mut state.previous_u);
        state.sweeps += 1;
        if state.sweeps.is_multiple_of(REFRESH) {
            // Both: rounding left in one of the two would be fed to the momentum and grow without bound.
            state.refresh(problem);
            problem.matrix.velocity(
                &state.previous_r,
                &problem.free_velocity,
                &mut state.previous_u,
            );
        }
        let poor = state.sweeps > POOR;
        let every = if poor { 1 } else { INTERVAL };
        let mut residual = state.residual(problem, settings, every);
        if state.judge(problem, settings, residual) {
            return;
        }
        if !poor {
            residual = f64::INFINITY;
        }
        lowest = lowest.min(residual);
        let grown = beta > 0.0 && residual > growth * lowest;
        if against > 0.0 || grown {
            (momentum, rest, lowest) = (1.0, 1, residual);
        }
        if grown {
            (rests, growth) = if state.best <= PROGRESS * reached {
                reached = state.best;
                (1, GROWTH)
            } else {
                (2 * rests, GROWTH_IN_VAIN)
            };
            rest = rests;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_matrix::{BlockMatrix, Lanes};

    /// A chain of contacts that stick, slip and open.
    fn chain(contacts: usize) -> Problem {
        let (mut starts, mut columns, mut blocks) = (vec![0], vec![], vec![]);
        for i in 0..contacts {
            for j in i.max(1) - 1..=(i + 1).min(contacts - 1) {
                let near = if i == j { 2.0 } else { -0.7 };
                columns.push(j);
                blocks.push([near, 0.1, 0.0, 0.1, 1.1 * near, 0.2, 0.0, 0.2, 0.9 * near]);
            }
            starts.push(columns.len());
        }
        let q = (0..contacts)
            .map(|i| {
                let angle = i as f64;
                [angle.sin() - 0.4, 0.9 * (2.3 * angle).cos(), 0.1]
            })
            .collect();
        let matrix = BlockMatrix::from_block_rows(&starts, &columns, &blocks).unwrap();
        Problem::new(matrix, q, vec![0.5; contacts]).unwrap()
    }

    /// Compiled for the processor at hand or for any: the same bits.
    #[test]
    fn the_processor_changes_no_bit() {
        let problem = chain(37);
        let settings = Settings {
            tolerance: 1e-300,
            max_iterations: 80,
            max_factorisations: 0,
        };
        let bits = |solve: fn(&Problem, &Settings, &mut Iteration)| -> Vec<[u64; 3]> {
            let mut state = Iteration::default();
            state.start(&problem, &[[0.0; 3]; 37]);
            solve(&problem, &settings, &mut state);
            assert_eq!(state.sweeps, 80);
            // Every branch of a sweep is taken.
            let slack = |r: &Lanes| 0.5 * r[0] - (r[1] * r[1] + r[2] * r[2]).sqrt();
            let (closed, open): (Vec<_>, Vec<_>) = state.r.iter().partition(|r| r[0] > 0.0);
            assert!(!open.is_empty());
            assert!(closed.iter().any(|r| slack(r) > 0.01), "some stick");
            assert!(closed.iter().any(|r| slack(r) < 1e-9), "some slip");
            let both = state.r.iter().chain(&state.u);
            both.map(|x| x.map(f64::to_bits)).collect()
        };
        let here = bits(|problem, settings, state| solve(problem, settings, state, |_| true));
        let anywhere =
            bits(|problem, settings, state| iterate::<false>(problem, settings, state, |_| true));
        assert!(here == anywhere);
        let focused = bits(solve_focused);
        let anywhere =
            bits(|problem, settings, state| iterate::<true>(problem, settings, state, |_| true));
        assert!(focused == anywhere);
    }

    /// Two hundred contacts that hardly know of each other, and a dozen in a stiff chain.
    fn mostly_easy() -> Problem {
        let (easy, stiff) = (200, 12);
        let contacts = easy + stiff;
        let coupling = |i: usize, j: usize| match (i.min(j), i.max(j)) {
            (a, b) if a == b => 2.0,
            (a, b) if b == a + 1 && a >= easy => -0.97,
            (a, b) if b == a + 1 && b < easy => -0.05,
            _ => 0.0,
        };
        let (mut starts, mut columns, mut blocks) = (vec![0], vec![], vec![]);
        for i in 0..contacts {
            for j in i.max(1) - 1..=(i + 1).min(contacts - 1) {
                let near = coupling(i, j);
                columns.push(j);
                blocks.push([near, 0.0, 0.0, 0.0, near, 0.0, 0.0, 0.0, near]);
            }
            starts.push(columns.len());
        }
        let q = (0..contacts)
            .map(|i| [-1.0, 0.9 * (2.3 * i as f64).cos(), 0.1])
            .collect();
        let matrix = BlockMatrix::from_block_rows(&starts, &columns, &blocks).unwrap();
        Problem::new(matrix, q, vec![0.5; contacts]).unwrap()
    }

    /// Passes over the contacts that still move save sweeps, and lead to the same velocities.
    #[test]
    fn few_contacts_that_move_are_swept_by_themselves() {
        let problem = mostly_easy();
        let settings = Settings {
            tolerance: 1e-10,
            max_iterations: 10_000,
            max_factorisations: 0,
        };
        let solved = |solve: fn(&Problem, &Settings, &mut Iteration)| -> Iteration {
            let mut state = Iteration::default();
            state.start(&problem, &vec![[0.0; 3]; problem.contacts()]);
            solve(&problem, &settings, &mut state);
            assert!(state.best <= settings.tolerance, "{}", state.best);
            state
        };
        let plain = solved(|problem, settings, state| solve(problem, settings, state, |_| true));
        let focused = solved(solve_focused);
        assert!(
            2 * focused.sweeps < plain.sweeps,
            "{} {}",
            focused.sweeps,
            plain.sweeps
        );
        for (a, b) in plain.u.iter().zip(&focused.u) {
            for (a, b) in a.iter().zip(b.iter()) {
                assert!((a - b).abs() < 1e-8, "{a} {b}");
            }
        }
    }
}
