//! The pictures of `docs/schedule-trees.md`: one for each kind of node and each operation.
//!
//! `BLESS=1` writes them; what they show is checked by the tests of the operations.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tangram_polyhedral::picture::Domains;
use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{Band, Error, Member, Node, ScheduleTree};
use tangram_presburger::{Budget, Relation, Union};

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn set(text: &str) -> Relation {
    union(text).single().expect("one set").clone()
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Two loops.
const NEST: &str = "domain: \"[N] -> { S[i, j] : 0 <= i, j < N }\"
child:
  schedule: \"[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]\"
";
/// Two loops, one after the other.
const PAIR: &str = "domain: \"[N] -> { A[i] : 0 <= i <= N and N > 0; B[i] : 1 <= i <= N }\"
child:
  sequence:
  - filter: \"{ A[i] }\"
    child: { schedule: \"[{ A[i] -> [(i)] }]\" }
  - filter: \"{ B[i] }\"
    child: { schedule: \"[{ B[i] -> [(i)] }]\" }
";
/// One loop with two statements.
const BODY: &str = "domain: \"[N] -> { A[i] : 0 <= i < N; B[i] : 0 <= i < N }\"
child:
  schedule: \"[{ A[i] -> [(i)]; B[i] -> [(i)] }]\"
  child: { sequence: [ { filter: \"{ A[i] }\" }, { filter: \"{ B[i] }\" } ] }
";

/// Trees with each kind of node.
const NODES: &[(&str, &str)] = &[
    ("domain", "domain: \"[N] -> { S[i, j] : 0 <= i, j < N }\"\n"),
    ("band", NEST),
    ("sequence", PAIR),
    ("filter", "domain: \"{ A[i] : 0 <= i < 9; B[] }\"\nchild: { filter: \"{ A[i] : i > 2 }\" }\n"),
    (
        "set",
        "domain: \"{ A[]; B[] }\"\nchild: { set: [ { filter: \"{ A[] }\" }, { filter: \"{ B[] }\" } ] }\n",
    ),
    (
        "context",
        "domain: \"[N] -> { S[i] : 0 <= i < N }\"\nchild:\n  context: \"[N] -> { [] : N >= 8 }\"\n  child: { schedule: \"[{ S[i] -> [(i)] }]\" }\n",
    ),
    (
        "guard",
        "domain: \"[N] -> { S[i, j] : 0 <= i, j < N }\"\nchild:\n  schedule: \"[{ S[i, j] -> [(i)] }]\"\n  child:\n    guard: \"[N] -> { [i] : 2i < N }\"\n    child: { schedule: \"[{ S[i, j] -> [(j)] }]\" }\n",
    ),
    (
        "mark",
        "domain: \"{ S[i] : 0 <= i < 9 }\"\nchild: { mark: \"kernel\", child: { schedule: \"[{ S[i] -> [(i)] }]\" } }\n",
    ),
    (
        "extension",
        "domain: \"[N] -> { S[i, j] : 0 <= i, j < N }\"\nchild:\n  schedule: \"[{ S[i, j] -> [(i)] }]\"\n  child:\n    extension: \"[N] -> { [i] -> copy[i, k] : 0 <= k < N }\"\n    child: { sequence: [ { filter: \"{ copy[i, k] }\" }, { filter: \"{ S[i, j] }\" } ] }\n",
    ),
    (
        "expansion",
        "domain: \"{ group[i] : 0 <= i < 9 }\"\nchild:\n  schedule: \"[{ group[i] -> [(i)] }]\"\n  child:\n    contraction: \"{ A[i] -> group[i]; B[i] -> group[i] }\"\n    expansion: \"{ group[i] -> A[i]; group[i] -> B[i] }\"\n    child: { sequence: [ { filter: \"{ A[i] }\" }, { filter: \"{ B[i] }\" } ] }\n",
    ),
    ("leaf", "domain: \"{ S[] }\"\nchild: { filter: \"{ S[] }\" }\n"),
];

type Operation = fn(&mut Editor, Node) -> Result<Node, Error>;

/// Operations, the tree that each starts from, and the kind of node that it is applied to.
const OPERATIONS: &[(&str, &str, &str, Operation)] = &[
    ("insert-context", NEST, "band", |e, n| e.insert_context(n, set("[N] -> { [] : N > 3 }"))),
    ("insert-filter", NEST, "band", |e, n| e.insert_filter(n, union("{ S[i, j] }"))),
    ("insert-mark", NEST, "band", |e, n| e.insert_mark(n, "kernel")),
    ("insert-guard", NEST, "band", |e, n| e.insert_guard(n, set("[N] -> { [] : N > 3 }"))),
    ("insert-band", NEST, "band", |e, n| {
        let schedule = union("{ S[i, j] -> [i + j] }");
        let members = vec![Member { schedule, coincident: false }];
        e.insert_band(n, Band { members, permutable: false, options: Union::empty() })
    }),
    ("insert-sequence", NEST, "band", |e, n| {
        e.insert_sequence(n, vec![union("{ S[i, j] : j > 0 }"), union("{ S[i, 0] }")])
    }),
    ("insert-set", NEST, "band", |e, n| {
        e.insert_set(n, vec![union("{ S[i, j] : j > 0 }"), union("{ S[i, 0] }")])
    }),
    ("insert-extension", NEST, "band", |e, n| {
        e.insert_extension(n, union("{ [] -> copy[k] : 0 <= k < 8 }"), true)
    }),
    ("shift", NEST, "band", |e, n| e.shift(n, 0, 5)),
    ("scale", NEST, "band", |e, n| e.scale(n, 1, 3)),
    ("skew", NEST, "band", |e, n| e.skew(n, 1, 0, 1)),
    ("interchange", NEST, "band", |e, n| e.interchange(n, 0, 1)),
    ("unimodular", NEST, "band", |e, n| e.unimodular(n, &[vec![0, 1, 1], vec![0, 0, -1]])),
    ("wavefront", NEST, "band", |e, n| {
        let n = e.shift(n, 0, 0)?;
        e.wavefront(n, 2)
    }),
    ("tile", NEST, "band", |e, n| e.tile(n, &[32, 8])),
    ("diamond", NEST, "band", |e, n| {
        let n = e.skew(n, 1, 0, 1)?;
        e.diamond(n, &[8, 8])
    }),
    ("full-tiles", NEST, "band", |e, n| {
        let n = e.tile(n, &[32, 8])?;
        e.separate_full_tiles(n, &[32, 8])
    }),
    ("strip-mine", NEST, "band", |e, n| e.strip_mine(n, 1, 4)),
    ("split", NEST, "band", |e, n| e.split(n, 1)),
    ("combine", NEST, "band", |e, n| {
        let n = e.split(n, 1)?;
        e.combine(n)
    }),
    ("fuse", PAIR, "sequence", |e, n| e.fuse(n)),
    ("distribute", BODY, "band", |e, n| e.distribute(n)),
    ("distribute-statements", BODY, "band", |e, n| e.distribute_statements(n)),
    ("sink", BODY, "band", |e, n| e.sink(n)),
    ("reorder", PAIR, "sequence", |e, n| e.reorder(n, &[1, 0])),
    ("group", PAIR, "sequence", |e, n| e.group(n, 0..2)),
    ("order-before", NEST, "band", |e, n| e.order_before(n, &union("{ S[i, i] }"))),
    ("order-after", NEST, "band", |e, n| e.order_after(n, &union("{ S[i, i] }"))),
    ("index-set-splitting", NEST, "band", |e, n| {
        e.split_index_set(n, &union("{ S[i, j] : i > j }"))
    }),
    ("arrange", NEST, "band", |e, n| e.arrange(n, &[Some(32), None], &[1, 0])),
    ("unroll-and-jam", NEST, "band", |e, n| {
        let n = e.split(n, 1)?;
        e.unroll_and_jam(n, &[4])
    }),
    ("skewed-jam", NEST, "band", |e, n| {
        let n = e.split(n, 1)?;
        e.jam_skewed(n, 4, 2)
    }),
    ("overlap", PAIR, "sequence", |e, n| e.overlap(n, &[8])),
    ("units", NEST, "band", |e, n| e.map_to_units(n, &["b0", "b1"], &[16, 16])),
];

fn docs() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))
}

fn after(text: &str, kind: &str, dependences: &str, operation: Operation) -> ScheduleTree {
    let budget = budget();
    let mut editor = Editor::new(tree(text), union(dependences), &budget).expect("legal");
    let node = editor.find(|found| found.name() == kind).expect("such a node");
    operation(&mut editor, node).expect("legal");
    editor.into_tree()
}

/// Every picture with its name.
fn pictures() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, text) in NODES {
        let tree = tree(text);
        tree.check(&budget()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(tree.nodes().any(|node| tree.kind(node).name() == *name), "{name}");
        all.push((format!("node-{name}"), tree.to_svg()));
    }
    all.push(("before-nest".into(), tree(NEST).to_svg()));
    all.push(("before-pair".into(), tree(PAIR).to_svg()));
    all.push(("before-body".into(), tree(BODY).to_svg()));
    for (name, text, kind, operation) in OPERATIONS {
        let dependences = match *name {
            "overlap" => "[N] -> { A[i] -> B[i] : 1 <= i <= N; A[i] -> B[i + 1] : 0 <= i < N }",
            "diamond" => {
                "{ S[i, j] -> S[i + 1, j - 1]; S[i, j] -> S[i + 1, j]; S[i, j] -> S[i + 1, j + 1] }"
            }
            "unroll-and-jam" => "{ S[i, j] -> S[i + 1, j] }",
            _ => "{ }",
        };
        all.push((format!("after-{name}"), after(text, kind, dependences, *operation).to_svg()));
    }
    let parts = [NODES[0].1, "domain: \"{ T[] }\"\n"].map(tree);
    let both = ScheduleTree::in_sequence(&parts, &budget()).expect("a tree");
    all.push(("after-in-sequence".into(), both.to_svg()));
    let tiled = after(NEST, "band", "{ }", |e, n| e.tile(n, &[2, 2]));
    let pairs = union("[N] -> { S[i, j] -> S[i, j + 1] : 0 <= i < N and 0 <= j < N - 1 }");
    let params = [("N".to_owned(), 6)];
    let domain = Domains {
        tree: &tiled,
        dependences: Some(&pairs),
        params: &params,
        order: true,
        tiles: true,
    };
    all.push(("domains".into(), domain.to_svg(&budget()).expect("a picture")));
    all
}

#[test]
fn every_node_and_operation_has_its_picture() {
    let folder = docs().join("pictures");
    let page = std::fs::read_to_string(docs().join("schedule-trees.md")).expect("the page");
    let bless = std::env::var("BLESS").is_ok();
    let mut wrong = Vec::new();
    let mut names = BTreeSet::new();
    for (name, svg) in pictures() {
        let path = folder.join(format!("{name}.svg"));
        if bless {
            std::fs::write(&path, &svg).expect("written");
        }
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&svg) {
            wrong.push(format!("{name}.svg is not what is drawn"));
        }
        if !page.contains(&format!("(pictures/{name}.svg)")) {
            wrong.push(format!("{name}.svg is not on the page"));
        }
        names.insert(format!("{name}.svg"));
    }
    for entry in folder.read_dir().expect("the folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Other pictures are screens, or of trees that are read from C (`crates/scop/tests/book.rs`).
        if name.ends_with(".svg") && !name.starts_with("c-") && !names.contains(&name) {
            wrong.push(format!("{name} is drawn by nobody"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
