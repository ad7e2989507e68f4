//! Figures of the regression: accuracy on closed-form functions and time, one thread.
//!
//! `cargo bench -p percuss-chaos`. Times are the least of several repeats.

#[path = "../tests/functions/mod.rs"]
mod functions;
#[path = "plain.rs"]
mod plain;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use functions::{Problem, validation_error};
use percuss_chaos::{Design, Method, Options, Search, fit};

/// Processor time of this thread where the system tells it (other programs do not count), the clock elsewhere.
fn now() -> f64 {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let clock = || BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(clock, |ns| ns * 1e-9)
}

fn seconds<T>(repeats: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut least = f64::INFINITY;
    let mut last = None;
    for _ in 0..repeats {
        let begin = now();
        last = Some(work());
        least = least.min(now() - begin);
    }
    (least, last.expect("at least one repeat"))
}

/// The clock, for work too short for processor time: the least of many repeats.
fn shortest<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut least = f64::INFINITY;
    for _ in 0..300 {
        let begin = Instant::now();
        std::hint::black_box(work());
        least = least.min(begin.elapsed().as_secs_f64());
    }
    (least, work())
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread");
    pool.install(|| {
        println!(
            "problem, method, search: time, validation error, LOO, corrected LOO, terms, degree, q"
        );
        for problem in functions::problems() {
            accuracy(&problem);
        }
        against_plain();
        many_outputs();
    });
}

fn accuracy(problem: &Problem) {
    let design = problem.design();
    for (method, search) in [
        (Method::Best, Search::Full),
        (Method::Best, Search::EarlyStopping),
        (Method::LeastAngle, Search::Full),
        (Method::LeastAngle, Search::EarlyStopping),
        (Method::MatchingPursuit, Search::Full),
        (Method::Ordinary, Search::Full),
    ] {
        let options = Options {
            method,
            search,
            ..Options::default()
        };
        let (time, fitted) = seconds(1, || {
            fit(&design, &options, &AtomicBool::new(false)).expect("a fit")
        });
        let output = &fitted.outputs[0];
        println!(
            "{:10} {:?} {:?}: {:.3} s, {:.2e}, {:.2e}, {:.2e}, cv {:.2e}, {} terms, degree {}, q {}, {:?}, leverage {:.3}, condition {:.1}, capped {}",
            problem.name,
            method,
            search,
            time,
            validation_error(problem, &fitted.expansion, 100_000),
            output.loo.plain,
            output.loo.corrected,
            output.cross_validation,
            fitted.expansion.terms().len(),
            output.degree,
            output.q,
            output.method,
            output.largest_leverage,
            output.condition,
            fitted.capped,
        );
    }
}

/// The full search to degree 12 against the same search written plainly, in one run.
fn against_plain() {
    let degrees: Vec<usize> = (1..=12).collect();
    for problem in functions::problems()
        .iter()
        .filter(|problem| problem.families.len() < 8)
    {
        let (design, values) = (problem.design(), problem.values());
        let options = Options {
            degrees: degrees.clone(),
            method: Method::LeastAngle,
            search: Search::Full,
            ..Options::default()
        };
        let (ours, fitted) = seconds(3, || {
            fit(&design, &options, &AtomicBool::new(false)).expect("a fit")
        });
        let (plain, least) = seconds(1, || {
            plain::search(
                &problem.families,
                &problem.points,
                &values,
                &degrees,
                &options.qs,
            )
        });
        println!(
            "{:10} full search to degree 12: {:.1} x faster than the plain one ({ours:.2} s, {plain:.2} s; least corrected LOO {:.3e}, {least:.3e})",
            problem.name,
            plain / ours,
            fitted.outputs[0]
                .grid
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min),
        );
    }
}

fn many_outputs() {
    let (families, points, values) = functions::displacements(300);
    let design = Design::new(&families, &points, &values, 24).expect("a design");
    for (method, search) in [
        (Method::LeastAngle, Search::EarlyStopping),
        (Method::Best, Search::EarlyStopping),
        (Method::LeastAngle, Search::Full),
        (Method::Best, Search::Full),
    ] {
        let options = Options {
            method,
            search,
            ..Options::default()
        };
        let (time, fitted) = seconds(1, || {
            fit(&design, &options, &AtomicBool::new(false)).expect("a fit")
        });
        let terms = fitted.expansion.terms().len();
        println!(
            "24 outputs, 300 points, 5 parameters, {method:?}, {search:?}: {time:.2} s, {terms} terms, {} distinct",
            fitted.expansion.indices().len() / 5
        );
        let errors = fitted.outputs.iter().map(|output| output.loo.corrected);
        println!(
            "    corrected LOO {:.1e} to {:.1e}",
            errors.clone().fold(1.0, f64::min),
            errors.fold(0.0, f64::max)
        );
        let mut values = [[0.0]; 24];
        let mut scratch = fitted.expansion.scratch();
        let rows = points.len() / 5;
        let (one, _) = shortest(|| {
            for point in points.chunks_exact(5) {
                let point = std::hint::black_box(point).as_chunks::<1>().0;
                fitted.expansion.evaluate(point, &mut scratch, &mut values);
                std::hint::black_box(&mut values);
            }
        });
        let (batch, _) = shortest(|| fitted.expansion.predict(&points).expect("values"));
        let (gradient, _) = shortest(|| {
            fitted
                .expansion
                .predict_with_gradient(&points, None)
                .expect("values")
        });
        let scale = 1e6 / rows as f64;
        println!(
            "    one point at a time {:.2} us, in a batch {:.2} us a point, with gradients {:.2} us a point",
            one * scale,
            batch * scale,
            gradient * scale
        );
    }
}
