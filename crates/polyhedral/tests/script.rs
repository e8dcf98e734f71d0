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
    // What runs more, or a part of it, on purpose.
    let other = ["overlap", "insert_extension_before", "insert_extension_after", "map_to_units"];
    for [name, tree_name, first, step] in cases().filter(|[name, ..]| !other.contains(name)) {
        let mut before = ran(&tree(tree_name));
        let mut after = ran(&applied(tree_name, &format!("{first}; {step}")).expect(step));
        before.sort();
        after.sort();
        assert_eq!(before, after, "{name}");
    }
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
