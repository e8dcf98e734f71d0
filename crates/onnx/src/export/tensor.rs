//! Constants as initializers and `Constant` nodes.

use bytes::Bytes;
use tangram_dialects::constant;
use tangram_ir::{Block, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

use super::Exporter;
use crate::file::{ExternalFiles, tensor_bytes};
use crate::import::to_tensor;
use crate::model::{ConstantForm, ConstantOrigin};
use crate::proto::{AttributeProto, AttributeType, NodeProto, TensorProto};
use crate::{schema, types};

/// What a small constant holds: two that are equal are written once.
pub(super) type PoolKey = (DType, Vec<usize>, Bytes);

/// `tensor` as ONNX writes it, sharing its bytes.
pub(crate) fn to_proto(tensor: &Tensor, name: &str) -> TensorProto {
    let mut proto = TensorProto {
        name: Some(name.to_owned()),
        dims: tensor.shape().iter().map(|&n| n as i64).collect(),
        data_type: Some(types::number_of(tensor.dtype())),
        ..TensorProto::default()
    };
    match tensor.strings() {
        Some(strings) => {
            proto.string_data = strings.iter().map(|s| Bytes::copy_from_slice(s)).collect();
        }
        None => proto.raw_data = Some(tensor.bytes().clone()),
    }
    proto
}

/// The first operator set in which a `Constant` may hold numbers and texts that are no tensor.
const BRIEF_VALUES: i64 = 12;

/// Makes what a `Constant` holds a tensor.
fn as_tensor(attribute: &mut AttributeProto) {
    let mut tensor = match attribute.name() {
        "value_int" => to_proto(&Tensor::scalar(attribute.i()), ""),
        "value_float" => to_proto(&Tensor::scalar(attribute.f()), ""),
        "value_ints" => to_proto(&Tensor::vector(attribute.ints.clone()), ""),
        "value_floats" => to_proto(&Tensor::vector(attribute.floats.clone()), ""),
        name @ ("value_string" | "value_strings") => {
            let one = attribute.s.iter().filter(|_| name == "value_string");
            let texts: Vec<Bytes> = one.chain(&attribute.strings).cloned().collect();
            let count = [texts.len() as i64].into_iter();
            TensorProto {
                dims: count.filter(|_| name == "value_strings").collect(),
                data_type: Some(types::number_of(DType::String)),
                string_data: texts,
                ..TensorProto::default()
            }
        }
        _ => return,
    };
    tensor.name = None;
    *attribute = AttributeProto {
        name: Some("value".into()),
        r#type: Some(AttributeType::Tensor as i32),
        t: Some(Box::new(tensor)),
        ..AttributeProto::default()
    };
}

/// A `Constant` that makes `proto` as `name`.
fn constant_node(proto: TensorProto, name: &str) -> NodeProto {
    let attribute = AttributeProto {
        name: Some("value".into()),
        r#type: Some(AttributeType::Tensor as i32),
        t: Some(Box::new(TensorProto { name: None, ..proto })),
        ..AttributeProto::default()
    };
    NodeProto {
        op_type: Some("Constant".into()),
        output: vec![name.to_owned()],
        attribute: vec![attribute],
        ..NodeProto::default()
    }
}

/// The elements of `proto` as numbers of 64 bits that a cast makes the same again; `None` where
/// some are none.
fn as_numbers(proto: &TensorProto, files: &ExternalFiles) -> Option<Tensor> {
    let tensor = to_tensor(&tensor_bytes(proto, files).ok()?)?;
    let numbers = cast(&tensor, DType::F64).ok()?;
    let again = cast(&numbers, tensor.dtype()).ok()?;
    (again.bytes() == tensor.bytes()).then_some(numbers)
}

impl Exporter<'_> {
    /// The name of `value` as an input; writes it first if it is a constant.
    pub(super) fn input(&mut self, value: Value) -> String {
        if constant::is_none_type(self.context, self.module.value_type(value)) {
            return String::new();
        }
        self.use_constant(value);
        self.name(value)
    }

    /// Writes `value` if it is a constant that is not written yet.
    pub(super) fn use_constant(&mut self, value: Value) {
        let Some(op) = self.module.def_op(value) else { return };
        let origin = self.origin(value);
        let live = self.module.is_live(op);
        if origin.is_none() && !(live && constant::is_constant(self.module, op)) {
            return;
        }
        if !self.written.insert(value) {
            return;
        }
        let name = self.name(value);
        let home = self.home(value);
        match origin.map(|origin| origin.form) {
            // A default of an input stands there already, whether rules kept it or not.
            Some(ConstantForm::Initializer(number)) if self.defaults.contains(&number) => {}
            Some(ConstantForm::Initializer(number)) if self.is_new_result(value, &name, home) => {
                let proto = self.source.tensors[number as usize].clone();
                self.write_node(home, proto, &name);
            }
            Some(ConstantForm::Initializer(number)) => self.write_initializer(number, name, home),
            Some(ConstantForm::Node(number)) => {
                let mut node = self.source.nodes[number as usize].clone();
                node.output = vec![name];
                if self.opset < BRIEF_VALUES {
                    node.attribute.iter_mut().for_each(as_tensor);
                }
                self.give_constant(home, node);
            }
            None => {
                let Some(tensor) = constant::constant_tensor(self.module, value) else { return };
                match self.is_new_result(value, &name, home) {
                    true => self.write_node(home, to_proto(&tensor, &name), &name),
                    false => self.write_tensor(home, &tensor, &name),
                }
            }
        }
    }

    /// Whether a body returns the constant `value` and did not do so in the model. Others infer no
    /// shape for a result that is an initializer, so that it is a node.
    fn is_new_result(&self, value: Value, name: &str, home: usize) -> bool {
        let own = self.module.value_name(value).map(|own| self.context.text(own));
        let was = self.origin(value).is_some() && own == Some(name);
        home > 0 && !was && self.graphs[home].returned.contains(&value)
    }

    /// Where `value` comes from, if it is a constant of the model.
    pub(super) fn origin(&self, value: Value) -> Option<ConstantOrigin> {
        self.source.constants.get(&self.module.def_op(value)?).copied()
    }

    /// The place, among the graphs being written, of the one that `value` belongs to: a constant of
    /// the model where it was, if that graph is still there.
    pub(super) fn home(&self, value: Value) -> usize {
        let op = self.module.def_op(value);
        let was = self.origin(value).and_then(|origin| self.place(origin.block));
        let live = op.is_none_or(|op| self.module.is_live(op));
        let is = || live.then(|| self.module.def_block(value)).flatten();
        was.or_else(|| self.place(is()?)).unwrap_or(0)
    }

    /// The place of the graph of `block` among those being written.
    fn place(&self, block: Block) -> Option<usize> {
        self.graphs.iter().position(|graph| graph.block == block)
    }

    /// Writes initializer `number` of the model as `name` into the graph at `at`.
    pub(super) fn write_initializer(&mut self, number: u32, name: String, at: usize) {
        let mut tensor = self.source.tensors[number as usize].clone();
        tensor.name = Some(name);
        self.graphs[at].initializers.push(tensor);
    }

    /// Before IR version 4 every initializer has to be a graph input, so that new constants are
    /// nodes there.
    fn write_tensor(&mut self, at: usize, tensor: &Tensor, name: &str) {
        let proto = to_proto(tensor, name);
        if self.has_initializers() {
            self.graphs[at].initializers.push(proto);
            return;
        }
        self.write_node(at, proto, name);
    }

    /// Whether a graph may have initializers that are no inputs.
    fn has_initializers(&self) -> bool {
        self.source.proto.ir_version() >= 4
    }

    /// Writes a `Constant` node that makes `proto`.
    fn write_node(&mut self, at: usize, proto: TensorProto, name: &str) {
        self.give_constant(at, constant_node(proto, name));
    }

    /// Writes `node`, a `Constant`. Of types that it does not hold in this operator set, integers
    /// before set 9 among them, an initializer is written, or where that cannot be, numbers that
    /// are cast.
    fn give_constant(&mut self, at: usize, node: NodeProto) {
        let tensor = node.attribute.iter().find_map(|attribute| attribute.t.as_deref());
        let Some(tensor) = tensor.filter(|t| !schema::holds(self.opset, t.data_type())) else {
            self.graphs[at].nodes.push(node);
            return;
        };
        let name = node.output.first().cloned().unwrap_or_default();
        let returned = |&value: &Value| self.name_is(value, &name);
        let is_result = self.graphs[at].returned.iter().any(returned);
        if self.has_initializers() && !(at > 0 && is_result) {
            self.graphs[at].initializers.push(TensorProto { name: Some(name), ..tensor.clone() });
            return;
        }
        let Some(numbers) = as_numbers(tensor, &self.source.files) else {
            self.graphs[at].nodes.push(node);
            return;
        };
        let to = super::node::int("to", tensor.data_type().into());
        let wide = self.fresh_name(&name);
        let wide = self.context.text(wide).to_owned();
        self.graphs[at].nodes.extend([
            constant_node(to_proto(&numbers, ""), &wide),
            NodeProto {
                op_type: Some("Cast".into()),
                input: vec![wide],
                output: vec![name],
                attribute: vec![to],
                ..NodeProto::default()
            },
        ]);
    }

    fn name_is(&self, value: Value, name: &str) -> bool {
        self.names[value].is_some_and(|own| self.context.text(own) == name)
    }

    /// The name of a constant that holds `tensor`, written once for the whole model.
    pub(super) fn pooled(&mut self, tensor: &Tensor, stem: &str) -> String {
        let key = (tensor.dtype(), tensor.shape().to_vec(), tensor.bytes().clone());
        if let Some(name) = self.pool.get(&key) {
            return name.clone();
        }
        let name = self.fresh_name(stem);
        let name = self.context.text(name).to_owned();
        self.write_tensor(0, tensor, &name);
        self.pool.insert(key, name.clone());
        name
    }
}
