//! Operations on sets and relations against isl, in one run.
//!
//! The peer is islpy in the interpreter that `TANGRAM_PYTHON` names. Both sides parse
//! their operands afresh before each call; only the call is timed, ours and isl's in
//! turns. A row is the geometric mean of the medians over the cases of a group. Arguments
//! name the operations to measure; without any, all are. The last line is the mean over pairs
//! drawn by chance alone: the other groups are cases somebody chose.

mod cases;
mod random;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use cases::GROUPS;
use tangram_presburger::{Budget, Error, Relation};

/// How often each side does each case.
const REPEATS: usize = 15;
/// The name of the group that is drawn by chance.
const RANDOM: &str = "random";
/// Elementary steps for one case.
const STEPS: u64 = 200_000_000;

const OPERATIONS: [&str; 14] = [
    "parse",
    "union",
    "intersect",
    "subtract",
    "subset",
    "equal",
    "empty",
    "domain",
    "apply",
    "compose",
    "lexmin",
    "coalesce",
    "gist",
    "hull",
];

fn main() {
    let python = std::env::var("TANGRAM_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut peer = Peer::start(&python);
    if peer.is_none() {
        println!("absent: islpy (`cargo xtask bench` installs it)");
    }
    println!(
        "{:10} {:10} {:>6} {:>10} {:>10} {:>9} {:>7}",
        "group", "operation", "cases", "ours_us", "isl_us", "isl/ours", "failed"
    );
    let (mut all, mut by_chance) = (Vec::new(), Vec::new());
    let texts = |pairs: &[[&str; 2]]| -> Vec<[String; 2]> {
        pairs.iter().map(|pair| pair.map(str::to_owned)).collect()
    };
    let chosen = GROUPS.map(|(group, pairs)| (group, texts(pairs)));
    for (group, pairs) in chosen.into_iter().chain([(RANDOM, random::pairs())]) {
        for operation in OPERATIONS.into_iter().filter(|name| wanted(name)) {
            let (mut ours, mut theirs, mut failed) = (Vec::new(), Vec::new(), 0);
            for [a, b] in &pairs {
                let Some(time) = measure(operation, a, b) else {
                    failed += 1;
                    continue;
                };
                ours.push(time);
                theirs.extend(peer.as_mut().and_then(|peer| peer.ask(operation, a, b)));
            }
            let (ours, theirs, count) = (mean(&ours), mean(&theirs), ours.len());
            let ratio = theirs / ours;
            all.push(ratio);
            if group == RANDOM {
                by_chance.push(ratio);
            }
            println!(
                "{group:10} {operation:10} {count:6} {:10.1} {:10.1} {ratio:9.2} {failed:7}",
                ours * 1e6,
                theirs * 1e6
            );
        }
    }
    println!("geometric mean of isl/ours: {:.2}", mean(&all));
    println!("geometric mean of isl/ours, pairs drawn by chance: {:.2}", mean(&by_chance));
}

/// Returns whether the arguments ask for an operation.
fn wanted(operation: &str) -> bool {
    let mut names = std::env::args().skip(1).peekable();
    names.peek().is_none() || names.any(|name| name == operation)
}

/// Returns the median seconds of our side; nothing if the budget ends first.
fn measure(operation: &str, a: &str, b: &str) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let budget = Budget::steps(STEPS);
        let (x, y) = (Relation::parse(a, &budget).ok()?, Relation::parse(b, &budget).ok()?);
        let start = Instant::now();
        let result = call(operation, &x, &y, a, &budget);
        times.push(start.elapsed().as_secs_f64());
        result.ok()?;
    }
    times.sort_by(f64::total_cmp);
    Some(times[times.len() / 2])
}

fn call(name: &str, a: &Relation, b: &Relation, text: &str, limit: &Budget) -> Result<(), Error> {
    let relation = match name {
        "parse" => Relation::parse(text, limit),
        "union" => a.union(b),
        "intersect" => a.intersect(b, limit),
        "subtract" => a.subtract(b, limit),
        "subset" => return a.is_subset(b, limit).map(drop),
        "equal" => return a.is_equal(b, limit).map(drop),
        "empty" => return a.intersect(b, limit)?.is_empty(limit).map(drop),
        "domain" => a.domain(limit),
        "apply" => b.domain(limit)?.apply_range(a, limit),
        "compose" => a.apply_range(&b.inverse()?, limit),
        "lexmin" => a.lexmin(limit),
        "coalesce" => a.union(b)?.coalesce(limit),
        "gist" => a.gist(b, limit),
        "hull" => a.union(b)?.simple_hull(limit),
        _ => unreachable!("all operations are listed"),
    };
    relation.map(|result| drop(std::hint::black_box(result)))
}

fn mean(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (logs / values.len() as f64).exp()
}

struct Peer {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(python: &str) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peer.py");
        let check =
            Command::new(python).args(["-c", "import islpy"]).stderr(Stdio::null()).status();
        if !check.is_ok_and(|status| status.success()) {
            return None;
        }
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { _child: child, input, output })
    }

    fn ask(&mut self, operation: &str, a: &str, b: &str) -> Option<f64> {
        writeln!(self.input, "{REPEATS}\t{operation}\t{a}\t{b}").ok()?;
        self.input.flush().ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }
}
