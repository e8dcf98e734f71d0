//! Scenes as SVG text.
//!
//! Points of a grid in projection, scaled to a page of fixed size. Trees and schedules (`picture/svg`
//! in `tangram-polyhedral`) and layered graphs (`picture/svg` in the facade) place text and grow with
//! it; what all share is [`escaped`].

use std::fmt::Write;

use super::{Layer, Scene, escaped};

/// Colours of layers, told apart by the colour-blind too (Okabe and Ito's set).
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Longest side of the area that points fill, in pixels.
const EXTENT: f64 = 480.0;
/// Space around that area, for ticks and names of axes.
const MARGIN: f64 = 44.0;
/// Least distance between labels of ticks.
const TICK: f64 = 22.0;
/// Height of a line of the legend.
const LINE: f64 = 18.0;

/// Where points of the grid lie on the page.
struct View {
    /// The least and the greatest coordinate on each axis.
    low: [f64; 3],
    high: [f64; 3],
    dims: usize,
    /// Pixels between neighbours.
    cell: f64,
    /// What is added so that all is on the page.
    shift: [f64; 2],
    size: [f64; 2],
}

pub(super) fn picture(scene: &Scene) -> String {
    let view = View::of(scene);
    let legend = LINE * scene.layers.len() as f64;
    let [width, height] = view.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {:.0}\" \
         width=\"{width:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n",
        height + legend,
        height + legend,
    );
    out.push_str("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    axes(&mut out, scene, &view);
    for (index, layer) in scene.layers.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        draw_layer(&mut out, layer, index, colour, &view);
        let y = height + LINE * (index as f64 + 0.4);
        put(
            &mut out,
            format_args!("<circle cx=\"{MARGIN}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"),
        );
        text(&mut out, [MARGIN + 10.0, y + 4.0], "start", &layer.label);
    }
    out.push_str("</svg>\n");
    out
}

impl View {
    fn of(scene: &Scene) -> Self {
        let points = || {
            let ends =
                |layer: &Layer| layer.arrows.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<_>>();
            scene.layers.iter().flat_map(move |l| l.dots.iter().copied().chain(ends(l)))
        };
        let bound = |axis: usize, pick: fn(f64, f64) -> f64| {
            points().map(|p| p[axis] as f64).reduce(pick).unwrap_or(0.0)
        };
        let low = std::array::from_fn(|axis| bound(axis, f64::min));
        let high = std::array::from_fn(|axis| bound(axis, f64::max));
        let mut view =
            Self { low, high, dims: scene.dims, cell: 1.0, shift: [0.0; 2], size: [0.0; 2] };
        let [x0, y0, x1, y1] = view.frame();
        view.cell = (EXTENT / (x1 - x0).max(y1 - y0).max(1.0)).clamp(2.0, 48.0);
        let [x0, y0, x1, y1] = view.frame();
        view.shift = [MARGIN - x0, MARGIN - y0];
        view.size = [x1 - x0 + 2.0 * MARGIN, y1 - y0 + 2.0 * MARGIN];
        view
    }

    /// Least and greatest position on the page over all corners of the box.
    fn frame(&self) -> [f64; 4] {
        let mut frame = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
        for corner in 0..8 {
            let point =
                std::array::from_fn(
                    |i| if corner >> i & 1 == 0 { self.low[i] } else { self.high[i] },
                );
            let [x, y] = self.at(point);
            frame = [frame[0].min(x), frame[1].min(y), frame[2].max(x), frame[3].max(y)];
        }
        frame
    }

    /// The first axis points right, the second up; with a third, they go right and left into
    /// the depth and the third up.
    fn at(&self, [x, y, z]: [f64; 3]) -> [f64; 2] {
        let (x, y) = match self.dims {
            3 => ((x - y) * 0.866, -(x + y) * 0.5 - z),
            _ => (x, -y),
        };
        [x * self.cell + self.shift[0], y * self.cell + self.shift[1]]
    }

    fn radius(&self) -> f64 {
        (self.cell * 0.22).clamp(0.8, 5.0)
    }
}

fn axes(out: &mut String, scene: &Scene, view: &View) {
    // The second line of one-dimensional relations has no coordinate.
    for axis in 0..scene.dims {
        let mut from = view.low;
        let mut to = view.low;
        to[axis] = view.high[axis];
        line(out, view.at(from), view.at(to), "#999999");
        let count = (view.high[axis] - view.low[axis]) as usize;
        let step = round_step(TICK / view.cell);
        for tick in (0..=count).step_by(step) {
            from[axis] = view.low[axis] + tick as f64;
            let [x, y] = view.at(from);
            let [dx, dy] = aside(axis, view.dims);
            put(
                out,
                format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.2\" fill=\"#999999\"/>"),
            );
            text(out, [x + dx, y + dy + 4.0], "middle", &format!("{}", from[axis]));
        }
        if let Some(name) = scene.axes.get(axis).filter(|name| !name.is_empty()) {
            let [x, y] = view.at(to);
            let [dx, dy] = beyond(axis, view.dims);
            text(out, [x + dx, y + dy + 4.0], "middle", name);
        }
    }
}

/// The way from an axis to the labels of its ticks.
fn aside(axis: usize, dims: usize) -> [f64; 2] {
    match (axis, dims) {
        (0, 3) => [8.0, 14.0],
        (1, 3) => [-8.0, 14.0],
        (0, _) => [0.0, 18.0],
        (_, _) => [-18.0, 0.0],
    }
}

/// The way from the end of an axis to its name.
fn beyond(axis: usize, dims: usize) -> [f64; 2] {
    match (axis, dims) {
        (0, 3) => [20.0, -8.0],
        (1, 3) => [-20.0, -8.0],
        (0, _) => [24.0, 0.0],
        (_, _) => [0.0, -24.0],
    }
}

/// The least of 1, 2, 5, 10, 20, 50... that is at least `least`.
fn round_step(least: f64) -> usize {
    let decades = std::iter::successors(Some(1_usize), |decade| decade.checked_mul(10));
    let mut steps = decades.flat_map(|decade| [1, 2, 5].map(|digit| decade.saturating_mul(digit)));
    steps.find(|step| *step as f64 >= least).unwrap_or(usize::MAX)
}

fn draw_layer(out: &mut String, layer: &Layer, index: usize, colour: &str, view: &View) {
    let radius = view.radius();
    for dot in &layer.dots {
        let [x, y] = view.at(dot.map(|v| v as f64));
        put(
            out,
            format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>"
            ),
        );
    }
    if layer.arrows.is_empty() {
        return;
    }
    put(
        out,
        format_args!(
            "<marker id=\"head{index}\" markerWidth=\"7\" markerHeight=\"6\" refX=\"7\" refY=\"3\" \
             orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\" fill=\"{colour}\"/></marker>"
        ),
    );
    for (from, to) in &layer.arrows {
        let ([x0, y0], [x1, y1]) = (view.at(from.map(|v| v as f64)), view.at(to.map(|v| v as f64)));
        if from == to {
            put(
                out,
                format_args!(
                    "<circle cx=\"{x0:.1}\" cy=\"{y0:.1}\" r=\"{:.1}\" fill=\"none\" stroke=\"{colour}\"/>",
                    radius * 1.6
                ),
            );
        } else {
            put(
                out,
                format_args!(
                    "<line x1=\"{x0:.1}\" y1=\"{y0:.1}\" x2=\"{x1:.1}\" y2=\"{y1:.1}\" \
                 stroke=\"{colour}\" marker-end=\"url(#head{index})\"/>"
                ),
            );
        }
    }
}

fn line(out: &mut String, [x0, y0]: [f64; 2], [x1, y1]: [f64; 2], colour: &str) {
    put(
        out,
        format_args!(
            "<line x1=\"{x0:.1}\" y1=\"{y0:.1}\" x2=\"{x1:.1}\" y2=\"{y1:.1}\" stroke=\"{colour}\"/>"
        ),
    );
}

fn text(out: &mut String, [x, y]: [f64; 2], anchor: &str, words: &str) {
    let words = escaped(words);
    put(
        out,
        format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"),
    );
}

/// Appends a line; writing to a string cannot fail.
fn put(out: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{words}");
}
