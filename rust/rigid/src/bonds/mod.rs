//! Bonds: faces of bodies that hold together until they break.
//!
//! A bond is a patch of points, each with its share of the area and its own memory. A point with the area A passes the
//! normal force p (pressing is positive) and the shear force t as long as
//!
//! ```text
//! |t| <= (tau / sigma) (p + f sigma A),        f = 1 - damage
//! ```
//!
//! the cone of Coulomb moved along its axis: tension up to sigma A, shear up to tau A where nothing presses, both in a
//! straight line between, and more shear under pressure. Within the cone the two faces do not move; there is no
//! stiffness. So moved, it is the contact problem itself: with the pull C = f sigma A h given to both bodies beforehand
//! the impulse r + C n lies in a cone from the origin (the extrinsic cohesive zones with contact of Collins-Craft,
//! Bourrier and Acary 2022, here with one damage for both modes). Where the edge of the cone is reached the faces open
//! by u_N and slide by u_T, and damage grows by
//!
//! ```text
//! d damage = |(d opening / opening_c, d slide / slide_c)|,   opening_c = 2 G_I / sigma,   slide_c = 2 G_II / tau
//! ```
//!
//! linear softening, whose work until the point is broken is G_I A in tension and G_II A in shear. The strength f of a
//! step is its mean over the damage that the step brings, found by solving again where it differs (`soften`), so that this
//! is the work however far the faces part in a step. Damage never goes back.
//! What has opened does not close again while the point holds (rigid unloading). Without fracture energies a point
//! breaks as soon as it moves: a force limit, which impacts of rigid bodies exceed however small they are, as their
//! forces have no bound. All works are those of the step, P . (u- + u+)/2, booked as `fracture_dissipation_j` (and as
//! friction what pressure adds): a bond gives no energy.
//!
//! Two bodies touch by their bond and by nothing else until its last point is broken; broken points of a bond that still
//! holds elsewhere are contacts under the law of the two groups.

mod patch;

pub(crate) use patch::{BondPoint, find};

use crate::body::Role;
use crate::error::RigidError;
use crate::scene::Scene;
use crate::stored::numbered;

/// What a bond bears.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BondLaw {
    /// Strength in tension sigma [Pa].
    pub tension_pa: f64,
    /// Strength in shear tau [Pa].
    pub shear_pa: f64,
    /// Energy that breaks it in tension G_I [J/m2]; zero: it breaks as soon as it opens.
    pub tension_j_per_m2: f64,
    /// Energy that breaks it in shear G_II [J/m2].
    pub shear_j_per_m2: f64,
}

impl BondLaw {
    /// A bond that breaks as soon as its strength is exceeded.
    pub fn brittle(tension_pa: f64, shear_pa: f64) -> Self {
        Self::tough(tension_pa, shear_pa, 0.0, 0.0)
    }

    /// A bond that takes energy to break.
    pub fn tough(
        tension_pa: f64,
        shear_pa: f64,
        tension_j_per_m2: f64,
        shear_j_per_m2: f64,
    ) -> Self {
        Self {
            tension_pa,
            shear_pa,
            tension_j_per_m2,
            shear_j_per_m2,
        }
    }

    /// Opening and slide at which a point is broken [m]; none for a brittle one.
    pub(crate) fn critical_m(&self) -> Option<[f64; 2]> {
        let tough = self.tension_j_per_m2 > 0.0;
        tough.then(|| {
            [
                2.0 * self.tension_j_per_m2 / self.tension_pa,
                2.0 * self.shear_j_per_m2 / self.shear_pa,
            ]
        })
    }
}

/// Which faces a bond holds together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Those of two bodies, by their indices.
    Bodies([usize; 2]),
    /// Those of every two bodies with contactors of two groups that touch at the start.
    Groups((u16, u16)),
}

/// Faces that hold together.
#[derive(Debug, Clone, PartialEq)]
pub struct Bond {
    /// Its name in messages and tables.
    pub name: String,
    /// Which faces.
    pub between: Between,
    /// What it bears.
    pub law: BondLaw,
    /// How finely the faces are divided, at least 1: points grow with its square.
    pub refinement: u32,
}

impl Bond {
    pub(crate) fn check(&self, scene: &Scene) -> Result<(), RigidError> {
        let wrong = |key, value: f64, allowed| RigidError::Bond {
            bond: self.name.clone(),
            key,
            value,
            allowed,
        };
        let law = &self.law;
        for (key, value) in [("tension_pa", law.tension_pa), ("shear_pa", law.shear_pa)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(wrong(key, value, "finite and > 0"));
            }
        }
        for (key, value) in [
            ("tension_j_per_m2", law.tension_j_per_m2),
            ("shear_j_per_m2", law.shear_j_per_m2),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(wrong(key, value, "finite and >= 0"));
            }
        }
        if (law.tension_j_per_m2 > 0.0) != (law.shear_j_per_m2 > 0.0) {
            let (key, value) = ("shear_j_per_m2", law.shear_j_per_m2);
            return Err(wrong(key, value, "> 0 exactly where tension_j_per_m2 is"));
        }
        if !(1..=32).contains(&self.refinement) {
            let value = f64::from(self.refinement);
            return Err(wrong("refinement", value, "from 1 to 32"));
        }
        if let Between::Bodies(pair) = self.between {
            let what = || format!("bond {}", self.name);
            RigidError::unless_bodies(pair.map(Some), scene.bodies.len(), what)?;
            let moved = |body: usize| matches!(scene.bodies[body].role, Role::Dynamic(_));
            if !pair.into_iter().any(moved) {
                let bond = self.name.clone();
                return Err(RigidError::BondOfTheUnmoved { bond });
            }
        }
        Ok(())
    }
}

/// What a point of a bond remembers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BondMemory {
    /// From 0, intact, to 1, broken; it never falls.
    pub damage: f64,
    /// What the last step added to it.
    pub pace: f64,
    /// How far the faces have opened while it held [m].
    pub opening_m: f64,
    /// How far they have slid [m].
    pub slide_m: f64,
    /// Normal force of the last step, on the second body along the normal from the first [N]: tension is negative.
    pub normal_force_n: f64,
    /// Shear forces along the two tangents [N].
    pub first_shear_n: f64,
    /// The second of them.
    pub second_shear_n: f64,
    /// Whether its faces moved together in the last step. At the start, and after a velocity was set, they need not.
    pub(crate) together: bool,
}

numbered!(BondMemory, 7 {
    damage,
    pace,
    opening_m,
    slide_m,
    normal_force_n,
    first_shear_n,
    second_shear_n,
} and { together });

impl BondMemory {
    /// Whether nothing holds any more.
    pub fn is_broken(&self) -> bool {
        self.damage >= 1.0
    }

    /// Mean share of the strength in a step that adds `pace` to the damage.
    pub(crate) fn strength(&self, pace: f64) -> f64 {
        let left = 1.0 - self.damage;
        if pace <= 0.0 {
            return left;
        }
        let later = (left - pace).max(0.0);
        (left * left - later * later) / (2.0 * pace)
    }
}
