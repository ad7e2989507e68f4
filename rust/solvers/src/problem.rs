//! The frictional contact problem of one time step, ready to be solved.

use crate::block_matrix::{Block, BlockMatrix, Lanes, Vector3};
use crate::cone::{self, dot};
use crate::couple;
use crate::error::Error;
use crate::one_contact;
use crate::parallel;
use crate::residual::Norm;

/// A diagonal block with a determinant below this fraction of trace^3 counts as singular, and this fraction
/// of its trace is added before inversion: small against a real inertia, large against rounding squared.
const SINGULAR: f64 = 1e-15;
const STIFFENING: f64 = 1e-6;

/// What the three components of a block are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockKind {
    /// Normal and tangents of a contact, on the Coulomb cone.
    #[default]
    Contact,
    /// The couple of the contact before: relative spin about its normal and tangents, times the coefficients of
    /// twisting and rolling friction in metres; in the ball of the normal impulse.
    Couple,
    /// Up to three components of dry friction whose bound is known: in the ball of that radius. Its rule is
    /// that of a couple. A row that is zero stands for none.
    Bounded,
}

/// Find r with u = W r + q and K* ∋ u + mu |u_T| n ⟂ r ∈ K for every contact.
///
/// W in 1/kg (block by block), q and u in m/s, r in N s; any consistent units serve, the residuals are free
/// of them. Vectors are (normal, tangent 1, tangent 2).
#[derive(Debug, Clone, Default)]
pub struct Problem {
    pub(crate) matrix: BlockMatrix,
    pub(crate) free_velocity: Vec<Vector3>,
    pub(crate) friction: Vec<f64>,
    pub(crate) kinds: Vec<BlockKind>,
    /// trace(W_ii) and its inverse, the rho_i of the residual.
    pub(crate) trace: Vec<f64>,
    pub(crate) rho: Vec<f64>,
    /// What a sweep reads of each block, in one place.
    local: Vec<one_contact::Contact>,
    /// sum of rho_i |q_i|^2: the denominator of the energy residual.
    pub(crate) energy_scale: f64,
    /// The norm that decides, its weights, and the denominator of its residual.
    pub(crate) norm: Norm,
    pub(crate) weight: Vec<f64>,
    pub(crate) judged_scale: f64,
}

impl Problem {
    /// From W, the free velocity q and the friction coefficients.
    ///
    /// # Errors
    /// When lengths differ, a number is not finite, a coefficient is negative or a diagonal block has no
    /// positive trace and normal entry.
    pub fn new(
        matrix: BlockMatrix,
        free_velocity: Vec<Vector3>,
        friction: Vec<f64>,
    ) -> Result<Self, Error> {
        let kinds = vec![BlockKind::Contact; friction.len()];
        Self::with_kinds(matrix, free_velocity, friction, kinds)
    }

    /// As [`Problem::new`], with blocks of every kind. The coefficient of a couple is not read, that of a bounded
    /// block is its bound.
    ///
    /// # Errors
    /// As [`Problem::new`], and when a couple follows no contact.
    pub fn with_kinds(
        matrix: BlockMatrix,
        free_velocity: Vec<Vector3>,
        friction: Vec<f64>,
        kinds: Vec<BlockKind>,
    ) -> Result<Self, Error> {
        let mut problem = Self {
            matrix,
            free_velocity,
            friction,
            kinds,
            ..Self::default()
        };
        problem.prepare()?;
        Ok(problem)
    }

    /// The same problem, solutions of which are judged in another norm.
    #[must_use]
    pub fn judged_in(mut self, norm: Norm) -> Self {
        self.norm = norm;
        self.weigh();
        self
    }

    /// Weights and denominator of the norm; that of the energy norm is known already.
    fn weigh(&mut self) {
        let norm = self.norm;
        self.weight.clear();
        self.weight
            .extend(self.trace.iter().map(|&trace| norm.weight(trace)));
        self.judged_scale = match norm {
            Norm::Energy => self.energy_scale,
            _ => (0..self.contacts())
                .map(|i| {
                    dot(&self.free_velocity[i], &self.free_velocity[i])
                        * self.weight[i]
                        * self.rho[i]
                        * self.rho[i]
                })
                .sum(),
        };
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.matrix.contacts()
    }

    /// The Delassus operator W.
    pub fn matrix(&self) -> &BlockMatrix {
        &self.matrix
    }

    /// The free relative velocities q.
    pub fn free_velocity(&self) -> &[Vector3] {
        &self.free_velocity
    }

    /// The friction coefficients mu.
    pub fn friction(&self) -> &[f64] {
        &self.friction
    }

    /// Check the data and derive what every solver needs; called whenever the data has been rewritten.
    pub(crate) fn prepare(&mut self) -> Result<(), Error> {
        self.measure()?;
        let contacts = self.contacts();
        let (diagonal, friction, trace) = (&self.matrix.diagonal, &self.friction, &self.trace);
        parallel::fill(&mut self.local, contacts, |i| one_contact::Contact {
            matrix: diagonal[i].map(Lanes::from),
            inverse: inverse(&diagonal[i], trace[i]).map(Lanes::from),
            mu: friction[i],
            rho: 1.0 / trace[i],
        });
        Ok(())
    }

    /// The same as far as residuals and steps of Newton need it, for which sweeps without W have blocks of their own.
    pub(crate) fn measure(&mut self) -> Result<(), Error> {
        let contacts = self.contacts();
        for (name, found) in [
            ("q", self.free_velocity.len()),
            ("mu", self.friction.len()),
            ("kinds", self.kinds.len()),
        ] {
            if found != contacts {
                return Err(Error::Length {
                    name,
                    found,
                    expected: contacts,
                });
            }
        }
        parallel::first_fault(contacts, |contact| self.check(contact))?;
        let (q, diagonal) = (&self.free_velocity, &self.matrix.diagonal);
        parallel::fill(&mut self.trace, contacts, |i| {
            diagonal[i][0][0] + diagonal[i][1][1] + diagonal[i][2][2]
        });
        let trace = &self.trace;
        parallel::fill(&mut self.rho, contacts, |i| 1.0 / trace[i]);
        let energies = trace.iter().zip(q).map(|(trace, q)| dot(q, q) / trace);
        self.energy_scale = energies.fold(0.0, |sum, energy| sum + energy);
        self.weigh();
        Ok(())
    }

    /// Refuse a contact that is none.
    fn check(&self, contact: usize) -> Result<(), Error> {
        let finite = |name, numbers: &[f64]| match numbers.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(Error::NotFinite {
                name,
                contact,
                value,
            }),
            None => Ok(()),
        };
        let (q, mu) = (&self.free_velocity[contact], self.friction[contact]);
        let diagonal = &self.matrix.diagonal[contact];
        finite("q", q)?;
        finite("mu", &[mu])?;
        finite("W", diagonal.as_flattened())?;
        for (_, block) in self.matrix.column(contact) {
            finite("W", block.as_flattened())?;
        }
        if mu < 0.0 {
            return Err(Error::NegativeFriction { contact, value: mu });
        }
        let kind = self.kinds[contact];
        let follows = contact > 0 && self.kinds[contact - 1] == BlockKind::Contact;
        if kind == BlockKind::Couple && !follows {
            return Err(Error::CoupleAlone { contact });
        }
        let trace = diagonal[0][0] + diagonal[1][1] + diagonal[2][2];
        for (name, value) in [("trace", trace), ("normal entry", diagonal[0][0])] {
            // Written so that a subnormal trace, whose inverse overflows, is refused too.
            // The first row of a couple is zero where there is no twisting friction.
            let needed = kind == BlockKind::Contact || name == "trace";
            if value.is_nan() || (value < f64::MIN_POSITIVE && needed) {
                return Err(Error::Immovable {
                    contact,
                    name,
                    value,
                });
            }
        }
        Ok(())
    }

    /// Radius of the ball that block i lies in; none for a contact, which lies in a cone.
    #[inline(always)]
    pub(crate) fn radius(&self, i: usize, r: &[Lanes]) -> Option<f64> {
        match self.kinds[i] {
            BlockKind::Contact => None,
            BlockKind::Couple => Some(r[i - 1][0]),
            BlockKind::Bounded => Some(self.friction[i]),
        }
    }

    /// The new impulse of block i with all others held, its velocity being `u` now.
    #[inline(always)]
    pub(crate) fn answer(&self, i: usize, r: &[Lanes], u: &Lanes) -> Lanes {
        let (local, own) = (&self.local[i], &r[i]);
        match self.radius(i, r) {
            None => one_contact::solve(local, own, u),
            Some(radius) => {
                let [matrix, inverse] = [&local.matrix, &local.inverse].map(|a| a.map(|x| *x));
                couple::solve(&matrix, &inverse, own, u, radius).into()
            }
        }
    }

    /// y += column i of W times the impulse x.
    #[inline(always)]
    pub(crate) fn add_column(&self, i: usize, x: &Vector3, y: &mut [Lanes]) {
        y[i].add_product(&self.local[i].matrix, x);
        self.matrix.add_others(i, x, y);
    }

    /// The natural map of block i.
    #[inline(always)]
    pub(crate) fn natural_map(&self, i: usize, r: &[Lanes], u: &Vector3, rho: f64) -> Vector3 {
        let Some(radius) = self.radius(i, r) else {
            return cone::natural_map(&r[i], u, self.friction[i], rho);
        };
        let s = &r[i];
        let p = couple::project(&std::array::from_fn(|k| s[k] - rho * u[k]), radius);
        std::array::from_fn(|k| s[k] - p[k])
    }
}

/// Inverse of a diagonal block; of a stiffened one where it is singular. The sweeps use it only to correct
/// r by -inverse u, so that an inexact inverse costs sweeps but leaves no error.
pub(crate) fn inverse(a: &Block, trace: f64) -> Block {
    let mut a = *a;
    let stiffening = stiffening(&a, trace);
    for (k, column) in a.iter_mut().enumerate() {
        column[k] += stiffening;
    }
    let minors = minors(&a);
    let determinant = dot(&a[0], &minors[0]);
    // The minors are the rows of the inverse times the determinant; blocks are stored by columns.
    std::array::from_fn(|j| std::array::from_fn(|i| minors[i][j] / determinant))
}

/// What is added to the diagonal of a block before it is inverted: nothing, unless it is singular.
pub(crate) fn stiffening(a: &Block, trace: f64) -> f64 {
    let singular = dot(&a[0], &minors(a)[0]).abs() <= SINGULAR * trace * trace * trace;
    if singular { STIFFENING * trace } else { 0.0 }
}

fn minors(a: &Block) -> Block {
    [
        cross(&a[1], &a[2]),
        cross(&a[2], &a[0]),
        cross(&a[0], &a[1]),
    ]
}

/// x times y.
#[inline(always)]
pub(crate) fn cross(x: &Vector3, y: &Vector3) -> Vector3 {
    [
        x[1] * y[2] - x[2] * y[1],
        x[2] * y[0] - x[0] * y[2],
        x[0] * y[1] - x[1] * y[0],
    ]
}
