//! A placed graph as SVG.
//!
//! Boxes, routes and frames come placed (`layers`); drawings that grow as they are written, of trees
//! and schedules, are in `tangram-polyhedral` (`picture/svg`), plots of sets in `tangram-presburger`
//! (`plot/draw`).

use std::fmt::Write;

use tangram_presburger::plot::{escaped, scoped};

use super::graph::{Frame, Graph, Label};
use super::layers::{HEIGHT, Placed};

const MARGIN: f64 = 24.0;
/// How far a frame is from its boxes.
const FRAME: f64 = 16.0;
/// The width of a letter on average, of a title and of what stands below it.
const LETTER: f64 = 7.2;
const SMALL: f64 = 5.6;
/// Longer text is cut: a type of many extents would make boxes that nobody sees at once.
const MAX_LETTERS: usize = 48;

/// The class of the picture of a graph.
const CLASS: &str = "tangram-graph";
/// Colours follow what the reader's system prefers, on whatever lies behind.
const STYLE: &str = "text{font-family:sans-serif;font-size:13px;text-anchor:middle;fill:#1d222b}\
    .t{font-size:10px;fill:#555}.n{text-anchor:start;fill:#555}.e{font-size:10px;fill:#555;\
    text-anchor:start}\
    rect{fill:#f4f6fa;stroke:#55607a}.i{fill:#e3efdc;stroke:#56793c}\
    .o{stroke-dasharray:4 3}.f{fill:#fbf3df;stroke:#b28a35;stroke-width:1.5}\
    .x{font-weight:600;text-anchor:start;fill:#8a6516}path{fill:none;stroke:#8a93a6}\
    marker path{fill:#8a93a6;stroke:none}\
    @media(prefers-color-scheme:dark){svg{background:#17191c}text{fill:#e4e6e9}\
    .t,.n,.e{fill:#a9b0bb}rect{fill:#272c34;stroke:#7f8aa3}.i{fill:#233022;stroke:#7fa565}\
    .f{fill:#2b261a;stroke:#a98a45}.x{fill:#d9b766}\
    path{stroke:#69727f}marker path{fill:#69727f}}";

/// The width of a box: that of its text, and of the type beside the edge below it.
pub(super) fn width(label: &Label) -> f64 {
    let small = |text: &str| cut(text).chars().count() as f64 * SMALL;
    let title = cut(&label.title).chars().count() as f64 * LETTER;
    let title = title + if label.name.is_empty() { 0.0 } else { small(&label.name) + LETTER };
    let gives = if label.read { 2.0 * small(&label.gives) - 16.0 } else { 0.0 };
    title.max(small(&detail(label))).max(gives).max(30.0) + 16.0
}

/// Draws edges, boxes above them, and the note above all.
pub(super) fn draw(graph: &Graph, placed: &Placed) -> String {
    let top = MARGIN + if graph.note.is_some() { 24.0 } else { 0.0 };
    let note = graph.note.as_deref().map_or(0.0, |note| note.chars().count() as f64 * LETTER);
    let (width, height) = (placed.width.max(note) + 2.0 * MARGIN, placed.height + top + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{CLASS}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{}</style>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        scoped(CLASS, STYLE)
    );
    if let Some(note) = &graph.note {
        let _ = writeln!(out, "<text class=\"n\" x=\"{MARGIN}\" y=\"20\">{}</text>", escaped(note));
    }
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} {top})\">");
    graph.frames.iter().for_each(|one| frame(&mut out, one, graph, placed));
    placed.routes.iter().for_each(|route| edge(&mut out, route));
    for (label, &(x, y)) in graph.boxes.iter().zip(&placed.centres) {
        node(&mut out, label, x, y);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// A frame around boxes, with how many equal blocks it stands for.
fn frame(out: &mut String, frame: &Frame, graph: &Graph, placed: &Placed) {
    let ends = |&at: &usize| {
        let (half, (x, y)) = (width(&graph.boxes[at]) / 2.0, placed.centres[at]);
        (x - half, x + half, y - HEIGHT / 2.0, y + HEIGHT / 2.0)
    };
    let start = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY);
    let (left, right, upper, lower) = frame
        .boxes
        .iter()
        .map(ends)
        .fold(start, |a, b| (a.0.min(b.0), a.1.max(b.1), a.2.min(b.2), a.3.max(b.3)));
    let (x, y) = (left - FRAME, upper - FRAME);
    let (wide, high) = (right - left + 2.0 * FRAME, lower - upper + 2.0 * FRAME);
    let _ = writeln!(
        out,
        "<rect class=\"f\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{wide:.0}\" height=\"{high:.0}\" \
         rx=\"8\"/><text class=\"x\" x=\"{:.0}\" y=\"{:.0}\">{} ×</text>",
        x + 6.0,
        y + 12.0,
        frame.times
    );
}

/// A curve through the points, from the lower side of a box to the upper side of another.
fn edge(out: &mut String, route: &[(f64, f64)]) {
    let [(x, y), middle @ .., (to, end)] = route else { return };
    let half = HEIGHT / 2.0;
    let (mut x, mut y) = (*x, y + half);
    let _ = write!(out, "<path marker-end=\"url(#a)\" d=\"M{x:.0} {y:.0}");
    let points = middle.iter().map(|&(x, y)| (x, y - half, y + half));
    for (across, upper, lower) in points.chain([(*to, end - half, end - half)]) {
        let turn = (y + upper) / 2.0;
        let _ = write!(out, "C{x:.0} {turn:.0} {across:.0} {turn:.0} {across:.0} {upper:.0}");
        if lower > upper {
            let _ = write!(out, "V{lower:.0}");
        }
        (x, y) = (across, lower);
    }
    out.push_str("\"/>\n");
}

fn node(out: &mut String, label: &Label, x: f64, y: f64) {
    let wide = width(label);
    let class = match (label.input, label.open) {
        (true, true) => " class=\"i o\"",
        (true, false) => " class=\"i\"",
        (false, true) => " class=\"o\"",
        (false, false) => "",
    };
    let radius = if label.input { HEIGHT / 2.0 } else { 4.0 };
    let (left, upper) = (x - wide / 2.0, y - HEIGHT / 2.0);
    let title = escaped(&cut(&label.title));
    let _ = write!(
        out,
        "<rect{class} x=\"{left:.0}\" y=\"{upper:.0}\" width=\"{wide:.0}\" height=\"{HEIGHT}\" \
         rx=\"{radius}\">{}</rect><text x=\"{x:.0}\" y=\"{:.0}\">{title}{}</text>",
        whole(label),
        y - 2.0,
        named(label)
    );
    let detail = escaped(&cut(&detail(label)));
    if !detail.is_empty() {
        let _ = write!(out, "<text class=\"t\" x=\"{x:.0}\" y=\"{:.0}\">{detail}</text>", y + 13.0);
    }
    if !label.gives.is_empty() && label.read {
        let (gives, below) = (escaped(&cut(&label.gives)), y + HEIGHT / 2.0 + 12.0);
        let _ =
            write!(out, "<text class=\"e\" x=\"{:.0}\" y=\"{below:.0}\">{gives}</text>", x + 5.0);
    }
    out.push('\n');
}

/// Weights and attributes on one line.
fn detail(label: &Label) -> String {
    let parts = [&label.weights, &label.detail].into_iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The name of the node, behind the title.
fn named(label: &Label) -> String {
    match label.name.as_str() {
        "" => String::new(),
        name => format!(" <tspan class=\"t\">{}</tspan>", escaped(&cut(name))),
    }
}

/// What does not fit into the box: a browser shows it under the pointer.
fn whole(label: &Label) -> String {
    let lines = [&label.name, &label.detail, &label.weights, &label.gives];
    let lines = lines.into_iter().filter(|line| !line.is_empty()).map(|line| escaped(line));
    match lines.collect::<Vec<_>>().join("\n") {
        lines if lines.is_empty() => lines,
        lines => format!("<title>{lines}</title>"),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
