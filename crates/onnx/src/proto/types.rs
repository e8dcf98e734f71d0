//! Types of values, and shapes with symbolic dimensions.

use prost::{Message, Oneof};

/// Holds a type.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TypeProto {
    /// Which kind of type; absent if unknown.
    #[prost(oneof = "TypeValue", tags = "1, 4, 5, 7, 8, 9")]
    pub value: Option<TypeValue>,
    /// What the value means, such as `IMAGE`.
    #[prost(string, optional, tag = "6")]
    pub denotation: Option<String>,
}

/// Is one of the kinds of types.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum TypeValue {
    /// A dense tensor.
    #[prost(message, tag = "1")]
    TensorType(TensorType),
    /// A list of values of one type.
    #[prost(message, tag = "4")]
    SequenceType(Box<SequenceType>),
    /// A map.
    #[prost(message, tag = "5")]
    MapType(Box<MapType>),
    /// A type of another system.
    #[prost(message, tag = "7")]
    OpaqueType(OpaqueType),
    /// A sparse tensor.
    #[prost(message, tag = "8")]
    SparseTensorType(SparseTensorType),
    /// A value or nothing.
    #[prost(message, tag = "9")]
    OptionalType(Box<OptionalType>),
}

/// Describes a dense tensor.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TensorType {
    /// Element type: a [`super::DataType`].
    #[prost(int32, optional, tag = "1")]
    pub elem_type: Option<i32>,
    /// Shape; absent if even the rank is unknown.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Describes a list.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SequenceType {
    /// Type of each element.
    #[prost(message, optional, boxed, tag = "1")]
    pub elem_type: Option<Box<TypeProto>>,
}

/// Describes a map.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct MapType {
    /// Type of the keys, an integer or `String`: a [`super::DataType`].
    #[prost(int32, optional, tag = "1")]
    pub key_type: Option<i32>,
    /// Type of the values.
    #[prost(message, optional, boxed, tag = "2")]
    pub value_type: Option<Box<TypeProto>>,
}

/// Describes a value that may be absent.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct OptionalType {
    /// Type of the value.
    #[prost(message, optional, boxed, tag = "1")]
    pub elem_type: Option<Box<TypeProto>>,
}

/// Describes a sparse tensor.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SparseTensorType {
    /// Element type: a [`super::DataType`].
    #[prost(int32, optional, tag = "1")]
    pub elem_type: Option<i32>,
    /// Shape; absent if even the rank is unknown.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Names a type of another system.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct OpaqueType {
    /// Domain of the type.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// Its name there.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// Holds a shape of known rank.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct TensorShapeProto {
    /// The dimensions, outermost first.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// Holds one dimension.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Dimension {
    /// Its size; absent if unknown and unnamed.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
    /// What the dimension means, such as `DATA_BATCH`.
    #[prost(string, optional, tag = "3")]
    pub denotation: Option<String>,
}

/// Is the size of a dimension: a number or a symbol.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum DimensionValue {
    /// A number.
    #[prost(int64, tag = "1")]
    DimValue(i64),
    /// A symbol, the same size wherever it stands in the graph.
    #[prost(string, tag = "2")]
    DimParam(String),
}
