//! Scripts of steps: every step by name, what it does, and what is refused.

use std::collections::BTreeSet;

use tangram_polyhedral::ast::{Ast, AstOptions, Instance};
use tangram_polyhedral::transform::{Editor, STEPS, Script};
use tangram_polyhedral::{Error, ScheduleTree};
use tangram_presburger::{Budget, Union};

const CASES: &str = include_str!("steps.txt");

/// The trees that cases name.
fn tree(name: &str) -> ScheduleTree {
    let text = match name {
        "nest" => {
            "domain: \"[n] -> { S[i, j] : 0 <= i < n and 0 <= j < 4; T[i, j] : 0 <= i < n and 0 <= j < 4 }\"\n\
             child:\n  schedule: \"[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }, { S[i, j] -> [(j)]; T[i, j] -> [(j)] }]\"\n  permutable: 1\n  coincident: [ 1, 0 ]\n  \
             child:\n    sequence:\n    - filter: \"{ S[i, j] }\"\n    - filter: \"{ T[i, j] }\"\n"
        }
        "rows" => {
            "domain: \"[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }\"\n\
             child:\n  sequence:\n  - filter: \"{ S[i] }\"\n    child:\n      schedule: \"[{ S[i] -> [(i)] }]\"\n  \
             - filter: \"{ T[i] }\"\n    child:\n      schedule: \"[{ T[i] -> [(i)] }]\"\n"
        }
        "stencil" => {
            "domain: \"[n] -> { P[i] : 0 <= i <= n and n > 0; C[i] : 1 <= i <= n }\"\n\
             child:\n  sequence:\n  - filter: \"{ P[i] }\"\n    child:\n      schedule: \"[{ P[i] -> [(i)] }]\"\n  \
             - filter: \"{ C[i] }\"\n    child:\n      schedule: \"[{ C[i] -> [(i)] }]\"\n"
        }
        _ => {
            "domain: \"[n] -> { S[t, i] : 0 <= t < n and 0 <= i < 6 }\"\n\
             child:\n  schedule: \"[{ S[t, i] -> [(t)] }, { S[t, i] -> [(t + i)] }]\"\n"
        }
    };
    ScheduleTree::parse(text, &Budget::unlimited()).expect("a tree")
}

/// The dependences of a tree.
fn dependences(name: &str) -> Union {
    let text = match name {
        "stencil" => "[n] -> { P[i] -> C[i] : 1 <= i <= n; P[i] -> C[i + 1] : 0 <= i < n }",
        "time" => {
            "[n] -> { S[t, i] -> S[t + 1, k] : 0 <= t < n - 1 and 0 <= i < 6 and 0 <= k < 6 and \
             i - 1 <= k <= i + 1 }"
        }
        _ => "{ }",
    };
    Union::parse(text, &Budget::unlimited()).expect("pairs")
}

fn cases() -> impl Iterator<Item = [&'static str; 4]> {
    CASES.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let fields: Vec<&str> = line.split(" | ").collect();
        fields.try_into().expect("four fields")
    })
}

fn applied(name: &str, steps: &str) -> Result<ScheduleTree, Error> {
    let budget = Budget::unlimited();
    let mut editor = Editor::new(tree(name), dependences(name), &budget)?;
    let root = editor.tree().root();
    Script::parse(steps)?.apply(&mut editor, root)?;
    Ok(editor.into_tree())
}

fn ran(tree: &ScheduleTree) -> Vec<Instance> {
    let budget = Budget::unlimited();
    let ast = Ast::of_tree(tree, None, &AstOptions::default(), &budget).expect("code");
    let values: Vec<i128> = ast.params().iter().map(|name| i128::from(name == "n") * 5).collect();
    ast.run(&values, 100_000).expect("an end")
}

#[test]
fn every_step_has_a_case_that_changes_the_tree_or_only_goes() {
    let names: BTreeSet<&str> = STEPS.iter().map(|(name, ..)| *name).collect();
    let tried: BTreeSet<&str> = cases().map(|[name, ..]| name).collect();
    assert_eq!(names, tried);
    let going = ["root", "parent", "child", "next", "previous", "find", "find_mark"];
    for [name, tree_name, first, step] in cases() {
        let before = applied(tree_name, first).expect(first);
        let after = applied(tree_name, &format!("{first}; {step}")).expect(step);
        let changed = before.to_string() != after.to_string();
        assert_eq!(changed, !going.contains(&name), "{name}:\n{before}{after}");
        let word = step.split(' ').next();
        assert_eq!(word, Some(name));
    }
}

#[test]
fn steps_keep_every_instance() {
    // What runs more, others, or a part of it, on purpose.
    let other = [
        "overlap",
        "insert_extension",
        "insert_extension_before",
        "insert_extension_after",
        "graft_before",
        "graft_after",
        "insert_barrier",
        "map_to_units",
        "intersect_domain",
        "pullback",
        "then",
        "beside",
        "expand",
    ];
    for [name, tree_name, first, step] in cases().filter(|[name, ..]| !other.contains(name)) {
        let mut before = ran(&tree(tree_name));
        let mut after = ran(&applied(tree_name, &format!("{first}; {step}")).expect(step));
        before.sort();
        after.sort();
        assert_eq!(before, after, "{name}");
    }
}

/// Operations of editors that steps have another name for.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("extend", "insert_extension"),
    ("graft", "graft_after"),
    ("insert_extension", "insert_extension_after"),
    ("set_isolate_loop_type", "isolate_loop_type"),
    ("set_loop_type", "loop_type"),
];

#[test]
fn every_operation_of_an_editor_is_a_step() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/transform");
    let files =
        std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let rust = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let mut found = 0;
    for path in rust {
        let text = std::fs::read_to_string(&path).expect("text");
        for method in text.split("    pub fn ").skip(1) {
            let head = method.split_once('{').map_or(method, |(head, _)| head);
            if !head.contains("&mut self") {
                continue;
            }
            found += 1;
            let name = head.split(['(', '<']).next().expect("a name");
            let other = OTHER_NAMES.iter().find(|(known, _)| *known == name);
            let step = other.map_or(name, |(_, step)| step);
            assert!(STEPS.iter().any(|(known, ..)| *known == step), "`{name}` is no step");
        }
    }
    assert!(found > 45, "{found} operations");
}

#[test]
fn other_trees_run_where_they_are_put() {
    let calls = |steps: &str| {
        let ran = ran(&applied("rows", steps).expect(steps));
        let text = ran.iter().map(|call| format!("{}{:?}", call.statement, call.point));
        text.collect::<Vec<_>>().join(" ")
    };
    let last = "domain: '{ X[k] : 0 <= k < 2 }', child: { schedule: '[{ X[k] -> [(-k)] }]' }";
    let rest = "intersect_domain { S[i] : i < 2; T[i] : i = 0 }";
    assert_eq!(calls(rest), "S[0] S[1] T[0]");
    assert_eq!(calls(&format!("{rest}; then {{ {last} }}")), "S[0] S[1] T[0] X[1] X[0]");
    assert_eq!(
        calls(&format!("{rest}; find leaf; graft_before {{ {last} }}")),
        "X[1] X[0] S[0] X[1] X[0] S[1] T[0]"
    );
    let groups = "pullback { A[i] -> S[1 - i]; T[i] -> T[i] }";
    assert_eq!(calls(&format!("{rest}; {groups}")), "A[1] A[0] T[0]");
    let order = "domain: '{ X[i, k] : 0 <= k < 2; T[i] }', child: { schedule: '[{ X[i, k] -> [(-k)]; \
                 T[i] -> [(0)] }]' }";
    assert_eq!(
        calls(&format!("{rest}; expand {{ X[i, k] -> S[i]; T[i] -> T[i] }} {{ {order} }}")),
        "X[0, 1] X[0, 0] X[1, 1] X[1, 0] T[0]"
    );
}

#[test]
fn pairs_follow_the_instances_that_they_are_of() {
    let budget = Budget::unlimited();
    let order = |steps: &str| {
        let pairs = Union::parse("{ S[i] -> S[i + 1] }", &budget).expect("pairs");
        let mut editor = Editor::new(tree("rows"), pairs, &budget)?;
        let root = editor.tree().root();
        Script::parse(steps)?.apply(&mut editor, root).map(|_| ())
    };
    let changed = "pullback { A[i] -> S[i]; T[i] -> T[i] }; find band";
    order(&format!("{changed}; shift 0 1")).expect("the same order");
    order(&format!("{changed}; scale 0 -1")).expect_err("backwards");
    order(&format!("{changed}; unimodular -1")).expect_err("backwards");
    // Statements of a tree that comes later have pairs already.
    let pairs = Union::parse("{ S[i] -> A[i]; A[i] -> A[i + 1] }", &budget).expect("pairs");
    let with = |step: &str| {
        let mut editor = Editor::new(tree("rows"), pairs.clone(), &budget).expect("legal");
        let root = editor.tree().root();
        let other =
            "{ domain: '{ A[i] : 0 <= i < 3 }', child: { schedule: '[{ A[i] -> [(i)] }]' } }";
        Script::parse(&format!("{step} {other}"))
            .expect("steps")
            .apply(&mut editor, root)
            .map(|_| ())
    };
    with("then").expect("behind");
    with("beside").expect_err("in any order");
}

#[test]
fn names_of_islpy_are_known_as_well() {
    let ours = applied("nest", "find band; tile 3 2").expect("a tile");
    let isl = applied("nest", "find band\nband_tile 3, 2 # the same").expect("a tile");
    assert_eq!(ours.to_string(), isl.to_string());
}

#[test]
fn what_breaks_an_order_is_refused_at_its_place() {
    let budget = Budget::unlimited();
    let mut editor = Editor::new(tree("time"), dependences("time"), &budget).expect("legal");
    let root = editor.tree().root();
    let script = Script::parse("find band; skew 1 0 -1\n  interchange 0 1").expect("steps");
    let error = script.apply(&mut editor, root).expect_err("backwards");
    assert_eq!(error.place(&[]), Some((2, 3)));
    assert_eq!(
        error.without_place(),
        "`interchange`: member 0 runs an instance before one that it depends on"
    );
    let unskewed = applied("time", "find band; skew 1 0 -1").expect("legal");
    assert_eq!(editor.tree().to_string(), unskewed.to_string());
}

#[test]
fn what_is_no_step_says_where() {
    let wrong = |steps: &str| {
        let error = applied("nest", steps).expect_err(steps);
        (error.place(&[]), error.without_place())
    };
    let (place, text) = wrong("find band; tiel 3 2");
    assert_eq!(place, Some((1, 12)));
    assert!(text.starts_with("unknown key `tiel`; known keys: root, parent"), "{text}");
    for (steps, column, text) in [
        ("find band; tile x", 17, "expected an integer, found `x`"),
        ("find band; tile", 12, "expected an integer, found `tile without more`"),
        ("find band; split 1 2", 20, "expected the end of the step, found `2`"),
        ("3", 1, "expected the name of a step, found `3`"),
        ("find band; insert_mark 'x", 26, "expected a quote that ends the text, found `the end`"),
        (
            "find leaf; insert_filter { S[",
            30,
            "expected a `}` that ends the set or map, found `the end`",
        ),
        (
            "find leaf; insert_filter { S[i }",
            30,
            "`insert_filter`: expected a name in scope (`[i] -> { .. }` makes `i` a parameter), \
             found `i`",
        ),
    ] {
        assert_eq!(wrong(steps), (Some((1, column)), text.to_owned()), "{steps}");
    }
}
