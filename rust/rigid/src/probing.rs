//! What probes gather from step to step, and the rows they write.

use crate::probe::{Probe, ProbeKind};
use crate::stored::stored;
use crate::table::Table;
use crate::world::{Moving, World};
use percuss_geometry::Vec3;

/// What a probe has gathered since its last row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Gathered {
    pub(crate) steps: u64,
    /// Of a point and its body, at the start of the step; not kept from step to step.
    pub(crate) velocity: Vec3,
    pub(crate) turning: Vec3,
    /// Coordinates of a joint, angles counted over turns.
    pub(crate) coordinates: [f64; 3],
    pub(crate) force: Vec3,
    pub(crate) torque: Vec3,
}

stored!(Gathered {
    steps,
    velocity,
    turning,
    coordinates,
    force,
    torque
});

impl World {
    /// Where the centre of mass of a body was when impulses last acted.
    fn middle_of(&self, body: usize) -> Vec3 {
        match &self.stepper {
            Moving::Nonsmoothly(nonsmooth) => nonsmooth.centre(body),
            Moving::Smoothly(_) => self.state.bodies[body].position,
        }
    }

    /// Adds the last step's contacts to what a probe has gathered.
    pub(crate) fn gather(&self, probe: &Probe, gathered: &mut Gathered) {
        gathered.steps += 1;
        match probe.kind {
            ProbeKind::Point { .. } => {}
            ProbeKind::Joint { joint } => {
                let coordinates = self.setup.scene.joints[joint].kind.coordinates();
                for ((_, row), last) in coordinates.iter().zip(&mut gathered.coordinates) {
                    *last += row.difference(self.coordinate(joint, *row).0, *last);
                }
            }
            ProbeKind::BodyContacts { body } => {
                let centre = self.middle_of(body);
                for c in &self.state.contacts {
                    for (side, sign) in [(0, -1.0), (1, 1.0)] {
                        if c.bodies[side] as usize == body {
                            let impulse = c.impulse_n_s * sign;
                            gathered.force += impulse;
                            gathered.torque +=
                                (c.position - centre).cross(&impulse) + c.couple_n_m_s * sign;
                        }
                    }
                }
            }
            ProbeKind::LawContacts { law } => {
                for c in self.state.contacts.iter().filter(|c| c.law as usize == law) {
                    let p = c.local(&c.impulse_n_s);
                    gathered.force += Vec3::new(p[0], p[1].hypot(p[2]), 0.0);
                }
            }
        }
    }

    pub(crate) fn write_probe(&self, probe: &Probe, gathered: &Gathered, table: &mut Table) {
        let t = self.time_s();
        let span = gathered.steps as f64 * self.setup.settings.dt_s;
        let per_second = if span > 0.0 { 1.0 / span } else { 0.0 };
        match &probe.kind {
            ProbeKind::Point { body, point_m } => {
                let pose = self.pose(*body);
                let (p, q) = (pose.point(point_m), pose.rotation);
                let (v, w) = (
                    self.point_velocity(*body, point_m),
                    self.angular_velocity(*body),
                );
                let per_step = 1.0 / self.setup.settings.dt_s;
                let (a, b) = match self.point_acceleration(*body, point_m) {
                    Some(found) => found,
                    None if gathered.steps > 0 => (
                        (v - gathered.velocity) * per_step,
                        (w - gathered.turning) * per_step,
                    ),
                    None => (Vec3::zeros(), Vec3::zeros()),
                };
                table.push(&[
                    t, p.x, p.y, p.z, q.w, q.i, q.j, q.k, v.x, v.y, v.z, w.x, w.y, w.z, a.x, a.y,
                    a.z, b.x, b.y, b.z,
                ]);
            }
            ProbeKind::Joint { joint } => {
                let mut row = vec![t];
                let coordinates = self.setup.scene.joints[*joint].kind.coordinates();
                for ((_, coordinate), last) in coordinates.iter().zip(&gathered.coordinates) {
                    let (value, rate) = self.coordinate(*joint, *coordinate);
                    row.extend([last + coordinate.difference(value, *last), rate]);
                }
                row.extend(self.reaction(*joint));
                table.push(&row);
            }
            ProbeKind::BodyContacts { body } => {
                let (f, m) = (gathered.force * per_second, gathered.torque * per_second);
                let body = *body as u32;
                let count = self
                    .state
                    .contacts
                    .iter()
                    .filter(|c| c.bodies.contains(&body))
                    .count();
                table.push(&[t, f.x, f.y, f.z, m.x, m.y, m.z, count as f64]);
            }
            ProbeKind::LawContacts { law } => {
                let f = gathered.force * per_second;
                let work = &self.state.pair_work[*law];
                let count = self
                    .state
                    .contacts
                    .iter()
                    .filter(|c| c.law as usize == *law)
                    .count();
                table.push(&[
                    t,
                    count as f64,
                    f.x,
                    f.y,
                    work.impact_dissipation_j,
                    work.friction_dissipation_j,
                ]);
            }
        }
    }
}
