//! Motion without compliant contact, as a Taylor polynomial in time.
//!
//! For a linear system the coefficients `x_(k+1) = A x_k / (k + 1)` are those of the matrix exponential: the step is
//! the closed-form solution up to rounding, for any damping, with rigid-body modes, and exact for a base acceleration
//! that is a line or a sine between breakpoints. Cubic springs enter by products of series, springs with a piecewise
//! linear law by the line of their branch. Rigid contacts that are
//! held closed enter as constraints on the acceleration, which is linear too, and their reactions are polynomials as
//! well. Gaps being polynomials, the first closing is found without sampling (see [`crate::located::polynomial`]).

use percuss_laws::Past;

use crate::located::polynomial;
use crate::located::rigid_impact::coupling;
use crate::results::run::Peaks;
use crate::system::base_motion::Stretch;
use crate::system::model::{Model, Pair};

/// Highest power: steps of about 2 radians of the fastest mode.
pub(crate) const DEGREE: usize = 24;
/// Relative size of the last terms.
const TAIL: f64 = 1e-17;

/// Series of one step, with the work space it needs.
#[derive(Debug, Clone)]
pub(crate) struct Flight {
    n: usize,
    degree: usize,
    /// Coefficients of displacement, velocity and relative acceleration, `[power * n + mass]`.
    u: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    ground: [f64; DEGREE + 1],
    /// Elongation of each cubic spring and its square, `[spring * (DEGREE + 1) + power]`.
    elongation: Vec<f64>,
    square: Vec<f64>,
    /// Slope and offset of the force of each spring with a law, on its branch.
    lines: Vec<(f64, f64)>,
    held: Vec<usize>,
    /// Inverse coupling of the held contacts, row by row.
    held_inverse: Vec<f64>,
    /// Reactions of the held contacts, `[held * (DEGREE + 1) + power]`.
    reaction: Vec<f64>,
    scratch: Vec<f64>,
}

impl Flight {
    pub fn new(model: &Model) -> Self {
        let n = model.masses();
        let series = || vec![0.0; (DEGREE + 2) * n];
        let per_spring = vec![0.0; model.springs.len() * (DEGREE + 1)];
        Self {
            n,
            degree: 0,
            u: series(),
            v: series(),
            a: series(),
            ground: [0.0; DEGREE + 1],
            elongation: per_spring.clone(),
            square: per_spring,
            lines: vec![(0.0, 0.0); model.elements()],
            held: Vec::new(),
            held_inverse: Vec::new(),
            reaction: vec![0.0; model.contacts() * (DEGREE + 1)],
            scratch: vec![0.0; DEGREE + 1],
        }
    }

    /// Put springs with a law on their branches; those that are not piecewise linear are not flown with.
    pub fn branch(&mut self, model: &Model, pasts: &[Past]) {
        for ((line, element), past) in self.lines.iter_mut().zip(&model.elements).zip(pasts) {
            *line = element.law.line(past).unwrap_or_default();
        }
    }

    /// Choose the rigid contacts that stay closed.
    pub fn hold(&mut self, model: &Model, held: &[usize]) {
        if self.held == held {
            return;
        }
        self.held = held.to_vec();
        let m = held.len();
        if m == 0 {
            return;
        }
        let matrix = nalgebra::DMatrix::from_fn(m, m, |i, j| {
            coupling(
                &model.masses,
                model.contacts[held[i]].pair,
                model.contacts[held[j]].pair,
            )
        });
        // Contacts that close a loop share their reaction: the pseudo-inverse spreads it evenly.
        let inverse = matrix
            .pseudo_inverse(1e-12)
            .expect("the tolerance is positive");
        self.held_inverse = (0..m * m).map(|at| inverse[(at / m, at % m)]).collect();
    }

    /// The contacts held.
    pub fn held(&self) -> &[usize] {
        &self.held
    }

    /// Reaction of the `i`-th held contact, given the accelerations there would be without reactions.
    pub fn reaction_to(&self, model: &Model, i: usize, a: &[f64]) -> f64 {
        let row = &self.held_inverse[i * self.held.len()..];
        self.held
            .iter()
            .zip(row)
            .map(|(&c, inverse)| inverse * model.contacts[c].pair.difference(a))
            .sum()
    }

    /// Expand from the state at `t`; returns the step, at most `longest`.
    pub fn expand(
        &mut self,
        model: &Model,
        stretch: &Stretch<'_>,
        t: f64,
        u: &[f64],
        v: &[f64],
        longest: f64,
    ) -> f64 {
        let n = self.n;
        stretch.taylor(t, &mut self.ground);
        self.u[..n].copy_from_slice(u);
        self.v[..n].copy_from_slice(v);
        let mut power = 1.0;
        let mut quiet = 0;
        self.degree = DEGREE;
        for k in 0..=DEGREE {
            self.acceleration_term(model, k);
            let above = (k + 1) * n;
            let over = 1.0 / (k + 1) as f64;
            for i in 0..n {
                self.u[above + i] = self.v[k * n + i] * over;
                self.v[above + i] = self.a[k * n + i] * over;
            }
            power *= longest;
            let scale = self.first_terms(k, longest);
            let small = size(&self.v[above..above + n]) * power <= TAIL * scale;
            quiet = if small { quiet + 1 } else { 0 };
            if quiet == 3 {
                self.degree = k;
                break;
            }
        }
        if quiet == 3 {
            return longest;
        }
        // The last two terms of the velocity decide how far the series reaches.
        let mut h = longest;
        for _ in 0..4 {
            let scale = self.first_terms(DEGREE, h);
            let reach = |k: usize| {
                let term = size(&self.v[k * n..(k + 1) * n]);
                if term > 0.0 {
                    (TAIL * scale / term).powf(1.0 / k as f64)
                } else {
                    f64::INFINITY
                }
            };
            h = longest.min(reach(DEGREE)).min(reach(DEGREE - 1));
        }
        h
    }

    /// Size of the first few terms of the velocity, up to power `k + 1`: what the tail is measured against. Only a few,
    /// so that a series whose terms grow before they shrink, and cancel, is cut shorter.
    fn first_terms(&self, k: usize, h: f64) -> f64 {
        let mut power = 1.0;
        let mut scale = 0.0_f64;
        for terms in self.v.chunks_exact(self.n).take(4.min(k + 2)) {
            scale = scale.max(size(terms) * power);
            power *= h;
        }
        scale
    }

    fn acceleration_term(&mut self, model: &Model, k: usize) {
        let n = self.n;
        let (u, v) = (&self.u[k * n..(k + 1) * n], &self.v[k * n..(k + 1) * n]);
        let a = &mut self.a[k * n..(k + 1) * n];
        a.fill(0.0);
        for (index, spring) in model.springs.iter().enumerate() {
            let elongation = spring.pair.difference(u);
            let mut force = spring.linear
                * (elongation + model.rayleigh.stiffness_s * spring.pair.difference(v));
            if spring.cubic != 0.0 {
                let at = index * (DEGREE + 1);
                self.elongation[at + k] = elongation;
                let product =
                    |x: &[f64], y: &[f64]| (0..=k).map(|j| x[at + j] * y[at + k - j]).sum::<f64>();
                self.square[at + k] = product(&self.elongation, &self.elongation);
                force += spring.cubic * product(&self.square, &self.elongation);
            }
            spring.pair.push_apart(force, a);
        }
        for &(pair, c) in &model.dampers {
            pair.push_apart(c * pair.difference(v), a);
        }
        for (element, &(slope, offset)) in model.elements.iter().zip(&self.lines) {
            let force = slope * element.pair.difference(u) + if k == 0 { offset } else { 0.0 };
            element.pair.push_apart(force, a);
        }
        for ((a, m), v) in a.iter_mut().zip(&model.masses).zip(v) {
            *a = *a / m - model.rayleigh.mass_per_s * v - self.ground[k];
        }
        if !self.held.is_empty() {
            for i in 0..self.held.len() {
                let force = self.reaction_to(model, i, &self.a[k * n..(k + 1) * n]);
                self.reaction[i * (DEGREE + 1) + k] = force;
            }
            for (i, &contact) in self.held.iter().enumerate() {
                let force = self.reaction[i * (DEGREE + 1) + k];
                push_masses(
                    model,
                    model.contacts[contact].pair,
                    force,
                    &mut self.a[k * n..(k + 1) * n],
                );
            }
        }
    }

    /// Write the scaled coefficients (unit interval) of `left - right` of a series and return them.
    fn scaled<'a>(
        scratch: &'a mut [f64],
        series: &[f64],
        n: usize,
        degree: usize,
        h: f64,
        of: impl Fn(&[f64]) -> f64,
    ) -> &'a mut [f64] {
        let mut power = 1.0;
        for k in 0..=degree {
            scratch[k] = of(&series[k * n..(k + 1) * n]) * power;
            power *= h;
        }
        &mut scratch[..=degree]
    }

    /// First time within `h` at which `a d + b d' + c` rises from negative to zero, `d` the difference of a pair. A
    /// start above `-noise` counts as `-noise`: there it is zero up to rounding, and must not hide the rise.
    pub fn first_rise(
        &mut self,
        pair: Pair,
        [a, b, c]: [f64; 3],
        h: f64,
        noise: f64,
    ) -> Option<f64> {
        let (n, degree) = (self.n, self.degree);
        let mut power = 1.0;
        for k in 0..=degree {
            let at = k * n..(k + 1) * n;
            let value = a * pair.difference(&self.u[at.clone()]) + b * pair.difference(&self.v[at]);
            self.scratch[k] = value * power;
            power *= h;
        }
        self.scratch[0] = (self.scratch[0] + c).min(-noise);
        polynomial::first_rise(&self.scratch[..=degree]).map(|s| s * h)
    }

    /// First time within `h` at which the reaction of a held contact turns to a pull.
    pub fn first_pull(&mut self, held: usize, h: f64) -> Option<f64> {
        let series = &self.reaction[held * (DEGREE + 1)..][..DEGREE + 1];
        let c = Self::scaled(&mut self.scratch, series, 1, self.degree, h, |x| -x[0]);
        polynomial::first_rise(c).map(|s| s * h)
    }

    /// State at `tau` after the start: displacement, velocity, absolute acceleration.
    pub fn at(&self, tau: f64, u: &mut [f64], v: &mut [f64], acceleration: &mut [f64]) {
        let n = self.n;
        u.fill(0.0);
        v.fill(0.0);
        acceleration.fill(0.0);
        // all masses and quantities in one pass, so that their chains of operations overlap
        for k in (0..=self.degree).rev() {
            let terms = k * n..(k + 1) * n;
            let terms = self.u[terms.clone()]
                .iter()
                .zip(&self.v[terms.clone()])
                .zip(&self.a[terms]);
            let states = u.iter_mut().zip(v.iter_mut()).zip(acceleration.iter_mut());
            for (((u, v), a), ((cu, cv), ca)) in states.zip(terms) {
                *u = *u * tau + cu;
                *v = *v * tau + cv;
                *a = *a * tau + (ca + self.ground[k]);
            }
        }
    }

    /// Force beside the linear part of a spring with a law, at displacements of the flight.
    pub fn element_force(&self, model: &Model, element: usize, u: &[f64]) -> f64 {
        let (slope, offset) = self.lines[element];
        slope * model.elements[element].pair.difference(u) + offset
    }

    /// Reaction of a held contact at `tau`.
    pub fn reaction(&self, held: usize, tau: f64) -> f64 {
        polynomial::value(&self.reaction[held * (DEGREE + 1)..][..=self.degree], tau)
    }

    /// Energy lost in dampers and put in by the base from the start to `tau`, J.
    pub fn energies(&mut self, model: &Model, tau: f64) -> (f64, f64) {
        let (n, degree) = (self.n, self.degree);
        let mut damped = 0.0;
        let mut add_square = |factor: f64, scratch: &mut [f64], of: &dyn Fn(&[f64]) -> f64| {
            if factor != 0.0 {
                let c = Self::scaled(scratch, &self.v, n, degree, tau, of);
                damped += factor * integral_of_product(c, c) * tau;
            }
        };
        for &(pair, c) in &model.dampers {
            add_square(c, &mut self.scratch, &|v| pair.difference(v));
        }
        for spring in &model.springs {
            add_square(
                model.rayleigh.stiffness_s * spring.linear,
                &mut self.scratch,
                &|v| spring.pair.difference(v),
            );
        }
        for (i, m) in model.masses.iter().enumerate() {
            add_square(model.rayleigh.mass_per_s * m, &mut self.scratch, &|v| v[i]);
        }
        let mut base = 0.0;
        if self.ground.iter().any(|&g| g != 0.0) {
            let mut ground = [0.0; DEGREE + 1];
            Self::scaled(&mut ground, &self.ground, 1, degree, tau, |g| g[0]);
            let momentum = |v: &[f64]| model.masses.iter().zip(v).map(|(m, v)| m * v).sum();
            let c = Self::scaled(&mut self.scratch, &self.v, n, degree, tau, momentum);
            base = -integral_of_product(&ground[..=degree], c) * tau;
        }
        (damped, base)
    }

    /// Raise peaks over the step up to `tau`: each quantity is a polynomial, and its largest size is found to rounding.
    pub fn raise_peaks(&mut self, model: &Model, tau: f64, peaks: &mut Peaks) {
        let (n, degree) = (self.n, self.degree);
        let mut raise_size = |peak: &mut f64, series: &[f64], i: usize, add: &[f64]| {
            let c = Self::scaled(&mut self.scratch, series, n, degree, tau, |x| x[i]);
            let mut power = 1.0;
            for (c, more) in c.iter_mut().zip(add) {
                *c += more * power;
                power *= tau;
            }
            *peak = polynomial::largest(c, *peak);
            c.iter_mut().for_each(|c| *c = -*c);
            *peak = polynomial::largest(c, *peak);
        };
        for i in 0..n {
            raise_size(&mut peaks.displacement_m[i], &self.u, i, &[]);
            raise_size(&mut peaks.velocity_m_s[i], &self.v, i, &[]);
            raise_size(&mut peaks.acceleration_m_s2[i], &self.a, i, &self.ground);
        }
        for (contact, smallest) in model.contacts.iter().zip(&mut peaks.smallest_gap_m) {
            let c = Self::scaled(&mut self.scratch, &self.u, n, degree, tau, |u| {
                contact.pair.difference(u)
            });
            *smallest = contact.gap - polynomial::largest(c, contact.gap - *smallest);
        }
        for (element, drift) in model.elements.iter().zip(&mut peaks.drift_m) {
            let c = Self::scaled(&mut self.scratch, &self.u, n, degree, tau, |u| {
                element.pair.difference(u)
            });
            *drift = polynomial::largest(c, *drift);
            c.iter_mut().for_each(|c| *c = -*c);
            *drift = polynomial::largest(c, *drift);
        }
        for (i, &contact) in self.held.iter().enumerate() {
            let series = &self.reaction[i * (DEGREE + 1)..][..DEGREE + 1];
            let c = Self::scaled(&mut self.scratch, series, 1, degree, tau, |x| x[0]);
            peaks.force_n[contact] = polynomial::largest(c, peaks.force_n[contact]);
        }
    }
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Change accelerations by a force that pushes the masses of a pair apart.
pub(crate) fn push_masses(model: &Model, pair: Pair, force: f64, a: &mut [f64]) {
    for (i, sign) in [(pair.left, -1.0), (pair.right, 1.0)] {
        if let Some(a) = a.get_mut(i) {
            *a += sign * force / model.masses[i];
        }
    }
}

/// `1 / (k + 1)` up to the highest power of a product of two series.
const RECIPROCALS: [f64; 2 * DEGREE + 1] = {
    let mut table = [0.0; 2 * DEGREE + 1];
    let mut k = 0;
    while k <= 2 * DEGREE {
        table[k] = 1.0 / (k + 1) as f64;
        k += 1;
    }
    table
};

/// Integral over the unit interval of the product of two polynomials.
fn integral_of_product(x: &[f64], y: &[f64]) -> f64 {
    let row = |(i, x): (usize, &f64)| {
        let inner: f64 = y
            .iter()
            .zip(&RECIPROCALS[i..])
            .map(|(y, over)| y * over)
            .sum();
        x * inner
    };
    x.iter().enumerate().map(row).sum()
}
