//! Graphs, nodes, attributes, value descriptions and functions.

use bytes::Bytes;
use prost::{Enumeration, Message};

use super::{
    NodeDeviceConfigurationProto, OperatorSetIdProto, SparseTensorProto, StringStringEntryProto,
    TensorProto, TypeProto,
};

/// Holds a graph: nodes in topological order, constants, inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The nodes, sorted so that a value is produced before it is used.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name of the graph.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// Named constants; one with the name of an input is that input's default.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "10")]
    pub doc_string: Option<String>,
    /// Inputs in order.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs in order.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values in between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Which tensors hold the quantisation parameters of which values.
    #[prost(message, repeated, tag = "14")]
    pub quantization_annotation: Vec<TensorAnnotation>,
    /// Named constants in sparse form.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
    /// Free key and value pairs.
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// Holds one use of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the values read; the empty name stands for an absent optional input.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the values produced; the empty name for an output that nobody wants.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the node, for people only.
    #[prost(string, optional, tag = "3")]
    pub name: Option<String>,
    /// Name of the operator or function.
    #[prost(string, optional, tag = "4")]
    pub op_type: Option<String>,
    /// Named parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "6")]
    pub doc_string: Option<String>,
    /// Domain of the operator; empty or absent for the standard one.
    #[prost(string, optional, tag = "7")]
    pub domain: Option<String>,
    /// Which of several functions of the same name and domain (IR version 10).
    #[prost(string, optional, tag = "8")]
    pub overload: Option<String>,
    /// Free key and value pairs (IR version 10).
    #[prost(message, repeated, tag = "9")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// How the node runs on several devices (IR version 11).
    #[prost(message, repeated, tag = "10")]
    pub device_configurations: Vec<NodeDeviceConfigurationProto>,
}

/// Holds one named parameter; `type` says which of the value fields counts.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// A number.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// An integer.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A string, in UTF-8 by convention.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub s: Option<Bytes>,
    /// A tensor.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// A graph, such as the body of a loop.
    #[prost(message, optional, boxed, tag = "6")]
    pub g: Option<Box<GraphProto>>,
    /// Numbers.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Integers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Strings.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// Tensors.
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    /// Graphs.
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "13")]
    pub doc_string: Option<String>,
    /// A type.
    #[prost(message, optional, boxed, tag = "14")]
    pub tp: Option<Box<TypeProto>>,
    /// Types.
    #[prost(message, repeated, tag = "15")]
    pub type_protos: Vec<TypeProto>,
    /// Which value field counts: an [`AttributeType`].
    #[prost(int32, optional, tag = "20")]
    pub r#type: Option<i32>,
    /// In a function's body: the attribute of the function whose value is taken.
    #[prost(string, optional, tag = "21")]
    pub ref_attr_name: Option<String>,
    /// A sparse tensor.
    #[prost(message, optional, boxed, tag = "22")]
    pub sparse_tensor: Option<Box<SparseTensorProto>>,
    /// Sparse tensors.
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<SparseTensorProto>,
}

/// Numbers the kinds of attribute values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AttributeType {
    /// Not given.
    Undefined = 0,
    /// `f`.
    Float = 1,
    /// `i`.
    Int = 2,
    /// `s`.
    String = 3,
    /// `t`.
    Tensor = 4,
    /// `g`.
    Graph = 5,
    /// `floats`.
    Floats = 6,
    /// `ints`.
    Ints = 7,
    /// `strings`.
    Strings = 8,
    /// `tensors`.
    Tensors = 9,
    /// `graphs`.
    Graphs = 10,
    /// `sparse_tensor`.
    SparseTensor = 11,
    /// `sparse_tensors`.
    SparseTensors = 12,
    /// `tp`.
    TypeProto = 13,
    /// `type_protos`.
    TypeProtos = 14,
}

/// Describes a value: its name and its type.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name of the value.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Its type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "3")]
    pub doc_string: Option<String>,
    /// Free key and value pairs (IR version 10).
    #[prost(message, repeated, tag = "4")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// Says which tensors hold the quantisation parameters of a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TensorAnnotation {
    /// Name of the value.
    #[prost(string, optional, tag = "1")]
    pub tensor_name: Option<String>,
    /// From the parameter, such as `SCALE_TENSOR`, to the name of a tensor.
    #[prost(message, repeated, tag = "2")]
    pub quant_parameter_tensor_names: Vec<StringStringEntryProto>,
}

/// Holds a function: an operator given by its body.
#[derive(Clone, PartialEq, Message)]
pub struct FunctionProto {
    /// Name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Names of the inputs.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// Names of the outputs.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// Names of the attributes without a default.
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    /// The body, sorted.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "8")]
    pub doc_string: Option<String>,
    /// The operator sets that the body refers to.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Domain.
    #[prost(string, optional, tag = "10")]
    pub domain: Option<String>,
    /// Attributes with a default (IR version 9).
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    /// Types of values of the body (IR version 10).
    #[prost(message, repeated, tag = "12")]
    pub value_info: Vec<ValueInfoProto>,
    /// Tells functions of the same name and domain apart (IR version 10).
    #[prost(string, optional, tag = "13")]
    pub overload: Option<String>,
    /// Free key and value pairs (IR version 10).
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}
