//! Parametric results against isl, through its Python package.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tangram_presburger::{Budget, Relation};

const SCRIPT: &str = r#"
import sys, islpy
bad = count = nonempty = 0
for line in sys.stdin:
    op, a, b, got = line.rstrip("\n").split("\t")
    x, y, z = (islpy.Map(t) for t in (a, b, got)) if op not in ("domain", "range") else (islpy.Map(a), islpy.Map(b), islpy.Set(got))
    want = {"same": lambda: x, "intersect": lambda: x & y, "union": lambda: x | y, "subtract": lambda: x - y,
            "domain": x.domain, "range": x.range,
            "inverse": x.reverse, "complement": x.complement}[op]()
    count += 1
    nonempty += not want.is_empty()
    if not want.is_equal(z):
        bad += 1
        print("WRONG", op, a, b, "got", got, "want", want)
print("checked", count, "nonempty", nonempty, "wrong", bad)
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

    fn map(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..1 {
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

fn results(a: &Relation, b: &Relation, limit: &Budget) -> Vec<(&'static str, Relation)> {
    let done = |r: Result<Relation, _>| {
        r.unwrap_or_else(|e: tangram_presburger::Error| panic!("{a} and {b}: {e}"))
    };
    vec![
        ("same", a.clone()),
        ("intersect", done(a.intersect(b, limit))),
        ("union", done(a.union(b))),
        ("subtract", done(a.subtract(b, limit))),
        ("complement", done(a.complement(limit))),
        ("domain", done(a.domain(limit))),
        ("range", done(a.range(limit))),
        ("inverse", done(a.inverse())),
    ]
}

#[test]
fn operations_agree_with_isl() {
    let Some(python) = python() else {
        println!("skipped: needs islpy");
        return;
    };
    let mut source = Source(7);
    let mut lines = String::new();
    for _ in 0..12 {
        let (a, b) = (source.map(), source.map());
        let limit = Budget::steps(20_000_000);
        let read =
            |text: &str| Relation::parse(text, &limit).unwrap_or_else(|e| panic!("{text}: {e}"));
        for (op, result) in results(&read(&a), &read(&b), &limit) {
            lines.push_str(&format!("{op}\t{a}\t{b}\t{result}\n"));
        }
    }
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("the script reads");
    let output = child.wait_with_output().expect("the script ends");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(
        output.status.success() && text.contains("checked 96 ") && text.contains(" wrong 0"),
        "{text}"
    );
}
