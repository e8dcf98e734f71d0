//! An e-graph as SVG: a dotted box for each class, in it a box for each node, and a curve from a
//! node to the class of each child.
//!
//! What uses stands above what is used, as in the layered layout of models. Classes may hold
//! themselves: children that stand above or beside are reached by a curve that goes round.

use std::fmt::Write;

use tangram_egraph::{EGraph, Id, SymbolLang};
use tangram_presburger::plot::{escaped, scoped};

use super::layers::{HEIGHT, place};

const MARGIN: f64 = 24.0;
/// The width of a letter on average, and the room between nodes of a class.
const LETTER: f64 = 7.2;
const GAP: f64 = 8.0;
/// Longer operators are cut.
const MAX_LETTERS: usize = 24;

/// The class of the picture of an e-graph.
const CLASS: &str = "tangram-egraph";
/// Colours follow what the reader's system prefers, on whatever lies behind.
const STYLE: &str = "text{font-family:sans-serif;font-size:13px;text-anchor:middle;fill:#1d222b}\
    .n{text-anchor:start;fill:#555}rect{fill:#f4f6fa;stroke:#55607a}\
    .c{fill:none;stroke-dasharray:3 3;stroke:#8a93a6}.r{stroke:#56793c;stroke-width:1.5}\
    path{fill:none;stroke:#8a93a6}marker path{fill:#8a93a6;stroke:none}\
    @media(prefers-color-scheme:dark){svg{background:#17191c}text{fill:#e4e6e9}.n{fill:#a9b0bb}\
    rect{fill:#272c34;stroke:#7f8aa3}.c{fill:none;stroke:#69727f}.r{stroke:#7fa565}\
    path{stroke:#69727f}marker path{fill:#69727f}}";

/// A class that is drawn.
struct Class {
    id: Id,
    /// The operator of each node, and its children.
    nodes: Vec<(String, Vec<Id>)>,
}

impl Class {
    fn of(egraph: &EGraph<SymbolLang, ()>, id: Id) -> Class {
        let node = |node: &SymbolLang| {
            let children = node.children.iter().map(|&child| egraph.find(child)).collect();
            (cut(node.op.as_str()), children)
        };
        Class { id, nodes: egraph[id].nodes.iter().map(node).collect() }
    }

    /// The width of each node.
    fn widths(&self) -> impl Iterator<Item = f64> {
        self.nodes.iter().map(|(op, _)| op.chars().count().max(2) as f64 * LETTER + 12.0)
    }

    fn width(&self) -> f64 {
        self.widths().map(|width| width + GAP).sum::<f64>() + GAP
    }

    fn children(&self) -> impl Iterator<Item = Id> {
        self.nodes.iter().flat_map(|(_, children)| children.iter().copied())
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_LETTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The classes below `roots` of a rebuilt e-graph, or all of it where there are no roots, as an SVG
/// picture of at most `limit` classes.
///
/// Those next to the roots are drawn first; the picture says how many it leaves out.
pub fn egraph_svg(egraph: &EGraph<SymbolLang, ()>, roots: &[Id], limit: usize) -> String {
    let roots: Vec<Id> = roots.iter().map(|&root| egraph.find(root)).collect();
    let mut all: Vec<Id> = egraph.classes().map(|class| class.id).collect();
    all.sort_unstable();
    let starts = if roots.is_empty() { all.clone() } else { roots.clone() };
    let (near, found) = nearest(egraph, &starts, limit);
    let classes = callers_first(egraph, near);
    let place_of = |id: Id| classes.iter().position(|class| class.id == id);
    let edges: Vec<(usize, usize)> = classes
        .iter()
        .enumerate()
        .flat_map(|(from, class)| class.children().map(move |child| (from, child)))
        .filter_map(|(from, child)| Some((from, place_of(child)?)))
        .filter(|&(from, to)| from < to)
        .collect();
    let widths: Vec<f64> = classes.iter().map(Class::width).collect();
    let placed = place(&widths, &edges);
    let left_out = found - classes.len();
    let mut out = head(placed.width, placed.height, left_out);
    for (class, &(x, y)) in classes.iter().zip(&placed.centres) {
        draw(&mut out, class, (x, y), roots.contains(&class.id));
    }
    for (class, &(x, y)) in classes.iter().zip(&placed.centres) {
        let mut left = x - class.width() / 2.0 + GAP;
        for (width, (_, children)) in class.widths().zip(&class.nodes) {
            for (i, &child) in children.iter().enumerate() {
                let Some(to) = place_of(child).map(|at| placed.centres[at]) else { continue };
                let from = left + width * (i + 1) as f64 / (children.len() + 1) as f64;
                curve(&mut out, (from, y + HEIGHT / 2.0 - 4.0), to);
            }
            left += width + GAP;
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The `limit` classes nearest to `starts`, and how many there are in all.
fn nearest(egraph: &EGraph<SymbolLang, ()>, starts: &[Id], limit: usize) -> (Vec<Class>, usize) {
    let mut seen: rustc_hash::FxHashSet<Id> = rustc_hash::FxHashSet::default();
    let mut waiting: Vec<Id> = starts.iter().copied().filter(|&id| seen.insert(id)).collect();
    let (mut classes, mut next) = (Vec::new(), 0);
    while let Some(&id) = waiting.get(next) {
        next += 1;
        let class = Class::of(egraph, id);
        waiting.extend(class.children().filter(|&child| seen.insert(child)));
        if classes.len() < limit {
            classes.push(class);
        }
    }
    (classes, next)
}

/// The classes so that what uses another comes before it, but where they go round in a circle.
fn callers_first(egraph: &EGraph<SymbolLang, ()>, classes: Vec<Class>) -> Vec<Class> {
    let known: rustc_hash::FxHashSet<Id> = classes.iter().map(|class| class.id).collect();
    let mut seen: rustc_hash::FxHashSet<Id> = rustc_hash::FxHashSet::default();
    let mut order = Vec::new();
    for class in &classes {
        if !seen.insert(class.id) {
            continue;
        }
        let below = |id: Id| Class::of(egraph, id).children().collect::<Vec<Id>>();
        let mut stack = vec![(class.id, below(class.id), 0)];
        while let Some((id, children, next)) = stack.pop() {
            let Some(&child) = children.get(next) else {
                order.push(id);
                continue;
            };
            stack.push((id, children, next + 1));
            if known.contains(&child) && seen.insert(child) {
                stack.push((child, below(child), 0));
            }
        }
    }
    order.reverse();
    order.into_iter().map(|id| Class::of(egraph, id)).collect()
}

fn head(width: f64, height: f64, left_out: usize) -> String {
    let note = match left_out {
        0 => String::new(),
        n => format!("{n} more classes are left out"),
    };
    let top = MARGIN + if left_out > 0 { 24.0 } else { 0.0 };
    let wide = width.max(note.len() as f64 * LETTER) + 2.0 * MARGIN;
    let high = height + top + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{CLASS}\" width=\"{wide:.0}\" height=\"{high:.0}\" \
         viewBox=\"0 0 {wide:.0} {high:.0}\">\n<style>{}</style>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        scoped(CLASS, STYLE)
    );
    if left_out > 0 {
        let _ = writeln!(out, "<text class=\"n\" x=\"{MARGIN}\" y=\"20\">{note}</text>");
    }
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} {top})\">");
    out
}

/// A class around `(x, y)`, and its nodes side by side.
fn draw(out: &mut String, class: &Class, (x, y): (f64, f64), is_root: bool) {
    let (wide, upper) = (class.width(), y - HEIGHT / 2.0);
    let mut left = x - wide / 2.0;
    let name = if is_root { "c r" } else { "c" };
    let _ = writeln!(
        out,
        "<rect class=\"{name}\" x=\"{left:.0}\" y=\"{upper:.0}\" width=\"{wide:.0}\" \
         height=\"{HEIGHT}\" rx=\"6\"><title>class {}</title></rect>",
        class.id
    );
    left += GAP;
    for (width, (op, _)) in class.widths().zip(&class.nodes) {
        let _ = writeln!(
            out,
            "<rect x=\"{left:.0}\" y=\"{:.0}\" width=\"{width:.0}\" height=\"{:.0}\" rx=\"4\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            upper + 5.0,
            HEIGHT - 10.0,
            left + width / 2.0,
            y + 4.0,
            escaped(op)
        );
        left += width + GAP;
    }
}

/// A curve from a node to the class around `to`; one that goes up passes beside.
fn curve(out: &mut String, (x, y): (f64, f64), to: (f64, f64)) {
    let (end_x, end_y) = (to.0, to.1 - HEIGHT / 2.0);
    let reach = ((end_y - y) / 2.0).max(30.0);
    let _ = writeln!(
        out,
        "<path marker-end=\"url(#a)\" d=\"M{x:.0} {y:.0}C{x:.0} {:.0} {end_x:.0} {:.0} \
         {end_x:.0} {end_y:.0}\"/>",
        y + reach,
        end_y - reach
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_nodes_and_children_are_drawn_and_circles_end() {
        let mut egraph = EGraph::<SymbolLang, ()>::default();
        let root = egraph.add_expr(&"(+ (* x 1) <y>)".parse().expect("a term"));
        let [x, product] =
            ["x", "(* x 1)"].map(|term| egraph.add_expr(&term.parse().expect("a term")));
        egraph.union(x, product);
        egraph.rebuild();
        let svg = egraph_svg(&egraph, &[root], 100);
        // + over its own two children, * over the class it is in and 1.
        assert_eq!(svg.matches("class=\"c").count(), 4, "{svg}");
        assert_eq!(
            (svg.matches("marker-end").count(), svg.matches("class=\"c r\"").count()),
            (4, 1)
        );
        assert!(svg.contains("&lt;y&gt;") && !svg.contains("left out"), "{svg}");
        let svg = egraph_svg(&egraph, &[root], 1);
        assert!(svg.contains("3 more classes are left out"), "{svg}");
        assert!(egraph_svg(&egraph, &[], 100).contains("&lt;y&gt;"));
    }

    #[test]
    fn a_deep_term_is_drawn() {
        let mut egraph = EGraph::<SymbolLang, ()>::default();
        let mut at = egraph.add(SymbolLang::leaf("x"));
        for _ in 0..50_000 {
            at = egraph.add(SymbolLang::new("f", vec![at]));
        }
        egraph.rebuild();
        assert!(egraph_svg(&egraph, &[at], 500).contains("49501 more classes are left out"));
    }
}
