//! Solids on joints of every kind that rub, among contacts that rub, roll and twist.

mod common;
#[path = "common/linkages.rs"]
mod linkages;

use common::random::{Random, rain};
use common::*;
use linkages::joint;
use percuss_rigid::*;
use proptest::prelude::*;

/// Eight mixed solids above the ground, some neighbours joined, with dry friction in up to all coordinates.
fn linkage(seed: u64, law: impl Fn((u16, u16)) -> ContactLaw) -> Scene {
    let mut scene = rain(seed, 2, 2, law);
    let mut random = Random(seed.wrapping_mul(31));
    // The solids stand in two layers of two by two, after the ground.
    for [a, b] in [[1, 2], [2, 4], [4, 3], [5, 7], [1, 5], [6, 8]] {
        if random.unit() < 0.4 {
            continue;
        }
        let (name, kind) = JointKind::TABLE[(8.0 * random.unit()) as usize];
        let [from, to] = [a, b].map(|body: usize| scene.bodies[body].pose.position);
        let axis = random.vector(-1.0, 1.0).normalize();
        let bodies = [Some(a), Some(b)];
        let mut made = joint(
            &scene,
            &format!("{name} {a}"),
            kind,
            bodies,
            (from + to) * 0.5,
            axis,
        );
        if kind == JointKind::Distance {
            made.frames = [Pose::identity(); 2];
        }
        for (coordinate, _) in kind.coordinates() {
            if random.unit() < 0.7 {
                made = made.rubbing(coordinate, random.between(0.0, 20.0), 0.0);
            }
        }
        scene.joints.push(made);
    }
    scene
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Every step is met, joints hold, the account closes, and nothing adds energy but the booked projection and a joint that
    /// turns back within a step: its friction opposes the end of the step, and hardly any of the dissipation is given back.
    #[test]
    fn linkages_that_rub_and_roll_are_solved_in_every_step(
        seed in 0_u64..1_000_000, e in 0.0..1.0_f64, mu in 0.0..1.0_f64, rolling in 0.001..0.05_f64, twisting in 0.001..0.05_f64,
    ) {
        let law = |groups| ContactLaw::fremond(groups, e, mu).with_couple(rolling, twisting);
        let settings = Settings { max_factorisations: 2000, ..Settings::with_step(2e-3) };
        let mut world = World::new(linkage(seed, law), settings).unwrap();
        let scale = world.energy().mechanical_j();
        for _ in 0..400 {
            let before = *world.energy();
            let report = world.step().unwrap();
            prop_assert!(report.met, "{report:?}");
            let after = world.energy();
            let rise = after.mechanical_j() - before.mechanical_j();
            let booked = (after.stabilisation_work_j - before.stabilisation_work_j).max(0.0);
            let flagged = after.contact_gain_j - before.contact_gain_j;
            // The contact problem is solved to 1e-6.
            prop_assert!(rise <= booked + flagged + 1e-6 * scale, "step {}: {rise:e} {booked:e}", report.step);
            prop_assert!(world.drift() < 1e-10, "{:e}", world.drift());
        }
        let e = world.energy();
        prop_assert!(e.contact_gain_j <= 1e-3 * e.friction_dissipation_j, "{e:?}");
        prop_assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
    }
}
