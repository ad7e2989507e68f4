//! Newton's and Euler's equations of spheres, with Cundall's damping, and the cell.
//!
//! Damping takes away the share `d` of every component of force that does work on its grain and adds it to every one
//! that takes work from it: d |F| |v| dt of energy a step.

use nalgebra::Vector3;

use crate::world::World;

impl World {
    /// Velocities, positions and the cell, after forces and rates are known.
    pub(crate) fn integrate(&mut self) {
        let (dt, damping) = (self.dt_s, self.damping);
        let stretch = Vector3::from(self.rates).map(|rate| 1.0 + rate * dt);
        let carried = if self.walls.is_none() {
            stretch
        } else {
            Vector3::repeat(1.0)
        };
        let mut fastest = 0.0_f64;
        let mut lost = 0.0;
        for ((body, loads), &inverse) in self
            .bodies
            .iter_mut()
            .zip(&self.loads)
            .zip(&self.inverse_mass)
        {
            let inverse_inertia = 2.5 * inverse / (body.radius * body.radius);
            for k in 0..3 {
                let (v, l) = damped(loads.force[k], body.velocity[k], inverse, damping, dt);
                body.velocity[k] = v;
                let (w, m) = damped(loads.torque[k], body.spin[k], inverse_inertia, damping, dt);
                body.spin[k] = w;
                lost += l + m;
            }
            fastest = fastest.max(body.velocity.norm_squared());
            body.position = (body.position + body.velocity * dt).component_mul(&carried);
        }
        for (turned, body) in self.turned.iter_mut().zip(&self.bodies) {
            *turned += body.spin * dt;
        }
        self.damped_j += lost;
        self.cell.component_mul_assign(&stretch);
        let strained = self.rates.iter().fold(0.0_f64, |a, r| a.max(r.abs())) * dt;
        self.drift += fastest.sqrt() * dt + strained * self.largest_m;
    }
}

/// New velocity, and the energy that damping took.
#[inline(always)]
fn damped(force: f64, velocity: f64, inverse: f64, damping: f64, dt: f64) -> (f64, f64) {
    let middle = velocity + 0.5 * dt * force * inverse;
    let drag = (damping * force.abs()).copysign(middle);
    let drag = if middle == 0.0 { 0.0 } else { drag };
    let new = velocity + (force - drag) * inverse * dt;
    (new, drag * 0.5 * (velocity + new) * dt)
}
