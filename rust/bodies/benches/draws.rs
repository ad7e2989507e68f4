//! Exact draws of a tensor by the ratio of its bound to its mean, and the cost of the law itself.

use std::hint::black_box;
use std::time::Instant;

use percuss_bodies::{Bounds, KummerBeta};

fn main() {
    println!(
        "{:>18} {:>10} {:>6} {:>12} {:>10}",
        "bound / mean", "method", "kept", "ns a draw", "ms a law"
    );
    let mean = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    for ratios in [
        [1.25; 3],
        [1.5; 3],
        [2.0; 3],
        [3.0; 3],
        [9.0; 3],
        [40.0; 3],
        [2.0, 3.0, 5.0],
        [1.5, 3.0, 9.0],
    ] {
        let [x, y, z] = ratios;
        let bounds = Bounds {
            lower: [0.0; 6],
            upper: [x, y, z, 0.0, 0.0, 0.0],
            mean,
        };
        let start = Instant::now();
        let law = KummerBeta::new(&bounds, -5.0, -5.0).expect("bounds above the mean");
        let set_up = start.elapsed().as_secs_f64();
        let once = || {
            let start = Instant::now();
            for i in 0..20_000 {
                black_box(law.draw(1, [f64::from(i) / 20_000.0, 0.1, 0.2, 0.3, 0.4, 0.5]));
            }
            start.elapsed().as_secs_f64() / 20_000.0
        };
        let best = (0..5).map(|_| once()).fold(f64::INFINITY, f64::min);
        let (method, kept) = (format!("{:?}", law.method()), law.kept());
        println!(
            "{:>18} {method:>10} {kept:6.3} {:12.0} {:10.1}",
            format!("{x} {y} {z}"),
            best * 1e9,
            set_up * 1e3
        );
    }
}
