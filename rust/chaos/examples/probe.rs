#[path = "../tests/functions/mod.rs"]
mod functions;
use std::sync::atomic::AtomicBool;
use percuss_chaos::*;
fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    let n: usize = std::env::args().nth(2).map_or(4, |s| s.parse().unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (families, points, values) = functions::displacements(300);
    let few: Vec<f64> = values.chunks(24).flat_map(|v| v.iter().step_by(24 / n).take(n).copied().collect::<Vec<_>>()).collect();
    let design = Design::new(&families, &points, &few, n).unwrap();
    let method = match std::env::args().nth(3).as_deref() { Some("omp") => Method::MatchingPursuit, Some("best") => Method::Best, _ => Method::LeastAngle };
    let search = if which == "early" { Search::EarlyStopping } else { Search::Full };
    pool.install(|| {
        let t = std::time::Instant::now();
        let f = fit(&design, &Options { search, method, ..Options::default() }, &AtomicBool::new(false)).unwrap();
        println!("{:.3} s  {:.3} per output", t.elapsed().as_secs_f64(), t.elapsed().as_secs_f64() / n as f64);
        for o in &f.outputs { println!("{:?} {} {} {:?} visited {}", o.method, o.degree, o.q, o.loo, o.grid.iter().filter(|g| !g.is_nan()).count()); }
    });
}
