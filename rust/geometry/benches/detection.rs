//! Time of one pair of each kind, of one step of a rockfall wall (42 blocks, 100 bars, one boulder),
//! and of heaps of growing size: `cargo bench -p percuss-geometry`. Pairs: least of many repeats; steps: mean time on
//! the processor.

use percuss_geometry::{
    ContactPoint, Contactor, Detector, Pose, Shape, Vec3, Visibility, Workspace, contact_points,
};
use std::hint::black_box;
use std::time::Instant;

/// Least time of one call in nanoseconds, over many short batches: on a busy machine some of them
/// run undisturbed.
fn least_ns(mut run: impl FnMut()) -> f64 {
    (0..200)
        .map(|_| {
            let start = Instant::now();
            (0..50).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / 50.0
        })
        .fold(f64::INFINITY, f64::min)
}

/// Time this thread has spent on a processor [us]: what others do on a busy machine does not count.
/// Where the system does not tell, the clock on the wall.
fn busy_us(since: &Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = told.split(' ').next().and_then(|x| x.parse::<f64>().ok());
    ns.unwrap_or_else(|| since.elapsed().as_nanos() as f64) / 1000.0
}

fn boulder(half: f64) -> Shape {
    let mut points = Vec::new();
    for k in 0..24 {
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let mut p = [
            0.55 * half * sign(0),
            0.55 * half * sign(1),
            0.55 * half * sign(2),
        ];
        p[k / 8] = half * sign(k / 8);
        points.push(Vec3::from(p));
    }
    Shape::polyhedron(&points).unwrap()
}

fn pairs() {
    let sphere = Shape::sphere(0.4).unwrap();
    let cube = Shape::cuboid(0.8, 0.8, 0.8).unwrap();
    let drum = Shape::cylinder(0.38, 0.8).unwrap();
    let pin = Shape::cylinder(0.06985, 0.8).unwrap();
    let capsule = Shape::capsule(0.2, 0.4).unwrap();
    let cone = Shape::cone(0.4, 0.8).unwrap();
    let ring = Shape::ring(0.077, 0.12, 0.05).unwrap();
    let rock = boulder(0.4);
    let ground = Shape::half_space();
    let on = |z: f64| Pose::new(Vec3::new(0.05, 0.03, z), Vec3::new(1e-5, -2e-5, 0.4));
    let tilted = |x: f64, z: f64| Pose::new(Vec3::new(x, 0.03, z), Vec3::new(0.5, -0.6, 0.4));
    let lower = |z: f64| Pose::translation(0.0, 0.0, z);
    let table: Vec<(&str, &Shape, &Shape, Pose, Pose)> = vec![
        ("sphere-sphere", &sphere, &sphere, lower(0.0), on(0.79)),
        ("sphere-half-space", &sphere, &ground, on(0.399), lower(0.0)),
        ("sphere-box", &sphere, &cube, on(0.799), lower(0.0)),
        ("sphere-cylinder", &sphere, &drum, on(0.799), lower(0.0)),
        ("sphere-polyhedron", &sphere, &rock, on(0.8), lower(0.0)),
        ("box-half-space", &cube, &ground, on(0.4), lower(0.0)),
        ("box-box face", &cube, &cube, lower(0.0), on(0.8)),
        ("box-box edge", &cube, &cube, lower(0.0), tilted(0.0, 1.0)),
        ("box-box far", &cube, &cube, lower(0.0), on(0.9)),
        ("cylinder-half-space", &drum, &ground, on(0.4), lower(0.0)),
        ("cylinder-cylinder end", &drum, &drum, lower(0.0), on(0.8)),
        (
            "cylinder-cylinder side",
            &drum,
            &drum,
            lower(0.0),
            Pose::translation(0.76, 0.0, 0.1),
        ),
        (
            "cylinder-cylinder rim",
            &drum,
            &drum,
            lower(0.0),
            tilted(0.0, 0.9511),
        ),
        ("cylinder-box face", &drum, &cube, on(0.8), lower(0.0)),
        (
            "cylinder-box rim",
            &drum,
            &cube,
            tilted(0.0, 0.9511),
            lower(0.0),
        ),
        (
            "cylinder-ring",
            &pin,
            &ring,
            Pose::translation(0.0071, 0.0, 0.1),
            lower(0.0),
        ),
        (
            "capsule-capsule",
            &capsule,
            &capsule,
            lower(0.0),
            tilted(0.38, 0.0),
        ),
        ("capsule-box", &capsule, &cube, tilted(0.0, 0.8), lower(0.0)),
        ("cone-cylinder", &cone, &drum, on(0.8), lower(0.0)),
        ("polyhedron-half-space", &rock, &ground, on(0.4), lower(0.0)),
        ("polyhedron-box face", &cube, &rock, lower(0.0), on(0.8)),
        (
            "polyhedron-cylinder side",
            &drum,
            &rock,
            lower(0.0),
            Pose::translation(0.779, 0.0, 0.1),
        ),
        (
            "polyhedron-polyhedron",
            &rock,
            &rock,
            lower(0.0),
            tilted(0.1, 0.888),
        ),
    ];
    let mut work = Workspace::default();
    let mut list: Vec<ContactPoint> = Vec::new();
    println!("{:<26}{:>8}{:>12}", "pair", "points", "ns");
    for (name, a, b, pa, pb) in table {
        let (fa, fb) = (pa.frame(), pb.frame());
        let ns = least_ns(|| {
            list.clear();
            contact_points(
                black_box((a, &fa)),
                black_box((b, &fb)),
                0.01,
                &mut work,
                &mut list,
            );
        });
        println!("{name:<26}{:>8}{ns:>12.0}", list.len());
    }
}

/// The wall: axes on a trapezoidal wave, bricks of two end cylinders and a middle, hollow disks in the
/// holes, bars with their sling boxes and spheres, ground, boulder.
fn wall() -> (Vec<Contactor>, Vec<Pose>, Vec<bool>) {
    let mut axes = vec![Vec3::zeros()];
    for k in 0..19 {
        let turn = if k % 2 == 0 {
            0.0
        } else {
            [0.785, -0.785][k / 2 % 2]
        };
        axes.push(axes[k] + Vec3::new(f64::sin(turn), f64::cos(turn), 0.0) * 0.8);
    }
    let (mut contactors, mut poses) = (Vec::new(), Vec::new());
    let end = Shape::cylinder(0.38, 0.8).unwrap();
    let middle = Shape::cuboid(0.76, 0.8, 0.8).unwrap();
    let disk = Shape::ring(0.077, 0.1, 0.03).unwrap();
    for row in 0..4 {
        let z = 0.4 + 0.8 * f64::from(row);
        let first = row as usize % 2;
        let mut spans: Vec<(usize, usize)> = (first..19).step_by(2).map(|i| (i, i + 1)).collect();
        if first == 1 {
            spans.extend([(0, 0), (19, 19)]);
        }
        for (i, j) in spans {
            let body = poses.len() as u32;
            let centre = (axes[i] + axes[j]) * 0.5 + Vec3::new(0.0, 0.0, z);
            let along = axes[j] - axes[i];
            let yaw = if i == j {
                0.0
            } else {
                (-along.x).atan2(along.y)
            };
            poses.push(Pose::new(centre, Vec3::new(0.0, 0.0, yaw)));
            let mut put = |shape: &Shape, y: f64, z: f64, group: u16| {
                let pose = Pose::translation(0.0, y, z);
                contactors.push(Contactor {
                    body,
                    shape: shape.clone(),
                    pose,
                    group,
                });
            };
            if i != j {
                put(&middle, 0.0, 0.0, 0);
            }
            for y in if i == j { vec![0.0] } else { vec![-0.4, 0.4] } {
                put(&end, y, 0.0, 1);
                put(&disk, y, -0.4 + 0.068, 5);
                put(&disk, y, 0.4 - 0.068, 5);
            }
        }
    }
    for axis in &axes {
        for k in 0..5 {
            let (length, z) = match k {
                0 => (0.4, 0.2),
                4 => (0.4, 3.0),
                _ => (0.8, 0.8 * f64::from(k)),
            };
            let body = poses.len() as u32;
            poses.push(Pose {
                position: axis + Vec3::new(0.004, 0.002, z),
                ..Pose::identity()
            });
            let d = 0.1397;
            let mut put = |shape: Shape, z: f64, group: u16| {
                contactors.push(Contactor {
                    body,
                    shape,
                    pose: Pose::translation(0.0, 0.0, z),
                    group,
                });
            };
            put(
                Shape::cylinder(0.06985, length).unwrap(),
                0.0,
                2 + k as u16 % 2,
            );
            put(
                Shape::cuboid(2.5 * d, 2.5 * d, 0.05).unwrap(),
                length / 2.0 + 0.1,
                6,
            );
            put(
                Shape::cuboid(1.5 * d, 1.5 * d, 0.05).unwrap(),
                length / 2.0 - 0.1,
                4,
            );
            put(Shape::sphere(0.5 * d).unwrap(), -length / 2.0 + 0.0001, 7);
        }
    }
    // The boulder just touches the most forward of the blocks before it.
    let middle = (axes[9] + axes[10]) * 0.5;
    let near = axes.iter().filter(|a| (a.y - middle.y).abs() < 0.9);
    let front = near.map(|a| a.x).fold(f64::INFINITY, f64::min) - 0.38;
    let boulder_at = Vec3::new(front - 0.55 + 1e-4, middle.y, 1.7);
    contactors.push(Contactor {
        body: poses.len() as u32,
        shape: boulder(0.55),
        pose: Pose::identity(),
        group: 8,
    });
    poses.push(Pose {
        position: boulder_at,
        ..Pose::identity()
    });
    let mut fixed = vec![false; poses.len()];
    contactors.push(Contactor {
        body: poses.len() as u32,
        shape: Shape::half_space(),
        pose: Pose::identity(),
        group: 9,
    });
    poses.push(Pose::identity());
    fixed.push(true);
    (contactors, poses, fixed)
}

/// Moves every free body by a little, as a step of an impact would.
fn shake(poses: &mut [Pose], fixed: &[bool], step: usize) {
    for (i, pose) in poses.iter_mut().enumerate().filter(|(i, _)| !fixed[*i]) {
        let phase = 0.37 * i as f64 + 0.1 * step as f64;
        pose.position += Vec3::new(
            2e-5 * phase.sin(),
            2e-5 * phase.cos(),
            1e-6 * (2.0 * phase).sin(),
        );
    }
}

fn time_steps(
    name: &str,
    contactors: Vec<Contactor>,
    mut poses: Vec<Pose>,
    fixed: &[bool],
    groups: &[(u16, u16)],
    steps: usize,
) -> f64 {
    let count = contactors.len();
    let mut detector =
        Detector::new(contactors, fixed, Visibility::new(groups).unwrap(), 2e-3).unwrap();
    let clock = Instant::now();
    let mut total = 0.0;
    for step in 0..steps {
        shake(&mut poses, fixed, step);
        let start = busy_us(&clock);
        detector.update(&poses).unwrap();
        total += busy_us(&clock) - start;
    }
    let mean = total / steps as f64;
    println!(
        "{name:<14}{count:>6} contactors {:>7} pairs tested {:>6} in contact {:>7} points {mean:>9.1} us a step",
        detector.tested_pairs(),
        detector.manifolds().len(),
        detector.points().len(),
    );
    mean / detector.tested_pairs() as f64
}

fn heap(side: i32) -> (Vec<Contactor>, Vec<Pose>, Vec<bool>) {
    let (mut contactors, mut poses) = (Vec::new(), Vec::new());
    for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                let body = poses.len() as u32;
                poses.push(Pose::translation(
                    f64::from(i) * 1.001,
                    f64::from(j) * 1.001,
                    0.5 + f64::from(k),
                ));
                let shape = Shape::cuboid(1.0, 1.0, 1.0).unwrap();
                contactors.push(Contactor {
                    body,
                    shape,
                    pose: Pose::identity(),
                    group: 0,
                });
            }
        }
    }
    let mut fixed = vec![false; poses.len()];
    contactors.push(Contactor {
        body: poses.len() as u32,
        shape: Shape::half_space(),
        pose: Pose::identity(),
        group: 0,
    });
    poses.push(Pose::identity());
    fixed.push(true);
    (contactors, poses, fixed)
}

fn main() {
    pairs();
    let (contactors, poses, fixed) = wall();
    let laws = [
        (1, 9),
        (2, 9),
        (1, 1),
        (2, 5),
        (3, 5),
        (6, 7),
        (4, 7),
        (0, 8),
        (1, 8),
        (8, 9),
    ];
    time_steps("rockfall wall", contactors, poses, &fixed, &laws, 2000);
    let mut per_pair = Vec::new();
    for side in [5, 10, 21] {
        let (contactors, poses, fixed) = heap(side);
        per_pair.push(time_steps(
            "heap of boxes",
            contactors,
            poses,
            &fixed,
            &[(0, 0)],
            30,
        ));
    }
    println!(
        "time per tested pair, largest heap over middle one: {:.2}",
        per_pair[2] / per_pair[1]
    );
}
