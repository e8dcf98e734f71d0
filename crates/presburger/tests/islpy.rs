//! Parametric results against isl, through its Python package.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tangram_presburger::{Budget, Error, Relation};

const SCRIPT: &str = r#"
import sys, islpy
bad = count = nonempty = 0
disjuncts = [0, 0]
def parse(t):
    return islpy.Map(t) if "->" in t.split("{", 1)[1].split(":")[0] else islpy.Set(t)
for line in sys.stdin:
    op, a, b, got = line.rstrip("\n").split("\t")
    x, y = islpy.Map(a), islpy.Map(b)
    ops = {"same": lambda: x, "intersect": lambda: x & y, "union": lambda: x | y, "subtract": lambda: x - y,
           "domain": x.domain, "range": x.range, "lexmin": x.lexmin, "lexmax": x.lexmax,
           "apply": lambda: x.apply_range(y), "deltas": x.deltas,
           "inverse": x.reverse, "complement": x.complement,
           "subset": lambda: x.is_subset(y), "single": x.is_single_valued, "injective": x.is_injective,
           "affine_hull": lambda: islpy.Map.from_basic_map(x.affine_hull().remove_divs()), "equal": lambda: x.is_equal(y), "disjoint": lambda: x.is_disjoint(y)}
    count += 1
    if op in ("gist", "simple_hull", "coalesce"):
        z = parse(got)
        nonempty += not x.is_empty()
        good = {"gist": lambda: (z & y).is_equal(x & y), "simple_hull": lambda: x.is_subset(z),
                "coalesce": lambda: x.is_equal(z)}[op]()
        if op == "coalesce":
            disjuncts[0] += len(z.get_basic_maps())
            disjuncts[1] += len(x.coalesce().get_basic_maps())
        if not good:
            bad += 1
            print("WRONG", op, a, b, "got", got)
        continue
    want = ops[op]()
    if isinstance(want, bool):
        nonempty += want
        good = str(want).lower() == got
    else:
        nonempty += not want.is_empty()
        good = want.is_equal(parse(got))
    if not good:
        bad += 1
        print("WRONG", op, a, b, "got", got, "want", want)
print("checked", count, "nonempty", nonempty, "wrong", bad, "disjuncts", disjuncts)
"#;

/// A small generator: the same inputs in every run.
struct Source(u64);

impl Source {
    fn next(&mut self, low: i64, high: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    fn row(&mut self) -> String {
        let mut c = || self.next(-3, 3);
        format!("{}*i + {}*j + {}*n + {} >= 0", c(), c(), c(), c())
    }

    fn map(&mut self, disjuncts: usize) -> String {
        let mut parts = Vec::new();
        for _ in 0..disjuncts {
            let mut facts = vec![
                "0 <= i <= n".to_owned(),
                "j <= 9".to_owned(),
                "j >= i - n".to_owned(),
                self.row(),
            ];
            if self.next(0, 1) == 0 {
                facts.push(format!(
                    "(i + {}*j) mod {} = {}",
                    self.next(-2, 2),
                    self.next(2, 4),
                    self.next(0, 1)
                ));
            }
            if self.next(0, 1) == 0 {
                facts.push(format!(
                    "(exists k: {}*k <= i + j <= {}*k + 1)",
                    self.next(2, 4),
                    self.next(2, 4)
                ));
            }
            parts.push(format!("[i] -> [j] : {}", facts.join(" and ")));
        }
        format!("[n] -> {{ {} }}", parts.join("; "))
    }
}

fn python() -> Option<String> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let path = std::env::var("TANGRAM_PYTHON").unwrap_or_else(|_| local.display().to_string());
    let found = Command::new(&path).args(["-c", "import islpy"]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(path)
}

/// All results that are relations, printed, and all answers.
fn results(a: &Relation, b: &Relation, limit: &Budget) -> Vec<(&'static str, String)> {
    let text =
        |r: Result<Relation, Error>| r.unwrap_or_else(|e| panic!("{a} and {b}: {e}")).to_string();
    let answer =
        |r: Result<bool, Error>| r.unwrap_or_else(|e| panic!("{a} and {b}: {e}")).to_string();
    vec![
        ("same", a.to_string()),
        ("intersect", text(a.intersect(b, limit))),
        ("union", text(a.union(b))),
        ("subtract", text(a.subtract(b, limit))),
        ("complement", text(a.complement(limit))),
        ("domain", text(a.domain(limit))),
        ("range", text(a.range(limit))),
        ("inverse", text(a.inverse())),
        ("lexmin", text(a.lexmin(limit))),
        ("lexmax", text(a.lexmax(limit))),
        ("apply", text(a.apply_range(b, limit))),
        ("deltas", text(a.deltas(limit))),
        ("coalesce", text(a.coalesce(limit))),
        ("gist", text(a.gist(b, limit))),
        ("simple_hull", text(a.simple_hull(limit))),
        ("affine_hull", text(a.affine_hull(limit))),
        ("subset", answer(a.is_subset(b, limit))),
        ("equal", answer(a.is_equal(b, limit))),
        ("disjoint", answer(a.is_disjoint(b, limit))),
        ("single", answer(a.is_single_valued(limit))),
        ("injective", answer(a.is_injective(limit))),
    ]
}

fn agree_with_isl(seed: u64, pairs: usize) {
    let Some(python) = python() else {
        println!("skipped: needs islpy");
        return;
    };
    let mut source = Source(seed);
    let mut lines = String::new();
    let mut count = 0;
    for index in 0..pairs {
        let (a, b) = (source.map(1 + index % 3), source.map(1 + index % 2));
        let limit = Budget::steps(50_000_000);
        let read =
            |text: &str| Relation::parse(text, &limit).unwrap_or_else(|e| panic!("{text}: {e}"));
        for (op, result) in results(&read(&a), &read(&b), &limit) {
            lines.push_str(&format!("{op}\t{a}\t{b}\t{result}\n"));
            count += 1;
        }
    }
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || pipe.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    writer.join().expect("the writer ends").expect("the script reads");
    let complete = text.contains(&format!("checked {count} ")) && text.contains(" wrong 0 ");
    assert!(output.status.success() && complete, "{text}");
}

#[test]
fn operations_agree_with_isl() {
    agree_with_isl(7, 12);
}

#[test]
#[ignore = "thousands of results"]
fn operations_agree_with_isl_at_length() {
    for seed in 100..120 {
        agree_with_isl(seed, 30);
    }
}
