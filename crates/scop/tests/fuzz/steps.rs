//! Random operations on schedule trees; what is refused changes nothing.

use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{Band, Error, Node, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

use super::random::Random;

fn nodes(tree: &ScheduleTree, wanted: impl Fn(&NodeKind) -> bool) -> Vec<Node> {
    tree.nodes().filter(|node| wanted(tree.kind(*node))).collect()
}

fn is_band(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Band(_))
}

fn is_list(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Sequence | NodeKind::Set)
}

/// Applies one operation; says which, if the tree changed.
pub fn step(editor: &mut Editor, random: &mut Random) -> Result<Option<String>, Error> {
    let lists = nodes(editor.tree(), is_list);
    let bands = nodes(editor.tree(), is_band);
    let (name, outcome) = if !lists.is_empty() && random.one_in(3) {
        on_list(editor, *random.pick(&lists), random)
    } else if bands.is_empty() {
        return Ok(None);
    } else {
        on_band(editor, *random.pick(&bands), random)
    };
    match outcome {
        Ok(_) => Ok(Some(name)),
        Err(Error::Operand { .. } | Error::Illegal { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn on_list(editor: &mut Editor, node: Node, random: &mut Random) -> (String, Result<Node, Error>) {
    let count = editor.tree().children(node).count();
    match random.below(4) {
        0 => ("fuse".into(), editor.fuse(node)),
        1 => {
            let start = random.below(count);
            let end = start + 1 + random.below(count - start);
            (format!("group {start}..{end}"), editor.group(node, start..end))
        }
        _ => {
            let mut order: Vec<usize> = (0..count).collect();
            for at in (1..count).rev() {
                order.swap(at, random.below(at + 1));
            }
            (format!("reorder {order:?}"), editor.reorder(node, &order))
        }
    }
}

fn on_band(editor: &mut Editor, node: Node, random: &mut Random) -> (String, Result<Node, Error>) {
    let NodeKind::Band(band) = editor.tree().kind(node) else { unreachable!("a band was asked") };
    let count = band.members.len();
    let (a, b) = (random.below(count), random.below(count));
    let factor = random.below(5) as i128 - 2;
    let sizes: Vec<i128> = (0..count).map(|_| 1 + random.below(4) as i128).collect();
    match random.below(19) {
        0 => (format!("interchange {a} {b}"), editor.interchange(node, a, b)),
        1 => (format!("skew {a} by {factor} {b}"), editor.skew(node, a, b, factor)),
        2 => (format!("shift {a} by {factor}"), editor.shift(node, a, factor)),
        3 => (format!("scale {a} by {factor}"), editor.scale(node, a, factor)),
        4 => {
            let rows = reversal(count, a);
            (format!("reverse {a}"), editor.unimodular(node, &rows))
        }
        5 | 6 => (format!("tile {sizes:?}"), editor.tile(node, &sizes)),
        7 => {
            let tiled = editor.tile(node, &sizes);
            let both = tiled.and_then(|tiles| editor.separate_full_tiles(tiles, &sizes));
            (format!("full tiles {sizes:?}"), both)
        }
        8 => (format!("strip-mine {a} by {}", sizes[a]), editor.strip_mine(node, a, sizes[a])),
        9 => (format!("split at {a}"), editor.split(node, a)),
        10 => ("combine".into(), editor.combine(node)),
        11 | 12 => ("distribute".into(), editor.distribute(node)),
        13 => ("sink".into(), editor.sink(node)),
        14 => {
            let set = half(editor.tree(), node, random);
            let outcome = match random.below(3) {
                0 => editor.split_index_set(node, &set),
                1 => editor.order_before(node, &set),
                _ => editor.order_after(node, &set),
            };
            (format!("split by {set}"), outcome)
        }
        15 => ("wavefront".into(), editor.wavefront(node, count)),
        16 => {
            let mut order: Vec<usize> = (0..count).collect();
            order.rotate_left(a);
            let tiles: Vec<Option<i128>> =
                sizes.iter().map(|size| (*size > 1).then_some(*size)).collect();
            (format!("arrange {tiles:?} {order:?}"), editor.arrange(node, &tiles, &order))
        }
        17 => (format!("unroll and jam {sizes:?}"), editor.unroll_and_jam(node, &sizes)),
        _ => ("mark".into(), editor.insert_mark(node, "here")),
    }
}

fn reversal(count: usize, member: usize) -> Vec<Vec<i128>> {
    let row = |at: usize| {
        (0..=count)
            .map(|col| match col == at + 1 {
                true if at == member => -1,
                other => i128::from(other),
            })
            .collect()
    };
    (0..count).map(row).collect()
}

/// Some instances of the statements at a node.
fn half(tree: &ScheduleTree, node: Node, random: &mut Random) -> Union {
    let budget = Budget::unlimited();
    let active = tree.active(node, &budget).expect("no budget ends");
    let mut set = Union::empty();
    for piece in active.relations() {
        let tuple = &piece.space().output;
        if random.one_in(3) || tuple.dims.is_empty() {
            continue;
        }
        let names: Vec<String> = (0..tuple.dims.len()).map(|at| format!("d{at}")).collect();
        let name = random.pick(&names);
        let condition = match random.below(3) {
            0 => format!("{name} mod 2 = 0"),
            1 => format!("{name} >= 3"),
            _ => format!("{name} <= 1"),
        };
        let text = format!("{{ {}[{}] : {condition} }}", tuple.name, names.join(", "));
        let piece = Union::parse(&text, &budget).expect("notation");
        set = set.union(&piece).expect("one space for each statement");
    }
    set
}

/// Uses what a band promises, without asking any dependence: runs a coincident member
/// backwards or interchanges permutable ones. Says what, if any band promises something.
pub fn believe(tree: ScheduleTree, random: &mut Random) -> (ScheduleTree, Option<String>) {
    let budget = Budget::unlimited();
    let promises = |band: &Band| {
        band.members.iter().any(|member| member.coincident)
            || (band.permutable && band.members.len() > 1)
    };
    let bands = nodes(&tree, |kind| matches!(kind, NodeKind::Band(band) if promises(band)));
    if bands.is_empty() {
        return (tree, None);
    }
    let node = *random.pick(&bands);
    let NodeKind::Band(band) = tree.kind(node).clone() else { unreachable!("a band") };
    let mut editor = Editor::new(tree, Union::empty(), &budget).expect("a tree that was checked");
    let coincident: Vec<usize> =
        (0..band.members.len()).filter(|at| band.members[*at].coincident).collect();
    let swap = band.permutable && band.members.len() > 1;
    let (name, outcome) = if swap && (coincident.is_empty() || random.one_in(2)) {
        let (a, b) = (random.below(band.members.len()), random.below(band.members.len()));
        (format!("believe: interchange {a} {b}"), editor.interchange(node, a, b))
    } else {
        let at = *random.pick(&coincident);
        let rows = reversal(band.members.len(), at);
        (format!("believe: reverse {at}"), editor.unimodular(node, &rows))
    };
    outcome.expect("nothing forbids it");
    (editor.into_tree(), Some(name))
}
