//! Trees: reading, printing, the rules they keep, and the order they stand for.

use tangram_polyhedral::{Error, Fault, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Every kind of node but extension, with flags and options.
const EVERY_NODE: &str = r#"
domain: "[N] -> { A[i] : 0 <= i < N; B[i, j] : 0 <= i < N and 0 <= j <= i }"
child:
  context: "[N] -> { [] : N > 4 }"
  child:
    schedule: "[N] -> [{ A[i] -> [(floor((i)/32))]; B[i, j] -> [(floor((j)/32))] }, { A[i] -> [(2i + N)]; B[i, j] -> [(-j + 1)] }]"
    permutable: 1
    coincident: [ 1, 0 ]
    options: "{ separate[0]; unroll[1] }"
    child:
      mark: "here"
      child:
        set:
        - filter: "[N] -> { A[i] }"
          child:
            guard: "[N] -> { [t, u] : u >= 5 }"
            child:
              contraction: "{ C[i, k] -> A[i] }"
              expansion: "{ A[i] -> C[i, k] : 0 <= k < 2 }"
              child:
                schedule: "[{ C[i, k] -> [(k)] }]"
        - filter: "[N] -> { B[i, j] }"
          child:
            sequence:
            - filter: "{ B[i, 0] }"
            - filter: "{ B[i, j] : j > 0 }"
              child:
                schedule: "[{ B[i, j] -> [(i)] }]"
"#;

#[test]
fn marks_of_any_name_read_as_they_print() {
    for (written, name) in [
        ("it's", "it's"),
        (r##"a \"b\" \\ c"##, r#"a "b" \ c"#),
        (r"\t\x1e\u0085", "\t\u{1e}\u{85}"),
        ("größe 瓦片 \u{1f600}", "größe 瓦片 \u{1f600}"),
    ] {
        let text = format!("domain: \"{{ S[] }}\"\nchild:\n  mark: \"{written}\"");
        for tree in [tree(&text), tree(&tree(&text).to_string())] {
            let marks = tree.nodes().filter_map(|node| match tree.kind(node) {
                NodeKind::Mark(name) => Some(name.clone()),
                _ => None,
            });
            assert_eq!(marks.collect::<Vec<_>>(), [name]);
        }
    }
}

#[test]
fn a_tree_reads_as_it_prints() {
    let first = tree(EVERY_NODE);
    first.check(&budget()).expect("well-formed");
    let text = first.to_string();
    let second = tree(&text);
    second.check(&budget()).expect("well-formed");
    assert_eq!(second.to_string(), text);
    let kinds = |tree: &ScheduleTree| -> Vec<&str> {
        tree.nodes().map(|node| tree.kind(node).name()).collect()
    };
    assert_eq!(kinds(&first), kinds(&second));
    for kind in ["domain", "context", "band", "mark", "set", "sequence", "guard", "expansion"] {
        assert!(kinds(&first).contains(&kind), "{kind}");
    }
    let same = first.to_map(&budget()).expect("a map");
    assert!(same.is_equal(&second.to_map(&budget()).expect("a map"), &budget()).expect("decided"));
    let Some(NodeKind::Band(band)) =
        second.nodes().map(|node| second.kind(node)).find(|kind| kind.name() == "band")
    else {
        panic!("no band in {text}");
    };
    assert!(band.permutable && band.members[0].coincident && !band.members[1].coincident);
    assert!(
        band.options.is_equal(&union("{ separate[0]; unroll[1] }"), &budget()).expect("decided")
    );
    assert!(text.contains("A[i] -> [(floor((i)/32))]"), "{text}");
}

#[test]
fn the_map_numbers_children_and_fills_up_with_zeros() {
    let map = tree(EVERY_NODE).to_map(&budget()).expect("a map");
    let expected = union(
        "[N] -> { C[i, k] -> [floor(i/32), 2i + N, 0, k, 0] : 0 <= i < N and 0 <= k < 2;
           B[i, j] -> [0, 1, 1, 0, 0] : j = 0 and 0 <= i < N;
           B[i, j] -> [floor(j/32), 1 - j, 1, 1, i] : 0 < j <= i < N }",
    );
    assert!(map.is_equal(&expected, &budget()).expect("decided"), "{map}");
}

#[test]
fn two_loops_of_the_same_depth_differ_in_the_sequence() {
    let text = r#"
domain: "[M, N] -> { S1[i] : 0 <= i < M; S2[i, j] : 0 <= i < M and 0 <= j <= N; S3[i] : 0 <= i < M }"
child:
  sequence:
  - filter: "{ S1[i] }"
    child: { schedule: "[{ S1[i] -> [(i)] }]" }
  - filter: "{ S2[i, j]; S3[i] }"
    child:
      schedule: "[{ S2[i, j] -> [(i)]; S3[i] -> [(i)] }]"
      child:
        sequence:
        - filter: "{ S2[i, j] }"
          child: { schedule: "[{ S2[i, j] -> [(j)] }]" }
        - filter: "{ S3[i] }"
"#;
    let map = tree(text).to_map(&budget()).expect("a map");
    let expected = union(
        "[M, N] -> { S1[i] -> [0, i, 0, 0] : 0 <= i < M;
           S2[i, j] -> [1, i, 0, j] : 0 <= i < M and 0 <= j <= N;
           S3[i] -> [1, i, 1, 0] : 0 <= i < M }",
    );
    assert!(map.is_equal(&expected, &budget()).expect("decided"), "{map}");
}

#[test]
fn deep_trees_need_no_stack() {
    let set = union("{ A[i] : 0 <= i < 4 }");
    let mut deep = ScheduleTree::new(NodeKind::Domain(set));
    let mut node = deep.root();
    for _ in 0..50_000 {
        node = deep.add(node, NodeKind::Mark("m".into()));
    }
    deep.close();
    deep.check(&budget()).expect("well-formed");
    assert_eq!(deep.to_map(&budget()).expect("a map").relations().count(), 1);
}

/// The domain and what stands below it.
fn fault(below: &str) -> Fault {
    let text =
        format!("domain: \"[N] -> {{ A[i] : 0 <= i < N; B[i] : 0 <= i < N }}\"\nchild:\n{below}");
    match tree(&text).check(&budget()) {
        Err(Error::IllFormed { fault, .. }) => fault,
        other => panic!("expected a fault, found {other:?} in\n{text}"),
    }
}

#[test]
fn each_rule_has_a_tree_that_breaks_it() {
    let cases: &[(&str, Fault)] = &[
        ("  domain: \"{ A[i] }\"", Fault::InnerDomain),
        ("  sequence: []", Fault::NoChildren),
        ("  set: []", Fault::NoChildren),
        ("  sequence:\n  - mark: \"m\"", Fault::NotFilter),
        ("  set:\n  - schedule: \"[{ A[i] -> [(i)]; B[i] -> [(i)] }]\"", Fault::NotFilter),
        ("  mark: \"\"", Fault::NamelessMark),
        ("  schedule: \"[]\"", Fault::NoMembers),
        ("  schedule: \"[{ A[i] -> [(i)] }]\"", Fault::MemberPartial { member: 0 }),
        (
            "  schedule: \"[{ A[i] -> [(i)]; B[i] -> [(i)] }, { A[i] -> [j] : 0 <= j < 2; B[i] -> [(i)] }]\"",
            Fault::MemberManyValued { member: 1 },
        ),
        ("  schedule: \"[{ A[i] -> [i, i]; B[i] -> [i, 0] }]\"", Fault::MemberSpace { member: 0 }),
        ("  context: \"[N] -> { [t] : t > 0 }\"", Fault::OuterDimensions { expected: 0, found: 1 }),
        (
            "  schedule: \"[{ A[i] -> [(i)]; B[i] -> [(i)] }]\"\n  child:\n    guard: \"{ [t, u] : t > u }\"",
            Fault::OuterDimensions { expected: 1, found: 2 },
        ),
        ("  extension: \"{ [t] -> C[t] }\"", Fault::OuterDimensions { expected: 0, found: 1 }),
        ("  extension: \"{ C[t] }\"", Fault::Shape { expected: "relations" }),
        ("  filter: \"{ A[i] -> B[i] }\"", Fault::Shape { expected: "sets" }),
        ("  guard: \"[N] -> { [] -> [] : N > 0 }\"", Fault::Shape { expected: "a set" }),
        ("  filter: \"[M] -> { A[i] : i < M }\"", Fault::Parameter { name: "M".into() }),
        (
            "  contraction: \"{ C[i] -> A[i]; C[i] -> B[i] }\"\n  expansion: \"{ A[i] -> C[i]; B[i] -> C[i] }\"",
            Fault::ContractionManyValued,
        ),
        (
            "  contraction: \"{ C[i] -> A[i] }\"\n  expansion: \"{ A[i] -> C[i + 1] }\"",
            Fault::ExpansionMismatch,
        ),
        (
            "  contraction: \"{ C[i] -> A[i] }\"\n  expansion: \"{ A[i] -> C[i] }\"",
            Fault::ExpansionPartial,
        ),
    ];
    let found: Vec<(&str, Fault)> = cases.iter().map(|(below, _)| (*below, fault(below))).collect();
    assert_eq!(found, cases);
}

#[test]
fn options_of_bands_have_an_effect() {
    let band = |options: &str| {
        let band = "schedule: \"[{ A[i] -> [(i)]; B[i] -> [(i)] }]\"";
        format!("  {band}\n  child:\n    {band}\n    options: \"{options}\"")
    };
    for (options, said) in [
        ("{ unrol[0] }", "options are atomic, interleave, isolate, jam, separate, unroll"),
        ("{ separation_class[[0] -> [0]] }", "no option `separation_class`"),
        ("{ unroll[0]; unroll[1] }", "for no member: there is 1, counted from 0"),
        ("{ jam[1, 4] }", "for no member: there is 1"),
        ("{ jam[0, 1] }", "expected a number of iterations from 2 to 64"),
        ("{ jam[0] }", "expected a member and a number of iterations, `jam[0, 2]`"),
        ("{ unroll[0, 0] }", "expected one dimension, `unroll[0]`"),
        ("{ [i] -> unroll[0] }", "expected a set"),
        ("{ [isolate[] -> unrol[0]] }", "no option `unrol`"),
        ("{ [isolate[] -> unroll[3]] }", "for no member"),
        (
            "{ isolate[[x, y] -> [z]] : x > 3 }",
            "1 outer dimension or none, and no more than 1 member of the band",
        ),
        ("{ isolate[x] : x > 3 }", "expected `isolate[[...] -> [...]]`"),
    ] {
        let found = fault(&band(options)).to_string();
        assert!(found.contains(said), "{options}: {found}");
    }
    let domain = "domain: \"{ A[i] : 0 <= i < 9; B[i] : 0 <= i < 9 }\"\nchild:\n";
    for options in [
        "{ isolate[[x] -> [y]] : 3 < x; [isolate[] -> unroll[0]]; unroll[x] }",
        "{ isolate[[] -> [y]] : 3 < y }",
        "{ jam[0, 4]; interleave[0, 2]; atomic[x] : x >= 7; separate[0] }",
    ] {
        let text = format!("{domain}{}", band(options));
        tree(&text).check(&budget()).unwrap_or_else(|error| panic!("{options}: {error}"));
    }
}

#[test]
fn roots_and_leaves_are_checked() {
    let check = |tree: &ScheduleTree| match tree.check(&budget()) {
        Err(Error::IllFormed { fault, .. }) => fault,
        other => panic!("expected a fault, found {other:?}"),
    };
    assert_eq!(check(&tree("filter: \"{ A[i] }\"")), Fault::Root);
    let mut open = ScheduleTree::new(NodeKind::Domain(union("{ A[i] }")));
    assert_eq!(check(&open), Fault::Children { found: 0 });
    open.add(open.root(), NodeKind::Leaf);
    open.check(&budget()).expect("well-formed");
    let second = open.add(open.root(), NodeKind::Leaf);
    assert_eq!(check(&open), Fault::Children { found: 2 });
    let mut grown = ScheduleTree::new(NodeKind::Domain(union("{ A[i] }")));
    let leaf = grown.add(grown.root(), NodeKind::Leaf);
    grown.add(leaf, NodeKind::Leaf);
    assert_eq!(check(&grown), Fault::LeafWithChildren);
    assert_eq!(second.index(), 2);
}

#[test]
fn a_context_introduces_parameters_for_its_subtree_alone() {
    let inside = "domain: \"{ A[i] }\"\nchild:\n  context: \"[b] -> { [] : 0 <= b < 8 }\"\n  child:\n    filter: \"[b] -> { A[i] : i mod 8 = b }\"";
    tree(inside).check(&budget()).expect("well-formed");
    let beside = "domain: \"{ A[i]; B[i] }\"\nchild:\n  sequence:\n  - filter: \"{ A[i] }\"\n    child: { context: \"[b] -> { [] : 0 <= b < 8 }\" }\n  - filter: \"[b] -> { B[i] : i = b }\"";
    let Err(Error::IllFormed { fault, .. }) = tree(beside).check(&budget()) else {
        panic!("expected a fault");
    };
    assert_eq!(fault, Fault::Parameter { name: "b".into() });
}

#[test]
fn bad_texts_say_where_they_are_wrong() {
    let cases = [
        ("", "line 1, column 1: expected a document, found `nothing`"),
        (
            "domain: \"{ A[i] }\"\nchild:\n  colour: \"red\"",
            "line 3, column 3: unknown key `colour`; known keys: child, coincident, context, contraction, \
             domain, expansion, extension, filter, guard, leaf, mark, options, permutable, schedule, \
             sequence, set",
        ),
        (
            "domain: \"{ A[i] }\"\nfilter: \"{ A[i] }\"",
            "line 2, column 9: expected one kind of node, found `{ A[i] }`",
        ),
        (
            "domain: \"{ A[i] }\"\nchild:\n  expansion: \"{ A[i] -> B[i] }\"",
            "line 3, column 3: expected contraction and expansion together, found `expansion`",
        ),
    ];
    for (text, message) in cases {
        let error = ScheduleTree::parse(text, &budget()).expect_err("a bad text");
        assert_eq!(error.to_string(), message, "{text}");
    }
    let error = ScheduleTree::parse("domain: \"{ A[i \"", &budget()).expect_err("a bad set");
    assert!(error.to_string().starts_with("line 1, `domain`: column"), "{error}");
}

#[test]
fn equations_of_repeated_names_keep_their_order() {
    let text = "domain: \"{ S[i, j, k, l] : 0 <= i, j, k, l < 4 }\"\nchild:\n  \
                schedule: \"[{ S[i, i, i, i] -> [(i)] }]\"\n";
    let once = tree(text).to_string();
    assert_eq!(tree(&once).to_string(), once);
}
