//! Nonsmooth Gauss-Seidel (Jean and Moreau 1992): contact after contact, each solved exactly with the
//! others held. Simple and robust, and slow on tall or jammed piles: the reference for the others.
//!
//! The velocity u = W r + q is kept up to date: a contact that changes its impulse adds its column of W,
//! one that does not costs nothing more. Rounding then builds up slowly, so u is refreshed now and then.

use pulp::{Arch, NullaryFnOnce};

use crate::block_matrix::{Lanes, Vector3};
use crate::problem::Problem;
use crate::solver::{Iteration, Settings};

/// Sweeps between two fresh computations of u.
pub(crate) const REFRESH: usize = 50;
/// Sweeps between two residuals computed in full.
pub(crate) const INTERVAL: usize = 10;

/// One sweep over contacts in the order given; r and u in step. Each contact that moves is shown to `observe` with
/// its new impulse and the change.
#[inline(always)]
pub(crate) fn sweep(
    problem: &Problem,
    contacts: impl Iterator<Item = usize>,
    r: &mut [Lanes],
    u: &mut [Lanes],
    mut observe: impl FnMut(usize, &Vector3, &Vector3),
) {
    for i in contacts {
        let new = problem.answer(i, r, &u[i]);
        let change = new.each(&r[i], |new, old| new - old);
        if *change == [0.0; 3] {
            continue;
        }
        r[i] = new;
        observe(i, &new, &change);
        problem.add_column(i, &change, u);
    }
}

/// Sweeps until the residual, with u computed afresh, meets the tolerance.
pub(crate) fn solve(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    struct Sweeps<'a>(&'a Problem, &'a Settings, &'a mut Iteration);
    impl NullaryFnOnce for Sweeps<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            iterate(self.0, self.1, self.2);
        }
    }
    Arch::new().dispatch(Sweeps(problem, settings, state));
}

#[inline(always)]
fn iterate(problem: &Problem, settings: &Settings, state: &mut Iteration) {
    while state.sweeps < settings.max_iterations {
        let all = 0..problem.contacts();
        sweep(problem, all, &mut state.r, &mut state.u, |_, _, _| ());
        state.sweeps += 1;
        if state.sweeps.is_multiple_of(REFRESH) {
            state.refresh(problem);
        }
        let residual = state.residual(problem, settings, INTERVAL);
        if state.judge(problem, settings, residual) {
            return;
        }
    }
}
