//! Every tensor of a model, with its place.

use std::fmt;

use crate::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};

/// The place of a tensor in the model; printed as a path.
pub(super) struct Spot<'a> {
    /// Path of the message that holds the tensor.
    around: &'a str,
    field: &'static str,
    index: Option<usize>,
}

impl Spot<'_> {
    /// Whether the tensor is a dense initialiser of a graph.
    pub(super) fn is_initializer(&self) -> bool {
        self.field == "initializer"
    }
}

impl fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.around, self.field)?;
        self.index.map_or(Ok(()), |index| write!(f, "[{index}]"))
    }
}

/// Messages still to be visited, with their paths. A worklist, since bodies nest as deep as they
/// like in a model that was built in memory.
enum Item<'a> {
    Graph(&'a mut GraphProto, String),
    Nodes(&'a mut [NodeProto], String),
    Attributes(&'a mut [AttributeProto], String),
}

/// Calls `visit` for each tensor: initialisers, sparse ones, attributes, in all bodies.
///
/// # Errors
/// The first one that `visit` returns.
pub(super) fn for_each_tensor<E>(
    model: &mut ModelProto,
    mut visit: impl FnMut(&Spot<'_>, &mut TensorProto) -> Result<(), E>,
) -> Result<(), E> {
    let mut open = roots(model);
    while let Some(item) = open.pop() {
        match item {
            Item::Graph(graph, path) => {
                initializers(graph, &path, &mut visit)?;
                open.push(Item::Nodes(&mut graph.node, path));
            }
            Item::Nodes(nodes, path) => {
                let nodes = nodes.iter_mut().enumerate().rev();
                let holding = nodes.filter(|(_, node)| node.attribute.iter().any(may_hold_tensors));
                open.extend(holding.map(|(index, node)| {
                    Item::Attributes(&mut node.attribute, format!("{path}.node[{index}].attribute"))
                }));
            }
            Item::Attributes(attributes, path) => {
                for (index, attribute) in attributes.iter_mut().enumerate() {
                    visit_attribute(attribute, format!("{path}[{index}]"), &mut open, &mut visit)?;
                }
            }
        }
    }
    Ok(())
}

fn may_hold_tensors(attribute: &AttributeProto) -> bool {
    attribute.t.is_some()
        || attribute.g.is_some()
        || attribute.sparse_tensor.is_some()
        || !attribute.tensors.is_empty()
        || !attribute.graphs.is_empty()
        || !attribute.sparse_tensors.is_empty()
}

/// The outermost messages, the last to be visited first.
fn roots(model: &mut ModelProto) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    for (index, info) in model.training_info.iter_mut().enumerate() {
        let graphs =
            [("initialization", &mut info.initialization), ("algorithm", &mut info.algorithm)];
        items.extend(graphs.into_iter().filter_map(|(field, graph)| {
            Some(Item::Graph(graph.as_mut()?, format!("training_info[{index}].{field}")))
        }));
    }
    for (index, function) in model.functions.iter_mut().enumerate() {
        let path = format!("functions[{index}]");
        let defaults = format!("{path}.attribute_proto");
        items.push(Item::Attributes(&mut function.attribute_proto, defaults));
        items.push(Item::Nodes(&mut function.node, path));
    }
    items.extend(model.graph.as_mut().map(|graph| Item::Graph(graph, "graph".to_owned())));
    items
}

fn initializers<E>(
    graph: &mut GraphProto,
    path: &str,
    visit: &mut impl FnMut(&Spot<'_>, &mut TensorProto) -> Result<(), E>,
) -> Result<(), E> {
    for (index, tensor) in graph.initializer.iter_mut().enumerate() {
        visit(&Spot { around: path, field: "initializer", index: Some(index) }, tensor)?;
    }
    for (index, sparse) in graph.sparse_initializer.iter_mut().enumerate() {
        let around = &format!("{path}.sparse_initializer[{index}]");
        for (field, tensor) in [("values", &mut sparse.values), ("indices", &mut sparse.indices)] {
            if let Some(tensor) = tensor {
                visit(&Spot { around, field, index: None }, tensor)?;
            }
        }
    }
    Ok(())
}

fn visit_attribute<'a, E>(
    attribute: &'a mut AttributeProto,
    path: String,
    open: &mut Vec<Item<'a>>,
    visit: &mut impl FnMut(&Spot<'_>, &mut TensorProto) -> Result<(), E>,
) -> Result<(), E> {
    let around = &path;
    if let Some(tensor) = &mut attribute.t {
        visit(&Spot { around, field: "t", index: None }, tensor)?;
    }
    for (index, tensor) in attribute.tensors.iter_mut().enumerate() {
        visit(&Spot { around, field: "tensors", index: Some(index) }, tensor)?;
    }
    let sparse = attribute.sparse_tensor.as_deref_mut().into_iter();
    for (index, sparse) in sparse.chain(&mut attribute.sparse_tensors).enumerate() {
        for (field, tensor) in [("values", &mut sparse.values), ("indices", &mut sparse.indices)] {
            if let Some(tensor) = tensor {
                let around = &format!("{path}.sparse[{index}]");
                visit(&Spot { around, field, index: None }, tensor)?;
            }
        }
    }
    open.extend(attribute.g.as_deref_mut().map(|graph| Item::Graph(graph, format!("{path}.g"))));
    let graphs = attribute.graphs.iter_mut().enumerate();
    open.extend(graphs.map(|(index, graph)| Item::Graph(graph, format!("{path}.graphs[{index}]"))));
    Ok(())
}
