//! What drives each edge of the cell: a strain rate, or a servo that keeps a stress.
//!
//! The servo sets the rate of an edge so that the stress would reach its goal in TIME steps if the packing were elastic
//! with the stiffness K of its contacts (their affine response): rate = (stress - goal) / (K TIME dt), within a limit.

/// Over how many steps the servo spreads a correction: slower than a wave through a few grains, so that it does not
/// drive the packing's own oscillations.
const TIME: f64 = 8.0;

/// Control of one axis. Strains are logarithmic and positive in compression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// A strain rate, 1/s.
    Rate(f64),
    /// A stress to keep, Pa, positive in compression.
    Stress(f64),
}

/// Controls of the three axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Servo {
    /// Of x, y and z.
    pub axes: [Axis; 3],
    /// The servo's largest rate, 1/s.
    pub most_per_s: f64,
}

impl Servo {
    /// Stretching rates of the edges, 1/s (positive: longer), from stresses and stiffnesses (Pa).
    pub(crate) fn rates(&self, stress_pa: [f64; 3], stiffness_pa: [f64; 3], dt_s: f64) -> [f64; 3] {
        let mut rates = [0.0; 3];
        for k in 0..3 {
            rates[k] = match self.axes[k] {
                Axis::Rate(rate) => -rate,
                Axis::Stress(goal) => {
                    // Without contacts there is no stiffness: then the goal alone sets the scale.
                    let stiffness = stiffness_pa[k].max(30.0 * goal.abs());
                    let wanted = (stress_pa[k] - goal) / (stiffness * TIME * dt_s);
                    wanted.clamp(-self.most_per_s, self.most_per_s)
                }
            };
        }
        rates
    }

    /// Largest distance of a kept stress from its goal, over the goal.
    pub fn off(&self, stress_pa: [f64; 3]) -> f64 {
        let mut worst = 0.0_f64;
        for k in 0..3 {
            if let Axis::Stress(goal) = self.axes[k] {
                worst = worst.max((stress_pa[k] - goal).abs() / goal.abs().max(1e-300));
            }
        }
        worst
    }
}
