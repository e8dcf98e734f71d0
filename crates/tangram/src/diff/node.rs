//! Nodes as a difference shows them.

use std::fmt;

use serde::Serialize;
use tangram_onnx::proto::{
    AttributeProto, DimensionValue, ModelProto, NodeProto, TypeValue, ValueInfoProto,
};

/// A node of a model.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Node {
    /// The operator, with its domain if that is not the default one.
    pub operator: String,
    /// The values that it takes; the empty name for an absent one.
    pub inputs: Vec<String>,
    /// The values that it makes.
    pub outputs: Vec<String>,
    /// Its attributes, in order of names; long ones are cut.
    pub attributes: Vec<(String, String)>,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}({})", self.outputs.join(", "), self.operator, self.inputs.join(", "))?;
        if self.attributes.is_empty() {
            return Ok(());
        }
        let shown: Vec<String> =
            self.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, " {{{}}}", shown.join(", "))
    }
}

/// The nodes of the main graph, in order; constants are values, not nodes.
pub(super) fn nodes(model: &ModelProto) -> Vec<Node> {
    let nodes = model.graph.iter().flat_map(|graph| &graph.node);
    nodes.filter(|node| !is_constant(node)).map(node).collect()
}

/// Whether a node is a weight in another form.
pub(super) fn is_constant(of: &NodeProto) -> bool {
    of.op_type() == "Constant" && matches!(of.domain(), "" | "ai.onnx")
}

fn node(of: &NodeProto) -> Node {
    let mut attributes: Vec<(String, String)> =
        of.attribute.iter().map(|a| (a.name().to_owned(), shown(a))).collect();
    attributes.sort();
    Node {
        operator: match of.domain() {
            "" | "ai.onnx" => of.op_type().to_owned(),
            domain => format!("{domain}.{}", of.op_type()),
        },
        inputs: of.input.clone(),
        outputs: of.output.clone(),
        attributes,
    }
}

/// How much of an attribute is shown.
const LONG: usize = 60;

/// The value of an attribute as text, cut where it is long.
pub(super) fn shown(attribute: &AttributeProto) -> String {
    let text = if let Some(f) = attribute.f {
        f.to_string()
    } else if let Some(i) = attribute.i {
        i.to_string()
    } else if let Some(s) = &attribute.s {
        String::from_utf8_lossy(s).into_owned()
    } else if let Some(tensor) = &attribute.t {
        format!("<tensor of {:?}>", tensor.dims)
    } else if let Some(graph) = &attribute.g {
        format!("<graph of {} nodes>", graph.node.len())
    } else if let Some(list) = elements(attribute) {
        format!("[{}]", list.join(", "))
    } else {
        "<another value>".to_owned()
    };
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The elements of a list as texts; `None` if the attribute is no list.
pub(super) fn elements(attribute: &AttributeProto) -> Option<Vec<String>> {
    let single = attribute.f.is_some()
        || attribute.i.is_some()
        || attribute.s.is_some()
        || attribute.t.is_some()
        || attribute.g.is_some()
        || attribute.tp.is_some();
    if single {
        return None;
    }
    let texts = attribute.strings.iter().map(|s| format!("{:?}", String::from_utf8_lossy(s)));
    let floats = attribute.floats.iter().map(|f| format!("{f:?}"));
    let ints = attribute.ints.iter().map(ToString::to_string);
    let tensors = attribute.tensors.iter().map(|t| format!("<tensor of {:?}>", t.dims));
    let graphs = attribute.graphs.iter().map(|g| format!("<graph of {} nodes>", g.node.len()));
    let types = attribute.type_protos.iter().map(|_| "<type>".to_owned());
    Some(texts.chain(floats).chain(ints).chain(tensors).chain(graphs).chain(types).collect())
}

/// An input or output with its shape.
pub(super) fn described(info: &ValueInfoProto) -> String {
    let value = info.r#type.as_ref().and_then(|of| of.value.as_ref());
    let Some(TypeValue::TensorType(tensor)) = value else { return info.name().to_owned() };
    let Some(shape) = &tensor.shape else { return info.name().to_owned() };
    let dims = shape.dim.iter().map(|dim| match &dim.value {
        Some(DimensionValue::DimValue(n)) => n.to_string(),
        Some(DimensionValue::DimParam(name)) => name.clone(),
        None => "?".to_owned(),
    });
    format!("{}[{}]", info.name(), dims.collect::<Vec<_>>().join(", "))
}
