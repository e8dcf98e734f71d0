//! Programs as pictures: text for Graphviz, and drawings in SVG.
//!
//! A drawing goes three steps: `graph` says what is drawn, a whole model or the neighbourhood of
//! a value, of equal blocks that follow each other the first (`repeat` finds them); `layers` places it, in time that grows with the size of the drawing and no faster
//! than sorting; `svg` writes it. E-graphs (`egraph`) are placed in the same way.

mod drawing;
mod egraph;
mod graph;
mod layers;
mod nodes;
mod repeat;
mod svg;

use std::fmt::Write;

use tangram_dialects::dims;
use tangram_ir::{Module, Op, Type, TypeData, Value};
use tangram_onnx::Model;

use crate::shown::shown;

pub(crate) use drawing::{Drawing, drawings};
pub use egraph::egraph_svg;
use graph::Graph;
pub(crate) use nodes::Nodes;

/// What of a model is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The name of the value that the drawing is centred on; the inputs if absent.
    pub around: Option<String>,
    /// How many operations are drawn at most: those nearest to the centre, by uses.
    pub limit: usize,
    /// Whether equal blocks that follow each other are drawn once, unless a centre is named.
    pub fold: bool,
}

impl Default for View {
    fn default() -> Self {
        View { around: None, limit: 1000, fold: true }
    }
}

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// Nothing is called as the centre should be.
    #[error("no value and no node of the graph is called `{0}`")]
    Unknown(String),
}

/// The graph of `model` for Graphviz: a box for each operation, an arrow for each use, labelled
/// with its type. Constants are left out unless they are outputs.
pub fn dot(model: &Model) -> String {
    let mut out = String::from(
        "digraph model {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n",
    );
    if let Some(block) = model.graph() {
        let module = &model.module;
        for (i, &arg) in module.args(block).iter().enumerate() {
            let label = format!("{}\n{}", name(module, arg), type_text(module, arg));
            let _ = writeln!(out, "  in{i} [shape=ellipse, label=\"{}\"];", escape(&label));
        }
        let nodes = Nodes::of(model);
        for op in module.ops(block).filter(|&op| nodes.is_box(module, op)) {
            node(&mut out, model, &nodes, op);
        }
    }
    out.push_str("}\n");
    out
}

/// The graph of `model`, or what `view` wants of it, as an SVG picture.
///
/// O(n log n) in the operations; the drawing itself has at most [`View::limit`] of them, and says
/// how many it leaves out.
///
/// # Errors
/// [`PictureError`]: the centre is not there.
pub fn svg(model: &Model, view: &View) -> Result<String, PictureError> {
    let graph = Graph::of(model, view)?;
    let widths: Vec<f64> = graph.boxes.iter().map(svg::width).collect();
    Ok(svg::draw(&graph, &layers::place(&widths, &graph.edges)))
}

/// What the reader of a model calls an operation: the operator of the node that gives its results,
/// else, of a part of a node and of what was made, its own name.
pub(crate) fn operator(model: &Model, op: Op) -> &str {
    let module = &model.module;
    match (module.name_text(op), model.operator(op).filter(|_| model.is_node(op))) {
        ("func.return", _) => "outputs",
        (_, Some(operator)) => operator,
        (name, None) => name.strip_prefix("nn.").unwrap_or(name),
    }
}

fn node(out: &mut String, model: &Model, nodes: &Nodes, op: Op) {
    let (module, Some(block)) = (&model.module, model.graph()) else { return };
    let _ = writeln!(out, "  {op} [label=\"{}\"];", escape(operator(model, op)));
    for value in nodes.reads(module, block, op) {
        let from = match module.def_op(value) {
            Some(def) if nodes.is_box(module, def) => def.to_string(),
            Some(_) => continue,
            None => match module.args(block).iter().position(|&arg| arg == value) {
                Some(i) => format!("in{i}"),
                None => continue,
            },
        };
        let label = escape(&type_text(module, value));
        let _ = writeln!(out, "  {from} -> {op} [label=\"{label}\"];");
    }
}

fn name(module: &Module, value: Value) -> &str {
    module.value_name(value).map_or("", |name| module.context().text(name))
}

/// A short form of the type of `value`: `float32[N, 3, 224, 224]`.
pub(crate) fn type_text(module: &Module, value: Value) -> String {
    let context = module.context();
    let element = |ty: Type| {
        tangram_dialects::dtype::dtype_of(context, ty)
            .map_or_else(|| "?".to_owned(), |dtype| dtype.name().to_owned())
    };
    match context.type_data(module.value_type(value)) {
        TypeData::Tensor(tensor) => {
            let list: Vec<String> = tensor
                .dims
                .iter()
                .map(|&d| dims::expr(context, d).map_or_else(|| "?".to_owned(), |e| e.to_string()))
                .collect();
            format!("{}[{}]", element(tensor.element), list.join(", "))
        }
        TypeData::UnrankedTensor(ty) => format!("{}[...]", element(*ty)),
        _ => String::new(),
    }
}

/// A text within quotes: Graphviz reads `\n` as the end of a line, and stops at a NUL.
fn escape(text: &str) -> String {
    shown(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
