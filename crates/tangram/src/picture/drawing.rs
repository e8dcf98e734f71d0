//! Where everything of a model is in its picture, for a page that draws it.

use serde::Serialize;
use tangram_onnx::Model;

use super::graph::Graph;
use super::{View, layers, svg};

/// A placed graph. Places are in pixels at full size, from the upper left corner.
#[derive(Default, Serialize)]
pub(crate) struct Drawing {
    /// What each box stands for: the number of an input, or behind all inputs of an operation.
    pub(crate) boxes: Vec<usize>,
    /// The centre of each box, and its width.
    places: Vec<(i32, i32, i32)>,
    /// The height of all boxes.
    height: i32,
    /// Each edge: its boxes, and the points between their centres.
    edges: Vec<(usize, usize, Vec<i32>)>,
    /// Equal blocks that are drawn once: the boxes, and how many there are.
    frames: Vec<(Vec<usize>, usize)>,
    /// The extent of all.
    extent: (i32, i32),
}

/// Draws the whole graph of `model`, and with equal blocks that follow each other drawn once, where
/// there are any.
pub(crate) fn drawings(model: &Model) -> (Drawing, Option<Drawing>) {
    let graph = |fold| {
        let view = View { around: None, limit: usize::MAX, fold };
        // There is no centre that could be missing.
        Graph::of(model, &view).unwrap_or_default()
    };
    let (whole, folded) = (graph(false), graph(true));
    let folded = (folded.boxes.len() < whole.boxes.len()).then(|| place(folded));
    (place(whole), folded)
}

fn place(graph: Graph) -> Drawing {
    let widths: Vec<f64> = graph.boxes.iter().map(svg::width).collect();
    let placed = layers::place(&widths, &graph.edges);
    let whole = |number: f64| number.round() as i32;
    let bends = |route: &[(f64, f64)]| {
        let inner = route.get(1..route.len().saturating_sub(1)).unwrap_or_default();
        inner.iter().flat_map(|&(x, y)| [whole(x), whole(y)]).collect()
    };
    let edges = graph.edges.iter().zip(&placed.routes);
    let places = placed.centres.iter().zip(&widths);
    Drawing {
        places: places.map(|(&(x, y), &width)| (whole(x), whole(y), whole(width))).collect(),
        height: whole(layers::HEIGHT),
        edges: edges.map(|(&(from, to), route)| (from, to, bends(route))).collect(),
        frames: graph.frames.into_iter().map(|frame| (frame.boxes, frame.times)).collect(),
        extent: (whole(placed.width), whole(placed.height)),
        boxes: graph.origins,
    }
}
