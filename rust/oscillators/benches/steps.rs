//! Nanoseconds a step of central differences on the two frames, beside a bare loop of the same recurrence, and a batch
//! of 10 000 random cases on one thread and on two. Prints the best of several repeats; asserts nothing.

use std::hint::black_box;
use std::time::Instant;

use percuss_laws::{Damping, Law};
use percuss_oscillators::{
    Contact, Damper, Integrator, Node, Settings, Spring, System, simulate, simulate_many,
};

const MASSES: [f64; 2] = [6.0239, 4.9871];
const SPRINGS: [f64; 2] = [287.91, 330.278];
const RATIOS: [f64; 2] = [0.006, 0.0046];
const GAP: f64 = 0.023;
const STIFFNESS: f64 = 2e6;

fn frames(law: Law, restitution: f64, stiffness: f64, start: f64) -> System {
    let nodes = |i: usize| [Node::Mass(i), Node::Base];
    let damper = |i: usize| 2.0 * RATIOS[i] * (SPRINGS[i] * MASSES[i]).sqrt();
    System {
        masses_kg: MASSES.to_vec(),
        springs: (0..2)
            .map(|i| Spring {
                nodes: nodes(i),
                linear_n_per_m: SPRINGS[i],
                cubic_n_per_m3: 0.0,
                law: None,
            })
            .collect(),
        dampers: (0..2)
            .map(|i| Damper {
                nodes: nodes(i),
                viscous_n_s_per_m: damper(i),
                exponent: 1.0,
            })
            .collect(),
        contacts: vec![Contact {
            left: Node::Mass(0),
            right: Node::Mass(1),
            gap_m: GAP,
            law,
            damping: Damping::Nominal,
            restitution,
            stiffness,
        }],
        initial_displacement_m: vec![start, 0.0],
        initial_velocity_m_s: vec![0.0; 2],
        ..System::default()
    }
}

/// The recurrence alone: two frames, Kelvin-Voigt with its tension cut, nothing recorded.
fn bare(dt: f64, steps: u64, start: f64) -> [f64; 2] {
    let log = 0.5_f64.ln();
    let reduced = MASSES[0] * MASSES[1] / (MASSES[0] + MASSES[1]);
    let ratio = -log / (std::f64::consts::PI.powi(2) + log * log).sqrt();
    let contact_damper = 2.0 * ratio * (STIFFNESS * reduced).sqrt();
    let damper = |i: usize| 2.0 * RATIOS[i] * (SPRINGS[i] * MASSES[i]).sqrt();
    let left: [f64; 2] =
        std::array::from_fn(|i| 1.0 / (MASSES[i] / (dt * dt) + damper(i) / (2.0 * dt)));
    let first: [f64; 2] =
        std::array::from_fn(|i| left[i] * (2.0 * MASSES[i] / (dt * dt) - SPRINGS[i]));
    let second: [f64; 2] =
        std::array::from_fn(|i| left[i] * (MASSES[i] / (dt * dt) - damper(i) / (2.0 * dt)));
    let mut u = [start, 0.0];
    let mut before = [
        start + 0.5 * dt * dt * (-SPRINGS[0] * start / MASSES[0]),
        0.0,
    ];
    for _ in 0..steps {
        let d = u[0] - u[1] - GAP;
        let mut next = [
            first[0] * u[0] - second[0] * before[0],
            first[1] * u[1] - second[1] * before[1],
        ];
        if d > 0.0 {
            let rate = (d - (before[0] - before[1] - GAP)) / dt;
            let force = (STIFFNESS * d + contact_damper * rate).max(0.0);
            next[0] -= left[0] * force;
            next[1] += left[1] * force;
        }
        before = u;
        u = next;
    }
    u
}

/// Best time of each of several tasks, s. The tasks take turns and are short, so that on a busy machine each finds a
/// quiet moment, and the same one.
fn best_of_each(repeats: usize, tasks: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; tasks.len()];
    for _ in 0..repeats {
        for (task, best) in tasks.iter_mut().zip(&mut best) {
            let start = Instant::now();
            task();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

fn settings(duration_s: f64, integrator: Integrator) -> Settings {
    let count = (duration_s / 0.02).round() as u32;
    let output_times_s = (0..=count).map(|i| f64::from(i) * 0.02).collect();
    Settings {
        duration_s,
        output_times_s,
        integrator,
    }
}

fn fixed_steps() {
    let (dt, duration) = (1e-5_f64, 2.0);
    let steps = (duration / dt).round() as u64;
    let system = frames(Law::KelvinVoigt, 0.5, STIFFNESS, -0.04);
    let schemes = [
        Integrator::CentralDifference { step_s: dt },
        Integrator::Newmark { step_s: dt },
        Integrator::RungeKutta { step_s: dt },
    ]
    .map(|integrator| settings(duration, integrator));
    let mut tasks: Vec<Box<dyn FnMut()>> = vec![Box::new(|| {
        black_box(bare(black_box(dt), steps, black_box(-0.04)));
    })];
    for settings in &schemes {
        tasks.push(Box::new(|| {
            black_box(simulate(black_box(&system), settings).expect("a valid system"));
        }));
    }
    let best = best_of_each(150, &mut tasks);
    println!(
        "bare central-difference loop      {:8.2} ns a step",
        best[0] / steps as f64 * 1e9
    );
    for (settings, time) in schemes.iter().zip(&best[1..]) {
        let (name, ns) = (settings.integrator.name(), time / steps as f64 * 1e9);
        println!(
            "{name:<33} {ns:8.2} ns a step, {:.2} x the bare loop",
            time / best[0]
        );
    }
    let run = simulate(&system, &schemes[0]).expect("a valid system");
    let plain = bare(dt, steps, -0.04);
    let last = &run.displacement_m[run.displacement_m.len() - 2..];
    let apart = (last[0] - plain[0]).abs().max((last[1] - plain[1]).abs());
    println!("same motion as the bare loop to   {apart:8.1e} m");
}

fn event_runs() {
    let event = settings(12.0, Integrator::Event);
    for law in [Law::KelvinVoigt, Law::Ye, Law::Rigid] {
        let system = frames(law, 0.5, STIFFNESS, -0.04);
        let task = Box::new(|| {
            black_box(simulate(black_box(&system), &event).expect("a valid system"));
        });
        let best = best_of_each(50, &mut [task]);
        println!(
            "event, 12 s at 20 ms, {:<11} {:8.1} us a run",
            law.name(),
            best[0] * 1e6
        );
    }
}

fn batch() {
    // Weyl sequences: spread over the box, the same in every run
    let spread = |i: usize, k: f64| (i as f64 * k).fract();
    let systems: Vec<System> = (0..10_000)
        .map(|i| {
            let restitution = 0.2 + 0.7 * spread(i, 0.754_877_666);
            let stiffness = 1e5 * 200_f64.powf(spread(i, 0.569_840_291));
            frames(
                Law::KelvinVoigt,
                restitution,
                stiffness,
                -0.03 - 0.02 * spread(i, 0.362_5),
            )
        })
        .collect();
    let settings = Settings {
        duration_s: 12.0,
        output_times_s: vec![],
        integrator: Integrator::Event,
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let runs = pool.install(|| simulate_many(&systems, &settings, || true));
        assert!(black_box(runs).iter().all(Result::is_ok));
    };
    let best = best_of_each(3, &mut [Box::new(|| run(1)), Box::new(|| run(2))]);
    let (one, two) = (best[0], best[1]);
    println!(
        "10 000 runs of 12 s, event        {one:8.2} s on one thread, {two:.2} s on two: {:.2} x",
        one / two
    );
}

fn main() {
    fixed_steps();
    event_runs();
    batch();
}
