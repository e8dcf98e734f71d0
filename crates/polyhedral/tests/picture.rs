//! Pictures: what is in them, where it stands, and that they are well-formed.

use tangram_polyhedral::picture::Domains;
use tangram_polyhedral::{Error, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that tags are closed in order and nothing is left unescaped.
fn well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "a stray `>` in {rest}");
        let end = start + rest[start..].find('>').expect("the end of a tag");
        let tag = &rest[start + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a name"));
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
}

/// The values of an attribute of all elements of a kind.
fn values(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
    let mut found = Vec::new();
    for piece in svg.split(&format!("<{element} ")).skip(1) {
        let tag = piece.split('>').next().expect("a tag");
        let value = tag.split(&format!("{attribute}=\"")).nth(1).expect("the attribute");
        found.push(value.split('"').next().expect("a value").parse().expect("a number"));
    }
    found
}

#[test]
fn a_tree_has_a_box_for_each_node() {
    let text = r#"
domain: "[N] -> { A[i] : 0 <= i < N; B[i] : 0 <= i < N }"
child:
  context: "[N] -> { [] : N > 4 }"
  child:
    schedule: "[{ A[i] -> [(i)]; B[i] -> [(i)] }]"
    permutable: 1
    coincident: [ 1 ]
    child:
      mark: "a < b & c"
      child:
        set:
        - filter: "{ A[i] }"
          child:
            guard: "[N] -> { [t] : t >= 5 }"
            child:
              contraction: "{ C[i, k] -> A[i] }"
              expansion: "{ A[i] -> C[i, k] : 0 <= k < 2 }"
        - filter: "{ B[i] }"
          child:
            extension: "{ [t] -> D[t] }"
            child:
              sequence:
              - filter: "{ D[t] }"
              - filter: "{ B[i] }"
"#;
    let tree = tree(text);
    let svg = tree.to_svg();
    well_formed(&svg);
    for node in tree.nodes() {
        let title = format!("<title>{}</title>", tree.kind(node).name());
        let wanted = tree.nodes().filter(|n| tree.kind(*n).name() == tree.kind(node).name());
        assert_eq!(svg.matches(&title).count(), wanted.count(), "{title}");
    }
    assert!(svg.contains("a &lt; b &amp; c") && svg.contains("(coincident)"));
    // Boxes of one level, from left to right, do not overlap.
    let (x, y) = (values(&svg, "rect", "x"), values(&svg, "rect", "y"));
    let (width, height) = (values(&svg, "rect", "width"), values(&svg, "rect", "height"));
    for a in 0..x.len() {
        for b in 0..a {
            let apart = x[a] >= x[b] + width[b]
                || x[b] >= x[a] + width[a]
                || y[a] >= y[b] + height[b]
                || y[b] >= y[a] + height[a];
            assert!(apart, "boxes {a} and {b} overlap");
        }
    }
    assert_eq!(svg, tree.to_svg());
}

#[test]
fn deep_trees_are_drawn_without_a_stack() {
    let set = Union::parse("{ A[i] : 0 <= i < 4 }", &budget()).expect("a set");
    let mut deep = ScheduleTree::new(NodeKind::Domain(set));
    let mut node = deep.root();
    for _ in 0..20_000 {
        node = deep.add(node, NodeKind::Mark("m".into()));
    }
    deep.close();
    assert_eq!(deep.to_svg().matches("<title>mark</title>").count(), 20_000);
}

const TILED: &str = "domain: \"[N] -> { S[i, j] : 0 <= i, j < N }\"
child:
  schedule: \"[{ S[i, j] -> [(floor((i)/2))] }, { S[i, j] -> [(floor((j)/2))] }]\"
  child:
    schedule: \"[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]\"
";

#[test]
fn domains_have_dots_order_tiles_and_arrows() {
    let tree = tree(TILED);
    let pairs = "[N] -> { S[i, j] -> S[i + 1, j] : 0 <= i < N - 1 and 0 <= j < N }";
    let pairs = Union::parse(pairs, &budget()).expect("a relation");
    let params = [("N".to_owned(), 5)];
    let mut picture = Domains {
        tree: &tree,
        dependences: Some(&pairs),
        params: &params,
        order: true,
        tiles: true,
    };
    let svg = picture.to_svg(&budget()).expect("a picture");
    well_formed(&svg);
    let count = |svg: &str, what: &str| svg.matches(what).count();
    assert_eq!(count(&svg, "<circle"), 25);
    assert_eq!(count(&svg, "class=\"tile\""), 9);
    assert_eq!(count(&svg, "class=\"dependence\""), 20);
    // The line starts in the first tile: up, then right and down by one, then up.
    let order = svg.split("class=\"order\" d=\"").nth(1).expect("a line");
    assert!(order.starts_with("M 30 165 L 30 135 L 60 165 L 60 135 L 30 105"), "{order}");
    (picture.order, picture.tiles, picture.dependences) = (false, false, None);
    let svg = picture.to_svg(&budget()).expect("a picture");
    let all =
        ["tile", "order", "dependence"].map(|class| count(&svg, &format!("class=\"{class}\"")));
    assert_eq!((count(&svg, "<circle"), all), (25, [0; 3]));
}

#[test]
fn domains_without_end_are_refused() {
    let tree = tree(TILED);
    let mut picture =
        Domains { tree: &tree, dependences: None, params: &[], order: true, tiles: true };
    assert!(matches!(picture.to_svg(&budget()), Err(Error::Presburger(_))));
    let large = [("N".to_owned(), 80)];
    picture.params = &large;
    assert!(matches!(picture.to_svg(&budget()), Err(Error::Presburger(_))));
}

#[test]
fn statements_of_other_depths_have_axes_of_their_own() {
    let tree = tree(
        "domain: \"{ A[]; B[i] : 0 <= i < 3; C[i, j, k] : 0 <= i < 2 and 0 <= j, k < 3 }\"\nchild:\n  sequence:\n  - filter: \"{ A[] }\"\n  - filter: \"{ B[i] }\"\n    child: { schedule: \"[{ B[i] -> [(i)] }]\" }\n  - filter: \"{ C[i, j, k] }\"\n",
    );
    let picture = Domains { tree: &tree, dependences: None, params: &[], order: true, tiles: true };
    let svg = picture.to_svg(&budget()).expect("a picture");
    well_formed(&svg);
    assert_eq!(svg.matches("<circle").count(), 1 + 3 + 18);
    for title in [">A<", ">B<", ">C 0<", ">C 1<"] {
        assert_eq!(svg.matches(title).count(), 1, "{title}");
    }
}
