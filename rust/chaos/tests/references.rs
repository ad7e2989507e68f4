//! Contracts on closed-form functions: the answers that are known exactly.

use std::sync::atomic::AtomicBool;

use crate::functions::{Problem, Stream, problems, validation_error};
use percuss_chaos::{Design, Family, Fit, Method, Options, Search, fit, indices, nested};

fn fitted(design: &Design, options: &Options) -> Fit {
    fit(design, options, &AtomicBool::new(false)).expect("a fit")
}

fn problem(name: &str) -> Problem {
    problems()
        .into_iter()
        .find(|problem| problem.name == name)
        .expect("a known problem")
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < tolerance,
            "{found} is not {expected} within {tolerance}"
        );
    }
}

#[test]
fn ishigami_indices_are_exact_and_the_validation_error_is_rounding() {
    let problem = problem("ishigami");
    for method in [Method::Best, Method::LeastAngle, Method::MatchingPursuit] {
        let found = fitted(
            &problem.design(),
            &Options {
                method,
                ..Options::default()
            },
        );
        let index = &indices(&found.expansion, &[0b011, 0b100])[0];
        close(&index.first, &[0.313_905, 0.442_411, 0.0], 1e-6);
        close(&index.total, &[0.557_589, 0.442_411, 0.243_684], 1e-6);
        close(
            &[index.second[2], index.group_closed[0], index.group_total[1]],
            &[0.243_684, 0.756_316, 0.243_684],
            1e-6,
        );
        close(
            &index.shapley,
            &[0.313_905 + 0.121_842, 0.442_411, 0.121_842],
            1e-6,
        );
        // y has mean a / 2 and variance b^2 pi^8 / 18 + b pi^4 / 5 + a^2 / 8 + 1 / 2.
        close(
            &[index.mean, index.variance],
            &[3.5, 13.844_587_940_719_25],
            1e-8,
        );
        assert!(
            validation_error(&problem, &found.expansion, 20_000) < 1e-15,
            "{method:?}"
        );
    }
}

#[test]
fn g_function_is_as_good_as_the_best_known_fit() {
    let problem = problem("g-function");
    for search in [Search::EarlyStopping, Search::Full] {
        // Sets above 6000 terms do not win here and cost most of the time.
        let options = Options {
            search,
            max_candidates: 6000,
            ..Options::default()
        };
        let found = fitted(&problem.design(), &options);
        let error = validation_error(&problem, &found.expansion, 100_000);
        assert!(error <= 6.2e-3, "{search:?}: {error}");
        let total = &indices(&found.expansion, &[])[0].total;
        close(
            total,
            &[0.787_313, 0.242_250, 0.034_324, 0.010_463, 0.000_105],
            6e-3,
        );
        // Told straight: LOO is optimistic after selection, cross-validation is not.
        assert!(
            found.outputs[0].loo.plain < error && found.outputs[0].cross_validation > 0.8 * error
        );
    }
}

#[test]
fn kinks_go_to_least_angle_and_smooth_tails_to_matching_pursuit() {
    for (name, method, limit) in [
        ("kink", Method::LeastAngle, 3.6e-2),
        ("borehole", Method::MatchingPursuit, 1.2e-5),
    ] {
        let problem = problem(name);
        let found = fitted(
            &problem.design(),
            &Options {
                max_candidates: 3000,
                ..Options::default()
            },
        );
        assert_eq!(found.outputs[0].method, method, "{name}");
        let error = validation_error(&problem, &found.expansion, 20_000);
        assert!(error < limit, "{name}: {error}");
    }
}

#[test]
fn nested_error_is_the_error_of_the_whole_procedure() {
    let problem = problem("g-function");
    let design = problem.design();
    let options = Options {
        degrees: (1..=12).collect(),
        qs: vec![0.5, 0.7],
        ..Options::default()
    };
    let stop = AtomicBool::new(false);
    let found = nested(&design, &options, 5, 3, &stop).expect("a nested error");
    let truth = validation_error(&problem, &fitted(&design, &options).expansion, 50_000);
    // From four fifths of the points: larger than the truth, and of its size.
    assert!(
        found.errors[0] > 0.8 * truth && found.errors[0] < 4.0 * truth,
        "{} {truth}",
        found.errors[0]
    );
    let worst = found
        .predictions
        .iter()
        .zip(design.values())
        .map(|(p, y)| (p - y).abs())
        .fold(0.0, f64::max);
    assert!(worst > 0.0 && worst < 2.0);
    assert_eq!(
        found,
        nested(&design, &options, 5, 3, &stop).expect("the same")
    );
    assert_ne!(
        found.folds,
        nested(&design, &options, 5, 4, &stop)
            .expect("other folds")
            .folds
    );
}

#[test]
fn every_family_recovers_a_sparse_polynomial() {
    let families = [
        Family::Legendre,
        Family::Hermite,
        Family::Laguerre { alpha: 0.0 },
        Family::Jacobi {
            alpha: 1.0,
            beta: 0.5,
        },
    ];
    let points = Stream(5).points(&families, 120);
    // p2(x0) p1(x1) - 3 p1(x2) p1(x3) + 0.5 p3(x1) + 2, by the orthonormal polynomials themselves.
    let tables: Vec<_> = families.iter().map(|family| family.recurrence(3)).collect();
    let value = |x: &[f64]| {
        let p = |k: usize, degree: usize| tables[k].at(x[k])[degree];
        p(0, 2) * p(1, 1) - 3.0 * p(2, 1) * p(3, 1) + 0.5 * p(1, 3) + 2.0
    };
    let values: Vec<f64> = points.chunks_exact(4).map(value).collect();
    let design = Design::new(&families, &points, &values, 1).expect("a design");
    for method in [Method::LeastAngle, Method::MatchingPursuit] {
        let options = Options {
            method,
            degrees: (1..=5).collect(),
            ..Options::default()
        };
        let expansion = fitted(&design, &options).expansion;
        for (alpha, expected) in [
            ([0, 0, 0, 0], 2.0),
            ([2, 1, 0, 0], 1.0),
            ([0, 0, 1, 1], -3.0),
            ([0, 3, 0, 0], 0.5),
        ] {
            let found = expansion
                .output(0)
                .find(|&(row, _)| expansion.multi_index(row) == alpha);
            let (_, coefficient) = found.unwrap_or_else(|| panic!("{method:?} misses {alpha:?}"));
            assert!(
                (coefficient - expected).abs() < 1e-9,
                "{method:?} {alpha:?}: {coefficient}"
            );
        }
        let left: f64 = expansion.output(0).map(|(_, c)| c * c).sum::<f64>() - 14.25;
        assert!(left.abs() < 1e-8, "spurious terms carry {left}");
    }
}
