//! Schedule trees as SVG: a box for each node, children below their parent.

use super::svg::{Drawing, escaped, wide};
use crate::{Band, Node, NodeKind, ScheduleTree};

/// All text stands in boxes, which are light on any ground.
const STYLE: &str = "text{font:12px monospace;fill:#222}.kind{font-weight:bold}\
    rect{stroke:#555;stroke-width:1}path{stroke:#888;fill:none}circle{fill:#888}\
    @media(prefers-color-scheme:dark){svg{background:#17191c}}";
const LINE: f64 = 16.0;
const GAP: f64 = 18.0;
const LEVEL: f64 = 26.0;
/// Lines of sets are broken near this many characters.
const COLUMNS: usize = 46;
/// Longer texts end in an ellipsis; the tree's text has all of them.
const LINES: usize = 6;

/// What is drawn for a node, and where.
struct Drawn {
    lines: Vec<String>,
    /// Of the box itself.
    width: f64,
    height: f64,
    /// Of the box and all below it.
    span: f64,
    /// The left end of the span, and the top of the box.
    left: f64,
    top: f64,
}

impl ScheduleTree {
    /// Draws the tree as SVG: one box for each node, a dot for each leaf.
    ///
    /// Time and size are linear in the tree; long sets are cut.
    pub fn to_svg(&self) -> String {
        let mut drawn: Vec<Drawn> = self.nodes().map(|node| self.measured(node)).collect();
        let nodes: Vec<Node> = self.nodes().collect();
        // Parents come before their children: widths go up, places down.
        for node in nodes.iter().rev() {
            let below: Vec<f64> =
                self.children(*node).map(|child| drawn[child.index()].span).collect();
            let gaps = GAP * below.len().saturating_sub(1) as f64;
            let own = &mut drawn[node.index()];
            own.span = own.width.max(below.iter().sum::<f64>() + gaps);
        }
        for node in &nodes {
            let own = &drawn[node.index()];
            let (top, span) = (own.top + own.height + LEVEL, own.span);
            let below: Vec<usize> = self.children(*node).map(Node::index).collect();
            let gaps = GAP * below.len().saturating_sub(1) as f64;
            let whole: f64 = below.iter().map(|child| drawn[*child].span).sum();
            let mut left = own.left + (span - whole - gaps) / 2.0;
            for child in below {
                (drawn[child].left, drawn[child].top) = (left, top);
                left += drawn[child].span + GAP;
            }
        }
        let mut drawing = Drawing::default();
        for node in &nodes {
            self.edge(&mut drawing, *node, &drawn);
        }
        for node in &nodes {
            draw(&mut drawing, self.kind(*node), &drawn[node.index()]);
        }
        drawing.finish("tangram-tree", STYLE)
    }

    fn measured(&self, node: Node) -> Drawn {
        let lines = lines(self.kind(node));
        let leaf = matches!(self.kind(node), NodeKind::Leaf);
        let text = lines.iter().map(|line| wide(line)).fold(wide(self.kind(node).name()), f64::max);
        let (width, height) = match leaf {
            true => (10.0, 8.0),
            false => (text + 16.0, LINE * (lines.len() + 1) as f64 + 8.0),
        };
        Drawn { lines, width, height, span: width, left: 0.0, top: 0.0 }
    }

    fn edge(&self, drawing: &mut Drawing, node: Node, drawn: &[Drawn]) {
        let Some(parent) = self.parent(node) else { return };
        let (from, to) = (&drawn[parent.index()], &drawn[node.index()]);
        let (x, y) = (from.left + from.span / 2.0, from.top + from.height);
        let (end, middle) = (to.left + to.span / 2.0, y + LEVEL / 2.0);
        let element = format!(
            "<path d=\"M {x:.0} {y:.0} C {x:.0} {middle:.0} {end:.0} {middle:.0} {end:.0} {:.0}\"/>",
            to.top
        );
        drawing.add(&element, 0.0, 0.0);
    }
}

fn draw(drawing: &mut Drawing, kind: &NodeKind, drawn: &Drawn) {
    let left = drawn.left + (drawn.span - drawn.width) / 2.0;
    if let NodeKind::Leaf = kind {
        let element = format!(
            "<circle cx=\"{:.0}\" cy=\"{:.0}\" r=\"4\"><title>leaf</title></circle>",
            left + drawn.width / 2.0,
            drawn.top + 4.0
        );
        drawing.add(&element, left + drawn.width, drawn.top + drawn.height);
        return;
    }
    let element = format!(
        "<rect x=\"{left:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"5\" fill=\"{}\">\
         <title>{}</title></rect>",
        drawn.top,
        drawn.width,
        drawn.height,
        colour(kind),
        escaped(kind.name())
    );
    drawing.add(&element, left + drawn.width, drawn.top + drawn.height);
    drawing.text(left + 8.0, drawn.top + LINE, "kind", kind.name());
    for (at, line) in drawn.lines.iter().enumerate() {
        drawing.text(left + 8.0, drawn.top + LINE * (at + 2) as f64, "set", line);
    }
}

fn colour(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Domain(_) => "#dbeafe",
        NodeKind::Context(_) | NodeKind::Guard(_) => "#fef3c7",
        NodeKind::Band(_) => "#dcfce7",
        NodeKind::Sequence | NodeKind::Set => "#ede9fe",
        NodeKind::Filter(_) => "#f3f4f6",
        NodeKind::Mark(_) => "#fee2e2",
        NodeKind::Extension(_) | NodeKind::Expansion { .. } => "#cffafe",
        NodeKind::Leaf => "#888",
    }
}

/// Says what a node holds, in lines.
fn lines(kind: &NodeKind) -> Vec<String> {
    match kind {
        NodeKind::Domain(set) | NodeKind::Filter(set) | NodeKind::Extension(set) => {
            broken(&set.to_string())
        }
        NodeKind::Context(set) | NodeKind::Guard(set) => broken(&set.to_string()),
        NodeKind::Mark(name) => broken(name),
        NodeKind::Expansion { contraction, expansion } => {
            [broken(&contraction.to_string()), broken(&expansion.to_string())].concat()
        }
        NodeKind::Band(band) => band_lines(band),
        NodeKind::Sequence | NodeKind::Set | NodeKind::Leaf => Vec::new(),
    }
}

fn band_lines(band: &Band) -> Vec<String> {
    let mut all = Vec::new();
    for member in &band.members {
        let mut text = crate::schedule_tree::affine::member(&member.schedule);
        if member.coincident {
            text.push_str(" (coincident)");
        }
        all.extend(broken(&text));
    }
    if band.permutable {
        all.push("permutable".to_owned());
    }
    if band.options.relations().next().is_some() {
        all.extend(broken(&format!("options {}", band.options)));
    }
    all
}

/// Breaks text at blanks.
fn broken(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        if let Some(last) = lines.last_mut() {
            last.push_str(" …");
        }
    }
    lines
}
