//! The types of values by name, as far as floats are concerned.

use rustc_hash::FxHashMap;
use tangram_dialects::dtype;
use tangram_ir::{Module, Order, Type, walk};
use tangram_tensor::DType;

use crate::model::Model;
use crate::proto::{DataType, GraphProto, TypeValue};

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A tensor of `float32`.
    Float,
    /// A tensor of another type.
    Other,
    /// No tensor, or its type is not known, or several values have the name.
    Unknown,
}

/// The kinds of the values of all graphs, by name.
pub(super) struct Types(FxHashMap<String, Kind>);

impl Types {
    /// The types of `graph`, of which `model` is the import.
    pub(super) fn of(graph: &GraphProto, model: &Model) -> Types {
        let mut types = Types(FxHashMap::default());
        let module = &model.module;
        for op in walk(module, module.root(), Order::Pre) {
            let regions = module.regions(op).iter();
            let blocks = regions.flat_map(|&region| module.blocks(region));
            let args: Vec<_> = blocks.flat_map(|b| module.args(b).to_vec()).collect();
            for value in module.results(op).chain(args) {
                if let Some(name) = module.value_name(value) {
                    let kind = kind(module, module.value_type(value));
                    types.note(module.context().text(name), kind);
                }
            }
        }
        types.declared(graph);
        types
    }

    /// What initializers and inputs say of themselves.
    fn declared(&mut self, graph: &GraphProto) {
        let mut open = vec![graph];
        while let Some(graph) = open.pop() {
            for tensor in &graph.initializer {
                self.note(tensor.name(), numbered(tensor.data_type()));
            }
            for input in &graph.input {
                let value = input.r#type.as_ref().and_then(|of| of.value.as_ref());
                if let Some(TypeValue::TensorType(tensor)) = value {
                    self.note(input.name(), numbered(tensor.elem_type()));
                }
            }
            for attribute in graph.node.iter().flat_map(|node| &node.attribute) {
                open.extend(attribute.g.as_deref());
                open.extend(&attribute.graphs);
            }
        }
    }

    fn note(&mut self, name: &str, kind: Kind) {
        let known = self.0.entry(name.to_owned()).or_insert(kind);
        if *known != kind {
            *known = Kind::Unknown;
        }
    }

    /// What the value `name` is; an absent one is of no concern.
    pub(super) fn kind(&self, name: &str) -> Kind {
        match name {
            "" => Kind::Other,
            name => self.0.get(name).copied().unwrap_or(Kind::Unknown),
        }
    }

    pub(super) fn is_float(&self, name: &str) -> bool {
        self.kind(name) == Kind::Float
    }
}

fn numbered(number: i32) -> Kind {
    if number == DataType::Float as i32 { Kind::Float } else { Kind::Other }
}

fn kind(module: &Module, ty: Type) -> Kind {
    let context = module.context();
    match context.element_type(ty).and_then(|element| dtype::dtype_of(context, element)) {
        Some(DType::F32) => Kind::Float,
        Some(_) => Kind::Other,
        None => Kind::Unknown,
    }
}
