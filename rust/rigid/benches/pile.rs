//! Spheres poured into a box until they lie still: contacts, steps, overlaps and residuals of a large pile.
//!
//! `cargo bench -p percuss-rigid --bench pile` takes 1000 spheres, `... --bench pile 100000` as many as asked for. Times are
//! by the clock, on all cores.

use percuss_rigid::*;
use std::time::Instant;

/// Mean radius [m], and by how much of it radii differ.
const RADIUS_M: f64 = 0.05;
const SPREAD: f64 = 0.2;
const DENSITY_KG_PER_M3: f64 = 2500.0;
const FRICTION: f64 = 0.5;
/// Steps, and rows of the table [s].
const STEP_S: f64 = 4e-3;
const ROW_S: f64 = 0.1;
/// The pile lies still once its kinetic energy is this share of the largest.
const STILL: f64 = 1e-5;
const LONGEST_S: f64 = 5.0;

fn settings() -> Settings {
    Settings {
        threads: 0,
        // What the fastest sphere falls in a step: contacts end at touch.
        look_ahead_m: 0.02,
        tolerance: 1e-3,
        // Sweeps only, and no more than this in a step: what they leave is told, and is less in the steps that follow.
        max_iterations: 300,
        max_factorisations: 0,
        ..Settings::with_step(STEP_S)
    }
}

/// Numbers in [0, 1) that look random (Steele, Lea and Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Spheres on a loose grid a quarter as high as wide, in a box.
fn pile(bodies: usize) -> Scene {
    let mut scene = Scene::default();
    let pitch = 2.0 * RADIUS_M * (1.0 + SPREAD) * 1.02;
    let across = ((bodies as f64 * 4.0).cbrt().ceil()) as usize;
    let width = across as f64 * pitch;
    let height = width;
    let walls = scene.add_body(Body::fixed("box"));
    let slab = |scene: &mut Scene, size: [f64; 3], at: [f64; 3]| {
        let shape = Shape::cuboid(size[0], size[1], size[2]).expect("a slab");
        scene.add_contactor(walls, shape, Pose::translation(at[0], at[1], at[2]), 0);
    };
    let (middle, out) = (0.5 * width, 0.5 * width + 0.5);
    let wide = width + 2.0;
    slab(&mut scene, [wide, wide, 1.0], [middle, middle, -0.5]);
    for side in [-1.0, 1.0] {
        let x = middle + side * out;
        slab(&mut scene, [1.0, wide, height], [x, middle, 0.5 * height]);
        slab(&mut scene, [wide, 1.0, height], [middle, x, 0.5 * height]);
    }
    for groups in [(0, 1), (1, 1)] {
        scene.add_law(ContactLaw::new(groups, 0.0, FRICTION));
    }
    let mut random = SplitMix(1);
    for k in 0..bodies {
        let cell = [k % across, k / across % across, k / (across * across)];
        let radius = RADIUS_M * (1.0 + SPREAD * (2.0 * random.next() - 1.0));
        let free = 0.5 * pitch - radius;
        let at = cell.map(|c| (c as f64 + 0.5) * pitch + free * (2.0 * random.next() - 1.0));
        let place = Pose::translation(at[0], at[1], at[2]);
        let mass = DENSITY_KG_PER_M3 * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        let body = scene.add_body(Body::dynamic("sphere", Mass::Total(mass)).at(place));
        let shape = Shape::sphere(radius).expect("a sphere");
        scene.add_contactor(body, shape, Pose::identity(), 1);
    }
    scene
}

/// What some steps came to.
#[derive(Default)]
struct Row {
    contacts: usize,
    islands: usize,
    sweeps: usize,
    unmet: usize,
    residual: f64,
    overlap_m: f64,
}

impl Row {
    fn count(&mut self, report: &StepReport) {
        (self.contacts, self.islands) = (report.contacts, report.islands);
        self.sweeps += report.iterations;
        self.unmet += usize::from(!report.met);
        self.residual = self.residual.max(report.residual);
        self.overlap_m = self.overlap_m.max(report.overlap_m);
    }
}

/// Largest memory of this process [MB], where Linux tells it.
fn memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kb: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb / 1024.0)
}

fn main() {
    let argument = std::env::args().nth(1).and_then(|arg| arg.parse().ok());
    let bodies = argument.unwrap_or(1000);
    let start = Instant::now();
    let mut world = World::new(pile(bodies), settings()).expect("a good scene");
    let (took, begun) = (start.elapsed().as_secs_f64(), Instant::now());
    println!("\n{bodies} spheres fall into a box, set up in {took:.2} s");
    println!(
        "{:>6} {:>9} {:>8} {:>10} {:>12} {:>6} {:>6} {:>10} {:>12}",
        "t [s]",
        "contacts",
        "islands",
        "ms a step",
        "kinetic [J]",
        "sweeps",
        "unmet",
        "residual",
        "overlap [m]"
    );
    let (mut largest_j, mut worst) = (0.0_f64, Row::default());
    let per_row = (ROW_S / STEP_S).round() as usize;
    while world.time_s() < LONGEST_S {
        let (start, mut row) = (Instant::now(), Row::default());
        for _ in 0..per_row {
            let report = world.step().expect("finite");
            row.count(&report);
            worst.count(&report);
            largest_j = largest_j.max(world.energy().kinetic_j);
        }
        let kinetic_j = world.energy().kinetic_j;
        println!(
            "{:>6.2} {:>9} {:>8} {:>10.2} {:>12.3e} {:>6} {:>6} {:>10.1e} {:>12.1e}",
            world.time_s(),
            row.contacts,
            row.islands,
            start.elapsed().as_secs_f64() * 1e3 / per_row as f64,
            kinetic_j,
            row.sweeps / per_row,
            row.unmet,
            row.residual,
            row.overlap_m
        );
        if kinetic_j < STILL * largest_j {
            break;
        }
    }
    println!(
        "  {} steps in {:.0} s, {} unmet, worst residual {:.1e}, deepest overlap {:.1e} m, memory {:.0} MB, energy balance \
         closes to {:.0e} of the largest kinetic energy, {:.3e} J",
        world.steps(),
        begun.elapsed().as_secs_f64(),
        worst.unmet,
        worst.residual,
        worst.overlap_m,
        memory_mb().unwrap_or(f64::NAN),
        world.energy().closing_error_j().abs() / largest_j,
        largest_j
    );
}
