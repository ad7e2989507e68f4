//! What holds for every design: invariances, determinism, clear refusals.

use std::sync::atomic::AtomicBool;

use crate::functions::{Stream, displacements, g_function, kink};
use percuss_chaos::{
    ChaosError, Design, Expansion, Family, Fit, Method, Options, Search, bootstrap_coefficients,
    fit, indices, nested,
};
use proptest::prelude::*;

const FAMILIES: [Family; 4] = [
    Family::Legendre,
    Family::Hermite,
    Family::Laguerre { alpha: 0.5 },
    Family::Jacobi {
        alpha: 0.5,
        beta: 1.5,
    },
];

fn go() -> AtomicBool {
    AtomicBool::new(false)
}

fn small(method: Method) -> Options {
    Options {
        method,
        degrees: (1..=6).collect(),
        qs: vec![0.6, 1.0],
        ..Options::default()
    }
}

fn legendre(function: fn(&[f64]) -> f64, count: usize, seed: u64) -> Design {
    let families = vec![Family::Legendre; 5];
    let points = Stream(seed).points(&families, count);
    let values: Vec<f64> = points.chunks_exact(5).map(function).collect();
    Design::new(&families, &points, &values, 1).expect("a design")
}

#[test]
fn same_bits_on_one_thread_and_on_several() {
    let (families, points, values) = displacements(120);
    let design = Design::new(&families, &points, &values, 24).expect("a design");
    let work = || -> (Fit, Vec<f64>, Vec<f64>, Vec<f64>) {
        let found = fit(&design, &small(Method::Best), &go()).expect("a fit");
        let folds = nested(&design, &small(Method::LeastAngle), 3, 1, &go())
            .expect("folds")
            .predictions;
        let drawn = bootstrap_coefficients(&design, &found.expansion, 8, 1, &go()).expect("draws");
        let predicted = found.expansion.predict(&points.repeat(20)).expect("values");
        (found, folds, drawn, predicted)
    };
    let on = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads")
            .install(work)
    };
    let (one, two) = (on(1), on(3));
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(
        bits(one.0.expansion.coefficients()),
        bits(two.0.expansion.coefficients())
    );
    assert_eq!(one.0.expansion.indices(), two.0.expansion.indices());
    for (a, b) in one.0.outputs.iter().zip(&two.0.outputs) {
        assert_eq!(bits(&a.grid), bits(&b.grid));
        assert_eq!(a.path, b.path);
    }
    assert_eq!(bits(&one.1), bits(&two.1));
    assert_eq!(bits(&one.2), bits(&two.2));
    assert_eq!(bits(&one.3), bits(&two.3));
}

#[test]
fn a_prediction_does_not_depend_on_its_neighbours_nor_on_the_way_it_was_asked_for() {
    let found = fit(&legendre(kink, 100, 3), &small(Method::LeastAngle), &go())
        .expect("a fit")
        .expansion;
    let points = Stream(8).points(found.families(), 21);
    let together = found.predict(&points).expect("values");
    let (with_gradient, _) = found.predict_with_gradient(&points, None).expect("values");
    let mut scratch = found.scratch();
    let mut one = [[0.0]];
    for (i, point) in points.chunks_exact(5).enumerate() {
        found.evaluate(point.as_chunks::<1>().0, &mut scratch, &mut one);
        assert_eq!(one[0][0].to_bits(), together[i].to_bits());
        assert_eq!(one[0][0].to_bits(), with_gradient[i].to_bits());
    }
}

#[test]
fn stored_arrays_give_back_the_same_bits() {
    let found = fit(&legendre(g_function, 100, 3), &small(Method::Best), &go())
        .expect("a fit")
        .expansion;
    let again = Expansion::new(
        found.families(),
        found.indices().to_vec(),
        found.offsets().to_vec(),
        found.terms().to_vec(),
        found.coefficients().to_vec(),
    )
    .expect("an expansion");
    let points = Stream(8).points(found.families(), 50);
    assert_eq!(found.predict(&points), again.predict(&points));
    let refused = Expansion::new(
        found.families(),
        vec![0; 5],
        vec![0, 2],
        vec![0, 1],
        vec![1.0, 2.0],
    );
    assert!(refused.unwrap_err().to_string().contains("term = 1"));
}

#[test]
fn constant_outputs_are_flagged_and_predicted() {
    let families = [Family::Legendre; 2];
    let points = Stream(1).points(&families, 30);
    let values: Vec<f64> = points
        .chunks_exact(2)
        .flat_map(|x| [7.25, x[0], 0.0])
        .collect();
    let design = Design::new(&families, &points, &values, 3).expect("a design");
    for method in [Method::Best, Method::MatchingPursuit, Method::Ordinary] {
        let found = fit(
            &design,
            &Options {
                degrees: vec![1, 2],
                ..small(method)
            },
            &go(),
        )
        .expect("a fit");
        let flags: Vec<bool> = found.outputs.iter().map(|output| output.constant).collect();
        assert_eq!(flags, [true, false, true]);
        for output in &found.outputs {
            assert_ne!(output.method, Method::Best);
            assert!(!output.constant || output.method == Method::Ordinary);
        }
        let predicted = found.expansion.predict(&[0.3, -0.2]).expect("values");
        assert!(
            (predicted[0] - 7.25).abs() < 1e-13
                && (predicted[1] - 0.3).abs() < 1e-12
                && predicted[2] == 0.0
        );
        assert!(indices(&found.expansion, &[])[0].first[0].is_nan());
    }
}

#[test]
fn twins_do_not_make_leave_one_out_optimistic() {
    let design = legendre(kink, 80, 6);
    let doubled = Design::new(
        design.families(),
        &design.points().repeat(2),
        &design.values().repeat(2),
        1,
    )
    .expect("a design");
    let (one, two) = (
        fit(&design, &small(Method::LeastAngle), &go()),
        fit(&doubled, &small(Method::LeastAngle), &go()),
    );
    let (one, two) = (one.expect("a fit"), two.expect("a fit"));
    assert_eq!((two.points, two.duplicates), (80, 80));
    // The correction shrinks with the trace of the inverse, which twins halve; the plain error does not move.
    assert_eq!(one.expansion.terms(), two.expansion.terms());
    assert!((one.outputs[0].loo.plain / two.outputs[0].loo.plain - 1.0).abs() < 1e-10);
}

#[test]
fn too_few_points_too_many_terms_and_interruption_are_told() {
    let few = legendre(kink, 3, 1);
    assert!(matches!(
        fit(&few, &small(Method::Best), &go()),
        Err(ChaosError::TooFewPoints {
            points: 3,
            needed: 4,
            ..
        })
    ));
    let design = legendre(kink, 7, 1);
    let ordinary = Options {
        degrees: vec![2],
        qs: vec![1.0],
        ..small(Method::Ordinary)
    };
    let error = fit(&design, &ordinary, &go()).unwrap_err();
    assert_eq!(
        error,
        ChaosError::TooFewPoints {
            points: 7,
            needed: 22,
            method: "ordinary least squares on the smallest set"
        }
    );
    assert!(
        fit(&design, &small(Method::LeastAngle), &go()).is_ok(),
        "least-angle regression lives with few points"
    );
    let capped = Options {
        max_candidates: 100,
        ..small(Method::LeastAngle)
    };
    assert_eq!(
        fit(&legendre(kink, 40, 1), &capped, &go())
            .expect("a fit")
            .capped,
        3
    );
    let stopped = fit(
        &legendre(kink, 40, 1),
        &small(Method::Best),
        &AtomicBool::new(true),
    );
    assert_eq!(stopped.unwrap_err(), ChaosError::Interrupted);
    assert!(
        nested(&design, &small(Method::Best), 8, 0, &go())
            .unwrap_err()
            .to_string()
            .contains("folds = 8")
    );
}

#[test]
fn designs_on_a_coarse_grid_lose_the_terms_they_cannot_tell_apart() {
    // Three levels: x^3 is a multiple of x, all powers above two are aliases.
    let points: Vec<f64> = (0..27)
        .flat_map(|i| [i % 3, i / 3 % 3, i / 9])
        .map(|k| f64::from(k) - 1.0)
        .collect();
    let values: Vec<f64> = points
        .chunks_exact(3)
        .map(|x| x[0] * x[1] + x[2] * x[2] + 0.5)
        .collect();
    let design = Design::new(&[Family::Legendre; 3], &points, &values, 1).expect("a design");
    for method in [Method::LeastAngle, Method::MatchingPursuit] {
        let found = fit(&design, &small(method), &go()).expect("a fit");
        for (point, value) in points.chunks_exact(3).zip(&values) {
            assert!((found.expansion.predict(point).expect("a value")[0] - value).abs() < 1e-10);
        }
    }
}

#[test]
fn bootstrap_bands_cover_and_repeat() {
    let design = legendre(kink, 150, 2);
    let found = fit(&design, &small(Method::LeastAngle), &go())
        .expect("a fit")
        .expansion;
    let drawn = bootstrap_coefficients(&design, &found, 40, 9, &go()).expect("draws");
    assert_eq!(
        drawn,
        bootstrap_coefficients(&design, &found, 40, 9, &go()).expect("draws")
    );
    let width = found.terms().len();
    for (k, &coefficient) in found.coefficients().iter().enumerate() {
        let column: Vec<f64> = drawn.iter().skip(k).step_by(width).copied().collect();
        let mean = column.iter().sum::<f64>() / 40.0;
        let spread = (column.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 39.0).sqrt();
        assert!(
            spread > 0.0 && (mean - coefficient).abs() < 2.0 * spread,
            "{coefficient}: {mean} +- {spread}"
        );
    }
}

#[test]
fn early_stopping_leaves_cells_unvisited_and_says_so() {
    let design = legendre(|x| 1.0 + x[0] + 0.2 * x[1] * x[2], 60, 1);
    let visited = |search| {
        let options = Options {
            search,
            degrees: (1..=10).collect(),
            ..small(Method::LeastAngle)
        };
        let found = fit(&design, &options, &go()).expect("a fit");
        found.outputs[0]
            .grid
            .iter()
            .filter(|error| !error.is_nan())
            .count()
    };
    assert!(visited(Search::EarlyStopping) < visited(Search::Full));
    assert_eq!(visited(Search::Full), 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parameters_may_be_given_in_any_order(seed in 0u64..1000, shift in 1usize..4) {
        let points = Stream(seed).points(&FAMILIES, 60);
        let function = |x: &[f64]| (0.5 * x[0] + 0.2 * x[1]).sin() + 0.1 * x[2] * x[3] + (x[0] - x[3]).abs();
        let values: Vec<f64> = points.chunks_exact(4).map(function).collect();
        let order: Vec<usize> = (0..4).map(|k| (k + shift) % 4).collect();
        let moved_families: Vec<Family> = order.iter().map(|&k| FAMILIES[k]).collect();
        let moved_points: Vec<f64> = points.chunks_exact(4).flat_map(|x| order.iter().map(|&k| x[k]).collect::<Vec<_>>()).collect();
        let options = Options { degrees: vec![1, 2, 3, 4], ..small(Method::LeastAngle) };
        let one = fit(&Design::new(&FAMILIES, &points, &values, 1).unwrap(), &options, &go()).unwrap();
        let two = fit(&Design::new(&moved_families, &moved_points, &values, 1).unwrap(), &options, &go()).unwrap();
        prop_assert!((one.outputs[0].loo.corrected / two.outputs[0].loo.corrected - 1.0).abs() < 1e-6);
        let (a, b) = (&indices(&one.expansion, &[])[0], &indices(&two.expansion, &[])[0]);
        for (k, &from) in order.iter().enumerate() {
            prop_assert!((a.total[from] - b.total[k]).abs() < 1e-6);
        }
    }

    #[test]
    fn outputs_may_be_scaled_and_shifted(seed in 0u64..1000, scale in prop_oneof![1e-6f64..1e6, -1e6f64..-1e-6], shift in -1e3f64..1e3) {
        let families = [Family::Legendre; 3];
        let points = Stream(seed).points(&families, 50);
        let values: Vec<f64> = points.chunks_exact(3).map(|x| (x[0] + x[1]).exp() + x[2].abs()).collect();
        let scaled: Vec<f64> = values.iter().map(|y| scale * (y + shift)).collect();
        let options = Options { degrees: vec![1, 2, 3], ..small(Method::LeastAngle) };
        let one = fit(&Design::new(&families, &points, &values, 1).unwrap(), &options, &go()).unwrap();
        let two = fit(&Design::new(&families, &points, &scaled, 1).unwrap(), &options, &go()).unwrap();
        prop_assert!((one.outputs[0].loo.corrected / two.outputs[0].loo.corrected - 1.0).abs() < 1e-6);
        let (a, b) = (one.expansion.predict(&[0.1, 0.2, 0.3]).unwrap()[0], two.expansion.predict(&[0.1, 0.2, 0.3]).unwrap()[0]);
        prop_assert!((scale * (a + shift) - b).abs() < 1e-8 * scale.abs() * (1.0 + shift.abs()));
    }

    #[test]
    fn gradients_match_differences(seed in 0u64..1000) {
        let mut stream = Stream(seed);
        let terms = 30;
        let indices: Vec<u8> = (0..terms * 4).map(|_| (stream.uniform() * 4.0) as u8).collect();
        let coefficients: Vec<f64> = (0..2 * terms).map(|_| stream.uniform() - 0.5).collect();
        let numbers: Vec<u32> = (0..2 * terms as u32).map(|t| t % terms as u32).collect();
        let expansion = Expansion::new(&FAMILIES, indices, vec![0, terms, 2 * terms], numbers, coefficients).unwrap();
        let point = [0.3, -0.4, 0.8, 0.2];
        let slopes = [2.0, -1.0, 0.5, 3.0];
        let (_, plain) = expansion.predict_with_gradient(&point, None).unwrap();
        let (_, chained) = expansion.predict_with_gradient(&point, Some(&slopes)).unwrap();
        for k in 0..4 {
            let h = 1e-5;
            let (mut up, mut down) = (point, point);
            up[k] += h;
            down[k] -= h;
            let (up, down) = (expansion.predict(&up).unwrap(), expansion.predict(&down).unwrap());
            for output in 0..2 {
                let difference = (up[output] - down[output]) / (2.0 * h);
                let found = plain[output * 4 + k];
                prop_assert!((found - difference).abs() < 1e-6 * (1.0 + difference.abs()));
                prop_assert_eq!(chained[output * 4 + k], found * slopes[k]);
            }
        }
    }

    #[test]
    fn indices_are_shares(seed in 0u64..1000) {
        let mut stream = Stream(seed);
        let indices_table: Vec<u8> = (0..80).map(|_| (stream.uniform() * 3.0) as u8).collect();
        let coefficients: Vec<f64> = (0..20).map(|_| stream.uniform() - 0.5).collect();
        let expansion = Expansion::new(&FAMILIES, indices_table, vec![0, 20], (0..20).collect(), coefficients).unwrap();
        let found = &indices(&expansion, &[0b1111, 0b0001])[0];
        prop_assume!(found.variance > 0.0);
        for k in 0..4 {
            prop_assert!(found.first[k] >= 0.0 && found.first[k] <= found.total[k] && found.total[k] <= 1.0 + 1e-12);
            prop_assert!(found.first[k] <= found.shapley[k] + 1e-12 && found.shapley[k] <= found.total[k] + 1e-12);
        }
        prop_assert!(found.first.iter().sum::<f64>() + found.second.iter().sum::<f64>() / 2.0 <= 1.0 + 1e-12);
        prop_assert!((found.shapley.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        prop_assert!((found.group_closed[0] - 1.0).abs() < 1e-12);
        prop_assert!((found.group_closed[1] - found.first[0]).abs() < 1e-12 && (found.group_total[1] - found.total[0]).abs() < 1e-12);
    }
}
