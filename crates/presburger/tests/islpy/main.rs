//! Every operation on generated relations against isl, through its Python package.
//!
//! The report says how the inputs are distributed and how many results were found within the
//! budget; giving up counts as a failure. `-- --nocapture` shows it.

mod generate;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use generate::Source;
use tangram_presburger::{Budget, Error, Relation};

/// What one operation may take.
const STEPS: u64 = 3_000_000;

fn python() -> Option<String> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let path = std::env::var("TANGRAM_PYTHON").unwrap_or_else(|_| local.display().to_string());
    let found = Command::new(&path).args(["-c", "import islpy"]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(path)
}

type Operation = fn(&Relation, &Relation, &Budget) -> Result<Relation, Error>;
type Question = fn(&Relation, &Relation, &Budget) -> Result<bool, Error>;

const RELATIONS: [(&str, Operation); 34] = [
    ("same", |a, _, _| Ok(a.clone())),
    ("intersect", |a, b, limit| a.intersect(b, limit)),
    ("union", |a, b, _| a.union(b)),
    ("subtract", |a, b, limit| a.subtract(b, limit)),
    ("symmetric", |a, b, limit| a.symmetric_difference(b, limit)),
    ("complement", |a, _, limit| a.complement(limit)),
    ("inverse", |a, _, _| a.inverse()),
    ("domain", |a, _, limit| a.domain(limit)),
    ("range", |a, _, limit| a.range(limit)),
    ("params", |a, _, limit| a.params(limit)),
    ("lexmin", |a, _, limit| a.lexmin(limit)),
    ("lexmax", |a, _, limit| a.lexmax(limit)),
    ("least_output", |a, _, limit| a.range(limit)?.lexmin(limit)),
    ("compose", |a, b, limit| a.apply_range(&b.inverse()?, limit)),
    ("apply_domain", |a, b, limit| a.apply_domain(b, limit)),
    ("restrict", |a, b, limit| a.intersect_domain(&b.domain(limit)?, limit)),
    ("subtract_range", |a, b, limit| a.subtract_range(&b.range(limit)?, limit)),
    ("wrap", |a, _, _| a.wrap()),
    ("product", |a, b, limit| a.product(b, limit)),
    ("zip", |a, b, limit| a.product(b, limit)?.zip()),
    ("range_product", |a, b, limit| a.range_product(b, limit)),
    ("domain_product", |a, b, limit| a.domain_product(b, limit)),
    ("uncurry", |a, b, limit| a.range_product(b, limit)?.uncurry()),
    ("project", |a, _, limit| a.domain(limit)?.project_out(0..1, limit)),
    ("affine_hull", |a, _, limit| a.affine_hull(limit)),
    ("coalesce", |a, _, limit| a.coalesce(limit)),
    ("gist", |a, b, limit| a.gist(b, limit)),
    ("make_disjoint", |a, _, limit| a.make_disjoint(limit)),
    ("redundancies", |a, _, limit| a.remove_redundancies(limit)),
    ("simple_hull", |a, _, limit| a.simple_hull(limit)),
    ("polyhedral_hull", |a, _, limit| a.polyhedral_hull(limit)),
    ("convex_hull", |a, _, limit| a.convex_hull(limit)),
    ("unshifted", |a, _, limit| a.unshifted_simple_hull(limit)),
    ("sample", |a, _, limit| match a.sample(limit)? {
        Some(point) => Relation::point(a.space().clone(), &point),
        None => Ok(Relation::empty(a.space().clone())),
    }),
];

const QUESTIONS: [(&str, Question); 9] = [
    ("subset", |a, b, limit| a.is_subset(b, limit)),
    ("strict_subset", |a, b, limit| a.intersect(b, limit)?.is_strict_subset(a, limit)),
    ("surjective", |a, b, limit| a.is_surjective_onto(&b.range(limit)?, limit)),
    ("equal", |a, b, limit| a.is_equal(b, limit)),
    ("disjoint", |a, b, limit| a.is_disjoint(b, limit)),
    ("empty", |a, b, limit| a.intersect(b, limit)?.is_empty(limit)),
    ("single", |a, _, limit| a.is_single_valued(limit)),
    ("injective", |a, _, limit| a.is_injective(limit)),
    ("bijective", |a, _, limit| a.is_bijective(limit)),
];

/// All results as the oracle reads them.
fn results(a: &Relation, b: &Relation) -> Vec<(&'static str, String)> {
    let text = |result: Result<String, Error>| result.unwrap_or_else(|e| format!("error: {e}"));
    let limit = || Budget::steps(STEPS);
    let relation = |name: &str, f: Operation| {
        let limit = limit();
        let result = text(f(a, b, &limit).map(|r| r.to_string()));
        if limit.used() > STEPS / 10 {
            println!("{name}: {} steps for {a} and {b}", limit.used());
        }
        result
    };
    let answer = |f: Question| text(f(a, b, &limit()).map(|r| r.to_string()));
    let mut all: Vec<_> = RELATIONS.iter().map(|(name, f)| (*name, relation(name, *f))).collect();
    all.extend(QUESTIONS.iter().map(|(name, f)| (*name, answer(*f))));
    let space = a.space();
    if space.input.as_ref() == Some(&space.output) {
        all.push(("deltas", text(a.deltas(&limit()).map(|r| r.to_string()))));
        let closure = a.transitive_closure(&limit());
        all.push(("closure", text(closure.map(|(c, exact)| format!("{exact}|{c}")))));
    }
    all
}

/// Compares what is done within the budget; says how many results are not.
fn agree_with_isl(seeds: std::ops::Range<u64>, pairs: usize, zeros: usize) -> usize {
    let Some(python) = python() else {
        println!("skipped: needs islpy");
        return 0;
    };
    let (mut lines, mut count) = (String::new(), 0);
    for seed in seeds {
        let mut source = Source { state: seed, zeros };
        for index in 0..pairs {
            let shape = source.shape();
            let (a, b) = (source.map(&shape, 1 + index % 3), source.map(&shape, 1 + index % 2));
            let read = |text: &str| {
                let relation = Relation::parse(text, &Budget::steps(STEPS));
                relation.unwrap_or_else(|e| panic!("{text}: {e}"))
            };
            for (op, result) in results(&read(&a), &read(&b)) {
                lines.push_str(&format!("{op}\t{a}\t{b}\t{result}\n"));
                count += 1;
            }
        }
    }
    let mut child = Command::new(python)
        .args(["-c", include_str!("oracle.py")])
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
    let open = text.matches("GIVEN UP").count();
    let summary = format!("checked {count} given up {open} wrong 0 end");
    assert!(output.status.success() && text.contains(&summary), "{text}");
    open
}

#[test]
fn operations_agree_with_isl() {
    assert_eq!(agree_with_isl(11..12, 12, 0), 0);
}

#[test]
fn large_numbers_agree_with_isl() {
    // The cuts of a parametric minimum may be as many as its constants are large.
    assert!(agree_with_isl(7..8, 1, 40) + agree_with_isl(6..7, 1, 400) <= 4);
}

#[test]
#[ignore = "thousands of results"]
fn operations_agree_with_isl_at_length() {
    // A report for each seed: what was checked is known even if the run is cut short.
    let open = (100..103).map(|seed| agree_with_isl(seed..seed + 1, 40, 0)).sum::<usize>();
    assert_eq!(open, 0);
}
