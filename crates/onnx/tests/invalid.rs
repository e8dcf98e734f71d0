//! Models that do not keep to the schemas of their operators: they come through, and it is said.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;
use tangram_onnx::file::decode;
use tangram_onnx::import;
use tangram_onnx::proto::*;

fn value(name: &str, element: DataType) -> ValueInfoProto {
    let tensor = TensorType { elem_type: Some(element as i32), ..<_>::default() };
    let ty = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..<_>::default() };
    ValueInfoProto { name: Some(name.into()), r#type: Some(ty), ..<_>::default() }
}

fn node(op_type: &str, input: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(op_type.into()),
        name: Some(output.into()),
        input: input.iter().map(|&name| name.into()).collect(),
        output: vec![output.into()],
        ..<_>::default()
    }
}

/// What is said of a model of these nodes, `x` of one element type and `y` of another.
fn said(node: Vec<NodeProto>, x: DataType, y: DataType) -> Vec<String> {
    let output = node.last().map(|last| value(&last.output[0], x)).into_iter().collect();
    let input = vec![value("x", x), value("y", y)];
    let graph = GraphProto { name: Some("g".into()), node, input, output, ..<_>::default() };
    let set = OperatorSetIdProto { domain: Some(String::new()), version: Some(17) };
    let model = ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![set],
        ..<_>::default()
    };
    let loaded = decode(Bytes::from(model.encode_to_vec())).expect("a model");
    let context = tangram_dialects::context();
    import(loaded, Arc::clone(&context)).expect("a graph").warnings().to_vec()
}

#[test]
fn operands_of_two_types_are_told() {
    let sum = || vec![node("Sub", &["x", "y"], "z")];
    assert!(said(sum(), DataType::Float, DataType::Float).is_empty());
    let told = said(sum(), DataType::Float16, DataType::Float);
    let problem = "Sub node `z`: Sub of operator set 17 has inputs of one type `T`";
    assert!(told[0].starts_with("the model is invalid as it came: "), "{told:?}");
    assert!(told[0].contains(problem), "{told:?}");
    // No type is made up for the sum of both.
    let carried =
        "is carried along unchanged: the operands of `nn.subtract` are of one element type";
    assert!(told[1].contains(carried) && told.len() == 2, "{told:?}");
}

#[test]
fn many_mistakes_are_counted() {
    let nodes = ["Sub", "Mul", "Add", "Div", "Div"].map(|op| node(op, &["x", "y"], "z"));
    let nodes = nodes.into_iter().enumerate().map(|(i, node)| {
        let name = format!("z{i}");
        NodeProto { name: Some(name.clone()), output: vec![name], ..node }
    });
    let told = said(nodes.collect(), DataType::Float16, DataType::Float);
    let mistakes = told.iter().filter(|line| !line.contains("is carried along")).count();
    assert_eq!(mistakes, 4, "{told:?}");
    assert!(told[3].contains("5 mistakes"), "{told:?}");
}
