//! Random poses, and the signed gap by search over directions: the oracle of the pair tests.

use percuss_geometry::{ContactPoint, Frame, Pose, Quat, Shape, Vec3, Workspace, contact_points};

/// A small generator (splitmix64): the tests must see the same poses on every machine.
pub struct Stream(pub u64);

impl Stream {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::from_fn(|_, _| self.between(-1.0, 1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        Quat::from_scaled_axis(self.direction() * self.between(0.0, 3.1))
    }

    pub fn pose(&mut self, reach: f64) -> Pose {
        Pose {
            position: Vec3::from_fn(|_, _| self.between(-reach, reach)),
            rotation: self.rotation(),
        }
    }
}

pub fn points(a: &Shape, pa: &Pose, b: &Shape, pb: &Pose, margin: f64) -> Vec<ContactPoint> {
    let mut list = Vec::new();
    let (fa, fb) = (pa.frame(), pb.frame());
    contact_points(
        (a, &fa),
        (b, &fb),
        margin,
        &mut Workspace::default(),
        &mut list,
    );
    list
}

fn world_support(shape: &Shape, frame: &Frame, d: &Vec3) -> Vec3 {
    frame.point(&shape.support(&frame.local_vector(d)).unwrap())
}

/// Separation along `n`, from A to B.
pub fn along(a: &Shape, pa: &Pose, b: &Shape, pb: &Pose, n: &Vec3) -> f64 {
    let (fa, fb) = (pa.frame(), pb.frame());
    n.dot(&(world_support(b, &fb, &-n) - world_support(a, &fa, n)))
}

/// Whether `p` lies in the shape, to within `tolerance`.
pub fn inside(shape: &Shape, pose: &Pose, p: &Vec3, tolerance: f64) -> bool {
    let q = pose.frame().local_point(p);
    let rho = q.x.hypot(q.y);
    match shape {
        Shape::Sphere(s) => q.norm() <= s.radius_m + tolerance,
        Shape::Box(s) => (q.abs() - s.half_m).max() <= tolerance,
        Shape::Cylinder(s) => {
            rho <= s.radius_m + tolerance && q.z.abs() <= s.half_height_m + tolerance
        }
        Shape::Capsule(s) => {
            let z = q.z.clamp(-s.half_length_m, s.half_length_m);
            (q - Vec3::new(0.0, 0.0, z)).norm() <= s.radius_m + tolerance
        }
        Shape::Cone(s) => {
            let share = (s.half_height_m - q.z) / (2.0 * s.half_height_m);
            share <= 1.0 + tolerance && rho <= s.radius_m * share + 2.0 * tolerance
        }
        Shape::Polyhedron(s) => s
            .faces()
            .iter()
            .all(|f| f.normal.dot(&(q - s.vertices()[f.corners[0] as usize])) <= tolerance),
        _ => unreachable!("no closed form in the tests"),
    }
}

/// Signed gap max over n of sep(n), by sampling the sphere and climbing from the best samples:
/// never above the truth, and below it by the size of the last steps on a ridge.
pub fn gap_by_search(a: &Shape, pa: &Pose, b: &Shape, pb: &Pose) -> f64 {
    let (fa, fb) = (pa.frame(), pb.frame());
    let sep = |n: &Vec3| n.dot(&(world_support(b, &fb, &-n) - world_support(a, &fa, n)));
    let count = 400;
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let mut starts: Vec<(f64, Vec3)> = (0..count)
        .map(|i| {
            let z = 1.0 - 2.0 * (i as f64 + 0.5) / count as f64;
            let (r, t) = ((1.0 - z * z).sqrt(), golden * i as f64);
            let n = Vec3::new(r * t.cos(), r * t.sin(), z);
            (sep(&n), n)
        })
        .collect();
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = f64::NEG_INFINITY;
    for &(value, n) in starts.iter().take(6) {
        let (mut value, mut n, mut step, mut spin) = (value, n, 0.1, 0.0_f64);
        while step > 1e-10 {
            let (t, s) = percuss_geometry::tangents(&n);
            let mut moved = false;
            for k in 0..12 {
                // Turned from round to round, so that a ridge of any direction is found.
                let angle = spin + k as f64 * std::f64::consts::TAU / 12.0;
                let m = (n + (t * angle.cos() + s * angle.sin()) * step).normalize();
                let v = sep(&m);
                if v > value {
                    (value, n, moved) = (v, m, true);
                    break;
                }
            }
            spin += 0.7;
            if moved {
                step *= 1.3;
            } else {
                step *= 0.6;
            }
        }
        best = best.max(value);
    }
    best
}

/// A cube with its edges and corners cut off, as rockfall kits are tested with.
pub fn boulder() -> Shape {
    let mut points = Vec::new();
    for k in 0..24 {
        let (long, cut) = (0.4, 0.22);
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let mut p = [cut * sign(0), cut * sign(1), cut * sign(2)];
        p[k / 8] = long * sign(k / 8);
        points.push(Vec3::from(p));
    }
    Shape::polyhedron(&points).unwrap()
}

/// One of each solid.
pub fn shapes() -> Vec<Shape> {
    vec![
        Shape::sphere(0.4).unwrap(),
        Shape::cuboid(0.8, 1.1, 0.6).unwrap(),
        Shape::cylinder(0.38, 0.8).unwrap(),
        Shape::capsule(0.25, 0.7).unwrap(),
        Shape::cone(0.45, 0.9).unwrap(),
        boulder(),
    ]
}
