//! Models as nobody exports them, built by structure: whatever a message can say, wrong or not.
//!
//! Operators get operands, attributes and types that need not fit; extents, numbers and axes are at the
//! limits of their types; bodies of loops, functions, sequences and data in files that are not there are
//! among it. A model that is read goes through the optimiser and out again.

use std::time::Duration;

use bytes::Bytes;
use tangram::{Library, Options, optimise};
use tangram_ir::verify;
use tangram_onnx::proto::{
    AttributeProto, AttributeType, Dimension, DimensionValue, FunctionProto, GraphProto,
    ModelProto, NodeProto, OperatorSetIdProto, SequenceType, StringStringEntryProto, TensorProto,
    TensorShapeProto, TensorType, TypeProto, TypeValue, ValueInfoProto, encoded,
};
use tangram_onnx::{ExportOptions, Model, export, schema};

/// Draws a number below the given one: at random in tests, from bytes when fuzzing.
pub type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

const EXTENTS: [i64; 10] = [1, 2, 3, 0, 4, 64, -1, 1 << 31, 1 << 62, i64::MIN];
const NUMBERS: [i64; 10] = [0, 1, -1, 2, 3, 7, -2, i64::MAX, i64::MIN, 1 << 33];
/// Half of them of the types that most operators take.
const TYPES: [i32; 14] = [1, 1, 1, 7, 7, 9, 6, 11, 10, 16, 8, 3, 1, 99];
const ATTRIBUTES: [&str; 24] = [
    "axis",
    "axes",
    "keepdims",
    "perm",
    "to",
    "value",
    "alpha",
    "beta",
    "epsilon",
    "group",
    "strides",
    "pads",
    "dilations",
    "kernel_shape",
    "auto_pad",
    "equation",
    "mode",
    "num_outputs",
    "split",
    "shape",
    "direction",
    "hidden_size",
    "blocksize",
    "k",
];
const WORDS: [&str; 8] =
    ["", "SAME_UPPER", "VALID", "ij,jk->ik", "linear", "\u{202e}", "max", "..."];
/// Operators that are in most models: half of the nodes have one of these.
const USUAL: [&str; 20] = [
    "Add",
    "Mul",
    "MatMul",
    "Conv",
    "Relu",
    "Reshape",
    "Transpose",
    "Concat",
    "Slice",
    "Gather",
    "ReduceSum",
    "Softmax",
    "Cast",
    "Squeeze",
    "Unsqueeze",
    "Constant",
    "Shape",
    "Where",
    "Split",
    "BatchNormalization",
];
const DEEPEST: usize = 3;

struct Maker<'a> {
    draw: Draw<'a>,
    operators: Vec<&'static str>,
    /// The values that are known so far.
    values: Vec<String>,
    next: usize,
}

fn pick<T: Copy>(draw: Draw, all: &[T]) -> T {
    all[draw(all.len())]
}

impl Maker<'_> {
    fn below(&mut self, end: usize) -> usize {
        (self.draw)(end)
    }

    fn several<T>(&mut self, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most)).map(|_| make(self)).collect()
    }

    fn extent(&mut self) -> i64 {
        // Mostly small: what is refused at once shows little.
        let most = if self.below(4) == 0 { EXTENTS.len() } else { 5 };
        EXTENTS[self.below(most)]
    }

    fn element(&mut self) -> i32 {
        let most = if self.below(6) == 0 { TYPES.len() } else { 9 };
        TYPES[self.below(most)]
    }

    fn number(&mut self) -> i64 {
        let most = if self.below(4) == 0 { NUMBERS.len() } else { 6 };
        NUMBERS[self.below(most)]
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn value(&mut self) -> String {
        match self.below(80) {
            0 => "nowhere".to_owned(),
            1..4 => String::new(),
            _ if self.values.is_empty() => String::new(),
            _ => {
                let at = self.below(self.values.len());
                self.values[at].clone()
            }
        }
    }

    fn tensor(&mut self, name: String) -> TensorProto {
        let dims = self.several(4, Self::extent);
        let data_type = self.element();
        // As many elements as it says, if these are few; else some.
        let product = dims
            .iter()
            .try_fold(1usize, |product, &dim| product.checked_mul(usize::try_from(dim).ok()?));
        let count = product.filter(|&count| count <= 256).unwrap_or(3);
        let mut tensor = TensorProto {
            name: Some(name),
            dims,
            data_type: Some(data_type),
            ..TensorProto::default()
        };
        match self.below(24) {
            0 => {
                tensor.data_location = Some(1);
                let pair = |key: &str, value: &str| StringStringEntryProto {
                    key: Some(key.to_owned()),
                    value: Some(value.to_owned()),
                };
                let length = self.number().to_string();
                tensor.external_data =
                    vec![pair("location", "../nowhere"), pair("length", &length)];
            }
            1 => tensor.raw_data = Some(Bytes::from(vec![1; self.below(64)])),
            _ if data_type == 1 => tensor.float_data = vec![0.5; count],
            _ if data_type == 7 => tensor.int64_data = (0..count).map(|_| self.number()).collect(),
            _ if data_type == 11 => tensor.double_data = vec![f64::INFINITY; count],
            _ if data_type == 8 => tensor.string_data = vec![Bytes::from_static(b"\xff"); count],
            _ => tensor.int32_data = (0..count).map(|_| self.number() as i32).collect(),
        }
        tensor
    }

    fn attribute(&mut self, depth: usize) -> AttributeProto {
        let name = pick(self.draw, &ATTRIBUTES).to_owned();
        let mut attribute = AttributeProto { name: Some(name), ..AttributeProto::default() };
        let mut kind = AttributeType::Int;
        match self.below(8) {
            0 => {
                kind = AttributeType::Float;
                attribute.f = Some(pick(self.draw, &[0.0, 1e-5, -1.0, f32::NAN, f32::MAX]));
            }
            1 => {
                kind = AttributeType::String;
                attribute.s = Some(Bytes::from_static(pick(self.draw, &WORDS).as_bytes()));
            }
            2 => {
                kind = AttributeType::Tensor;
                attribute.t = Some(Box::new(self.tensor(String::new())));
            }
            3 => {
                kind = AttributeType::Ints;
                attribute.ints = self.several(6, Self::number);
            }
            4 if depth < DEEPEST => {
                kind = AttributeType::Graph;
                attribute.name =
                    Some(pick(self.draw, &["body", "then_branch", "else_branch"]).into());
                attribute.g = Some(Box::new(self.graph(depth + 1)));
            }
            _ => attribute.i = Some(self.number()),
        }
        attribute.r#type = Some(kind as i32);
        if self.below(24) == 0 {
            attribute.r#type = Some(self.below(17) as i32);
        }
        attribute
    }

    fn node(&mut self, depth: usize) -> NodeProto {
        let operator = match self.below(8) {
            0 => "Own",
            1 => {
                pick(self.draw, &["If", "Loop", "Scan", "SequenceAt", "SequenceInsert", "Optional"])
            }
            2 | 3 => pick(self.draw, &self.operators.clone()),
            _ => pick(self.draw, &USUAL),
        };
        let input = self.several(5, Self::value);
        let attribute = self.several(4, |maker| maker.attribute(depth));
        let output: Vec<String> = (0..1 + self.below(3) / 2).map(|_| self.fresh()).collect();
        self.values.extend(output.iter().cloned());
        let domain = if operator == "Own" { "own" } else { "" };
        NodeProto {
            input,
            output,
            op_type: Some(operator.to_owned()),
            domain: Some(domain.to_owned()),
            attribute,
            ..NodeProto::default()
        }
    }

    fn type_of(&mut self) -> TypeProto {
        let dimension = |maker: &mut Self| Dimension {
            value: match maker.below(4) {
                0 => Some(DimensionValue::DimParam("n".to_owned())),
                1 => None,
                _ => Some(DimensionValue::DimValue(maker.extent())),
            },
            ..Dimension::default()
        };
        let dims = self.several(5, dimension);
        let tensor = TypeValue::TensorType(TensorType {
            elem_type: Some(self.element()),
            shape: (self.below(6) > 0).then_some(TensorShapeProto { dim: dims }),
        });
        let plain = TypeProto { value: Some(tensor), ..TypeProto::default() };
        match self.below(8) {
            0 => {
                let sequence = SequenceType { elem_type: Some(Box::new(plain)) };
                let value = Some(TypeValue::SequenceType(Box::new(sequence)));
                TypeProto { value, ..TypeProto::default() }
            }
            1 => TypeProto::default(),
            _ => plain,
        }
    }

    fn described(&mut self, name: String) -> ValueInfoProto {
        let r#type = (self.below(8) > 0).then(|| self.type_of());
        ValueInfoProto { name: Some(name), r#type, ..ValueInfoProto::default() }
    }

    fn graph(&mut self, depth: usize) -> GraphProto {
        // What is outside is seen inside, and not the other way round.
        let outside = self.values.len();
        let mut graph = GraphProto { name: Some("g".to_owned()), ..GraphProto::default() };
        for _ in 0..self.below(4) {
            let name = self.fresh();
            graph.input.push(self.described(name.clone()));
            self.values.push(name);
        }
        for _ in 0..self.below(4) {
            let name = self.fresh();
            graph.initializer.push(self.tensor(name.clone()));
            self.values.push(name);
        }
        let most = if depth == 0 { 9 } else { 4 };
        graph.node = (0..self.below(most)).map(|_| self.node(depth)).collect();
        for _ in 0..1 + self.below(3) {
            let name = self.value();
            graph.output.push(self.described(name));
        }
        self.values.truncate(outside);
        graph
    }

    fn function(&mut self) -> FunctionProto {
        let input: Vec<String> = (0..self.below(3)).map(|_| self.fresh()).collect();
        self.values.clone_from(&input);
        let node = (0..self.below(4)).map(|_| self.node(DEEPEST)).collect();
        let output = self.several(3, Self::value);
        self.values.clear();
        FunctionProto {
            name: Some("Own".to_owned()),
            domain: Some("own".to_owned()),
            opset_import: vec![set("", 17), set("own", 1)],
            input,
            output,
            node,
            ..FunctionProto::default()
        }
    }
}

fn set(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: Some(domain.to_owned()), version: Some(version) }
}

/// A model.
pub fn model(draw: Draw) -> ModelProto {
    let version = pick(draw, &[17, 17, 21, 13, 11, 7, 24, 1, 99]);
    let operators = schema::operators();
    let mut maker = Maker { draw, operators, values: Vec::new(), next: 0 };
    let functions = maker.several(3, Maker::function);
    let graph = maker.graph(0);
    ModelProto {
        ir_version: Some(8),
        opset_import: vec![set("", version), set("own", 1)],
        functions,
        graph: Some(graph),
        ..ModelProto::default()
    }
}

/// Reads a model, optimises it and writes it. Says whether it was read and whether it could be written.
pub fn follow(model: &ModelProto, library: &Library) -> (bool, bool) {
    let context = tangram_dialects::context();
    let Ok(mut model) = Model::decode(Bytes::from(encoded(model)), context) else {
        return (false, false);
    };
    if let Err(errors) = verify(&model.module) {
        panic!("read as an invalid program: {errors:?}");
    }
    let options = Options {
        max_time: Some(Duration::from_secs(2)),
        fold_limit: Some(1 << 12),
        compare_limit: 1 << 12,
        ..Options::default()
    };
    optimise(&mut model, library, &options).expect("the shipped rules fit");
    if let Err(errors) = verify(&model.module) {
        panic!("optimised into an invalid program: {errors:?}");
    }
    let Ok(written) = export(&model, ExportOptions::default()) else { return (true, false) };
    let again = Bytes::from(encoded(&written));
    if let Err(error) = Model::decode(again, tangram_dialects::context()) {
        panic!("what was written is not read again: {error}");
    }
    (true, true)
}
