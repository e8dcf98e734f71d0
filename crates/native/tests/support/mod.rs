//! Models made node by node, and results compared.

#![allow(dead_code, reason = "no test has use for all of it")]

pub(crate) mod graphs;

use tangram_dialects::interpret::Datum;
use tangram_native::{Options, Session};
use tangram_onnx::Model;
use tangram_onnx::proto::{
    AttributeProto, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TensorType, TypeProto, TypeValue,
    ValueInfoProto,
};
use tangram_tensor::Tensor;

/// The domain of onnxruntime's own operators.
const VENDOR: &str = "com.microsoft";

/// An extent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Side {
    Number(i64),
    Name(&'static str),
}

impl Side {
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Side::Number(n) => Some(*n),
            Side::Name(_) => None,
        }
    }

    /// The extent for a batch, which `b` names, and a length, which all other names are for.
    pub(crate) fn size(&self, batch: usize, length: usize) -> usize {
        match self {
            Side::Number(n) => *n as usize,
            Side::Name("b") => batch,
            Side::Name(_) => length,
        }
    }
}

/// The value of an attribute.
pub(crate) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    Text(&'static str),
}

impl From<&'static str> for Attribute {
    fn from(value: &'static str) -> Attribute {
        Attribute::Text(value)
    }
}

impl From<i64> for Attribute {
    fn from(value: i64) -> Attribute {
        Attribute::Int(value)
    }
}

pub(crate) fn attribute_ints(values: impl IntoIterator<Item = i64>) -> Attribute {
    Attribute::Ints(values.into_iter().collect())
}

/// A graph of ONNX, opset 18.
#[derive(Default)]
pub(crate) struct Graph {
    proto: GraphProto,
    values: usize,
}

impl Graph {
    fn fresh(&mut self) -> String {
        self.values += 1;
        format!("v{}", self.values)
    }

    fn info(name: &str, shape: Option<&[Side]>) -> ValueInfoProto {
        let dim = |side: &Side| {
            let value = match side {
                Side::Number(n) => DimensionValue::DimValue(*n),
                Side::Name(name) => DimensionValue::DimParam((*name).to_owned()),
            };
            Dimension { value: Some(value), ..Dimension::default() }
        };
        let shape = shape.map(|sides| TensorShapeProto { dim: sides.iter().map(dim).collect() });
        let tensor = TensorType { elem_type: Some(1), shape };
        let ty = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..TypeProto::default() };
        ValueInfoProto {
            name: Some(name.to_owned()),
            r#type: Some(ty),
            ..ValueInfoProto::default()
        }
    }

    /// An input of `float`.
    pub(crate) fn input(&mut self, shape: &[Side]) -> String {
        let name = self.fresh();
        self.proto.input.push(Graph::info(&name, Some(shape)));
        name
    }

    pub(crate) fn output(&mut self, name: &str) {
        self.proto.output.push(Graph::info(name, None));
    }

    pub(crate) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<(&str, Attribute)>,
    ) -> String {
        let [name] = self.node_of(operator, inputs, attributes);
        name
    }

    /// A node with so many results.
    pub(crate) fn node_of<const N: usize>(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<(&str, Attribute)>,
    ) -> [String; N] {
        let names = [(); N].map(|()| self.fresh());
        let attribute = attributes.into_iter().map(|(name, value)| {
            let mut proto =
                AttributeProto { name: Some(name.to_owned()), ..AttributeProto::default() };
            match value {
                Attribute::Int(value) => (proto.r#type, proto.i) = (Some(2), Some(value)),
                Attribute::Ints(values) => (proto.r#type, proto.ints) = (Some(7), values),
                Attribute::Text(text) => (proto.r#type, proto.s) = (Some(3), Some(text.into())),
            }
            proto
        });
        self.proto.node.push(NodeProto {
            op_type: Some(operator.to_owned()),
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: names.to_vec(),
            attribute: attribute.collect(),
            ..NodeProto::default()
        });
        names
    }

    /// The last node becomes one of onnxruntime's own operators.
    pub(crate) fn is_vendors(&mut self) {
        if let Some(node) = self.proto.node.last_mut() {
            node.domain = Some(VENDOR.to_owned());
        }
    }

    pub(crate) fn floats(&mut self, extents: &[i64], values: Vec<f32>) -> String {
        let name = self.fresh();
        self.proto.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: extents.to_vec(),
            data_type: Some(1),
            float_data: values,
            ..TensorProto::default()
        });
        name
    }

    pub(crate) fn ints(&mut self, values: &[i64]) -> String {
        let name = self.fresh();
        self.proto.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: vec![values.len() as i64],
            data_type: Some(7),
            int64_data: values.to_vec(),
            ..TensorProto::default()
        });
        name
    }

    /// A constant of a type, by its number, whose values are kept as `int32`: bytes and shorts.
    pub(crate) fn short(&mut self, data_type: i32, extents: &[i64], values: &[i32]) -> String {
        let name = self.fresh();
        self.proto.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: extents.to_vec(),
            data_type: Some(data_type),
            int32_data: values.to_vec(),
            ..TensorProto::default()
        });
        name
    }

    pub(crate) fn flags(&mut self, values: &[i32]) -> String {
        let name = self.fresh();
        self.proto.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: vec![values.len() as i64],
            data_type: Some(9),
            int32_data: values.to_vec(),
            ..TensorProto::default()
        });
        name
    }

    /// The model's file.
    pub(crate) fn bytes(mut self) -> Vec<u8> {
        self.proto.name = Some("graph".to_owned());
        let opset = OperatorSetIdProto { domain: None, version: Some(18) };
        let vendor = OperatorSetIdProto { domain: Some(VENDOR.to_owned()), version: Some(1) };
        let proto = ModelProto {
            ir_version: Some(8),
            graph: Some(self.proto),
            opset_import: vec![opset, vendor],
            ..ModelProto::default()
        };
        let mut bytes = Vec::new();
        tangram_onnx::file::encode(&proto, &mut bytes).expect("encoded");
        bytes
    }
}

/// A session of a model's file.
pub(crate) fn session_of(bytes: &[u8], interpret: bool) -> Session {
    session_with(bytes, |options| options.interpret = interpret)
}

/// A session of a model's file, with other options.
pub(crate) fn session_with(bytes: &[u8], change: impl FnOnce(&mut Options)) -> Session {
    let context = tangram_dialects::context();
    let model = Model::decode(bytes.to_vec().into(), context).expect("imported");
    let mut options = Options::default();
    change(&mut options);
    Session::new(model, &options).expect("a session")
}

/// Compares what was found with what is expected, within a part of the largest magnitude.
pub(crate) fn agree(what: &str, found: &Datum, expected: &Datum, tolerance: f64) {
    let (Datum::Tensor(found), Datum::Tensor(expected)) = (found, expected) else {
        assert_eq!(found, expected, "{what}");
        return;
    };
    let shape = |tensor: &Tensor| (tensor.dtype(), tensor.shape().to_vec());
    assert_eq!(shape(found), shape(expected), "{what}");
    let (Ok(found), Ok(expected)) = (found.f64s(), expected.f64s()) else { return };
    let finite = expected.iter().filter(|value| value.is_finite());
    let largest = finite.fold(1.0_f64, |most, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let near = (found - expected).abs() <= tolerance * largest;
        assert!(same || near, "{what}, element {at}: {found} for {expected}");
    }
}

/// Whether two tensors have the same bytes.
pub(crate) fn same_bits(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Tensor(a), Datum::Tensor(b)) => a.bytes() == b.bytes(),
        _ => a == b,
    }
}

/// Builds a model as C with a program that calls it, which gets the file of weights; returns the
/// program's exit code.
pub(crate) fn run_emitted(
    emitted: &tangram_native::Emitted,
    main: &str,
    flags: &[&str],
) -> Option<i32> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("m.h"), &emitted.header).expect("written");
    std::fs::write(path("m.c"), &emitted.source).expect("written");
    std::fs::write(path("m.weights"), &emitted.weights).expect("written");
    std::fs::write(path("main.c"), main).expect("written");
    let built = std::process::Command::new("cc")
        .args(flags)
        .arg("-o")
        .args([path("main"), path("main.c"), path("m.c")])
        .arg("-lm")
        .output()
        .expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = std::process::Command::new(path("main")).arg(path("m.weights")).output();
    let ran = ran.expect("it starts");
    print!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    ran.status.code()
}
