//! The messages of the ONNX format, IR version 14, written by hand over `prost`.
//!
//! Every singular field is an `Option`, since presence is part of a proto2 message: what is decoded
//! is encoded again byte for byte (fields in the order of their numbers). Each optional scalar also
//! has an accessor of its name that gives the default value where the field is absent. Fields of
//! bytes are [`bytes::Bytes`]: decoded from a `Bytes` they are slices of it, never copies. Fields
//! of an enumeration hold the number itself, so that a value from a newer version survives.
//!
//! `prost` drops fields that it does not know. [`scan`] therefore walks the wire form first, by the
//! tables of [`schema`], and reports each kind of unknown field with the place of its first use.

pub(crate) mod fields;
mod graph;
mod model;
pub mod schema;
mod tensor;
mod types;
mod wire;

pub use graph::{
    AttributeProto, AttributeType, FunctionProto, GraphProto, NodeProto, TensorAnnotation,
    ValueInfoProto,
};
pub use model::{
    DeviceConfigurationProto, IntIntListEntryProto, ModelProto, NodeDeviceConfigurationProto,
    OperatorSetIdProto, ShardedDimProto, ShardingSpecProto, SimpleShardedDim,
    SimpleShardedDimProto, StringStringEntryProto, TrainingInfoProto,
};
pub use tensor::{DataLocation, DataType, Segment, SparseTensorProto, TensorProto};
pub use types::{
    Dimension, DimensionValue, MapType, OpaqueType, OptionalType, SequenceType, SparseTensorType,
    TensorShapeProto, TensorType, TypeProto, TypeValue,
};
pub use wire::{MAX_DEPTH, Malformed, UnknownField, WireError, WireLocation, scan};

/// The newest IR version whose fields are all known here.
pub const IR_VERSION: i64 = 14;

/// A message as a file holds it.
pub fn encoded(message: &impl prost::Message) -> Vec<u8> {
    message.encode_to_vec()
}
