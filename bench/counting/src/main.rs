//! Counting against barvinok on random polytopes: pairs interleaved, medians of ratios.
//!
//! Both count the same parsed set, in turns; the values at one point must agree. The peer
//! is islpy-barvinok in the interpreter that `TANGRAM_PYTHON` names; only the call of
//! `card` is timed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tangram_presburger::{Budget, Relation};

/// How much time a group may take; the number of its cases that are done is printed.
const GROUP: Duration = Duration::from_secs(40);
/// How often each side counts each set.
const REPEATS: usize = 3;

fn main() {
    let cases: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(12);
    let python = std::env::var("TANGRAM_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut peer = Peer::start(&python);
    if peer.is_none() {
        println!("absent: islpy-barvinok (`cargo xtask bench` installs it)");
    }
    println!("dims params cases   ours_us  barvinok_us  median barvinok/ours  slowest ratio");
    for params in 0..=2 {
        for dims in 3..=6 {
            group(&mut peer, dims, params, cases);
        }
    }
}

fn group(peer: &mut Option<Peer>, dims: usize, params: usize, cases: usize) {
    let mut source = Source(100 * dims as u64 + params as u64);
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    while ours.len() < cases && start.elapsed() < GROUP {
        let text = source.polytope(dims, params);
        let (own, value) = count(&text, params);
        ours.push(own.as_secs_f64());
        if let Some((time, other)) = peer.as_mut().and_then(|peer| peer.count(&text)) {
            assert_eq!(value, other, "different values for {text}");
            theirs.push(time);
            ratios.push(time / own.as_secs_f64());
        }
    }
    let micros = |times: &mut Vec<f64>| median(times) * 1e6;
    let worst = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{dims:4} {params:6} {:5} {:9.0} {:12.0} {:21.2} {worst:14.2}",
        ours.len(),
        micros(&mut ours),
        micros(&mut theirs),
        median(&mut ratios)
    );
}

fn count(text: &str, params: usize) -> (Duration, String) {
    let budget = Budget::unlimited();
    let set = Relation::parse(text, &budget).expect("the generated text is well formed");
    let mut times = Vec::new();
    let mut value = String::new();
    for _ in 0..REPEATS {
        let start = Instant::now();
        let count = set.card(&budget).expect("the polytope is bounded");
        times.push(start.elapsed());
        let point: Vec<i64> = (0..params as i64).map(|i| 17 + i).collect();
        value = count.evaluate(&point).expect("one value for each parameter").to_string();
    }
    times.sort();
    (times[REPEATS / 2], value)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A running interpreter that counts with barvinok.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(python: &str) -> Option<Self> {
        let check = Command::new(python).args(["-c", "import islpy; islpy.Set.card"]).output();
        if !check.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peer.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, input, output })
    }

    fn count(&mut self, text: &str) -> Option<(f64, String)> {
        writeln!(self.input, "{REPEATS}\t{text}").ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let time = words.next()?.parse().ok()?;
        Some((time, words.nth(1)?.to_owned()))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small generator: the same inputs in every run.
struct Source(u64);

impl Source {
    fn next(&mut self, low: i64, high: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    /// Makes a polytope with a box of random sides and some sloped facets.
    fn polytope(&mut self, dims: usize, params: usize) -> String {
        let names: Vec<String> = (0..dims).map(|i| format!("x{i}")).collect();
        let params: Vec<String> = (0..params).map(|i| format!("p{i}")).collect();
        let size = |source: &mut Self| match &params[..] {
            [] => source.next(5, 60).to_string(),
            some => {
                let name = &some[source.next(0, some.len() as i64 - 1) as usize];
                format!("{name} + {}", source.next(0, 9))
            }
        };
        let mut facts: Vec<String> =
            names.iter().map(|name| format!("0 <= {name} <= {}", size(self))).collect();
        for _ in 0..self.next(1, 2) {
            let terms: Vec<String> =
                names.iter().map(|name| format!("{}*{name}", self.next(-3, 3))).collect();
            facts.push(format!("{} <= {}", terms.join(" + "), size(self)));
        }
        format!("[{}] -> {{ [{}] : {} }}", params.join(", "), names.join(", "), facts.join(" and "))
    }
}
