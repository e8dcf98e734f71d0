//! Programs as pictures.

use std::fmt::Write;

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use tangram_dialects::dims;
use tangram_ir::{Block, Module, Op, Type, TypeData, Value};
use tangram_onnx::Model;

/// The graph of `model` for Graphviz: a box for each operation, an arrow for each use, labelled
/// with its type. Constants are left out unless they are outputs.
pub fn dot(model: &Model) -> String {
    let mut out = String::from(
        "digraph model {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n",
    );
    if let Some(block) = model.graph() {
        let module = &model.module;
        for (i, &arg) in module.args(block).iter().enumerate() {
            let label = format!("{}\\n{}", name(module, arg), type_text(module, arg));
            let _ = writeln!(out, "  in{i} [shape=ellipse, label=\"{}\"];", escape(&label));
        }
        for op in module.ops(block).filter(|&op| is_shown(module, op)) {
            node(&mut out, module, block, op);
        }
    }
    out.push_str("}\n");
    out
}

/// The graph of `model` as an SVG picture.
///
/// # Errors
/// The graph is too large to be laid out in reasonable time; [`dot`] has no such limit.
pub fn svg(model: &Model) -> Result<String, TooLarge> {
    let nodes = model.graph().map_or(0, |block| model.module.ops(block).count());
    if nodes > MAX_DRAWN {
        return Err(TooLarge { nodes });
    }
    let text = dot(model);
    let mut graph = match DotParser::new(&text).process() {
        Ok(parsed) => {
            let mut builder = GraphBuilder::new();
            builder.visit_graph(&parsed);
            builder.get()
        }
        // What `dot` writes is Graphviz's language.
        Err(_) => return Err(TooLarge { nodes }),
    };
    let mut writer = SVGWriter::new();
    graph.do_it(false, false, false, &mut writer);
    Ok(writer.finalize())
}

/// How many operations are drawn at most: layout takes more than linear time.
const MAX_DRAWN: usize = 2000;

/// A graph that is not drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a graph of {nodes} operations is too large for a picture; write it with `--format dot`")]
pub struct TooLarge {
    /// Its operations.
    pub nodes: usize,
}

fn is_shown(module: &Module, op: Op) -> bool {
    !matches!(module.name_text(op), "nn.constant" | "nn.none")
}

fn node(out: &mut String, module: &Module, block: Block, op: Op) {
    let label = match module.name_text(op) {
        "func.return" => "outputs",
        name => name.strip_prefix("nn.").unwrap_or(name),
    };
    let _ = writeln!(out, "  {op} [label=\"{}\"];", escape(label));
    for value in module.operands(op) {
        let from = match module.def_op(value) {
            Some(def) if is_shown(module, def) => def.to_string(),
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

fn escape(text: &str) -> String {
    text.replace('"', "\\\"")
}
