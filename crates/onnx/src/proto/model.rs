//! The model, its operator sets, training information and device configurations.

use prost::{Message, Oneof};

use super::{FunctionProto, GraphProto};

/// Holds a whole model: a graph, the operator sets it uses, and its local functions.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format itself; decides which fields may be present.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// Name of the program that wrote the model.
    #[prost(string, optional, tag = "2")]
    pub producer_name: Option<String>,
    /// Version of the program that wrote the model.
    #[prost(string, optional, tag = "3")]
    pub producer_version: Option<String>,
    /// Name space of the model, in reverse order of host names.
    #[prost(string, optional, tag = "4")]
    pub domain: Option<String>,
    /// Version of the graph, numbered by its owner.
    #[prost(int64, optional, tag = "5")]
    pub model_version: Option<i64>,
    /// Description in Markdown.
    #[prost(string, optional, tag = "6")]
    pub doc_string: Option<String>,
    /// The graph that is run.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// The operator sets that the nodes refer to, one per domain.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Free key and value pairs.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Training algorithms, each with its own graphs.
    #[prost(message, repeated, tag = "20")]
    pub training_info: Vec<TrainingInfoProto>,
    /// Functions local to the model.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
    /// The device configurations that nodes refer to (IR version 11).
    #[prost(message, repeated, tag = "26")]
    pub configuration: Vec<DeviceConfigurationProto>,
}

/// Names an operator set: a domain and its version.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct OperatorSetIdProto {
    /// Domain; empty or absent for the standard operators.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// Version of the set.
    #[prost(int64, optional, tag = "2")]
    pub version: Option<i64>,
}

/// Holds one pair of strings.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct StringStringEntryProto {
    /// The key.
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    /// The value.
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// Holds how a model is trained: graphs that initialise and that step, and what they assign.
#[derive(Clone, PartialEq, Message)]
pub struct TrainingInfoProto {
    /// Computes the first values of the trained state.
    #[prost(message, optional, tag = "1")]
    pub initialization: Option<GraphProto>,
    /// Computes one training step.
    #[prost(message, optional, tag = "2")]
    pub algorithm: Option<GraphProto>,
    /// From initialisers to the outputs of `initialization` that set them.
    #[prost(message, repeated, tag = "3")]
    pub initialization_binding: Vec<StringStringEntryProto>,
    /// From initialisers to the outputs of `algorithm` that update them.
    #[prost(message, repeated, tag = "4")]
    pub update_binding: Vec<StringStringEntryProto>,
}

/// Describes one set of devices that a model may be spread over.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct DeviceConfigurationProto {
    /// Name that nodes refer to.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// How many devices.
    #[prost(int32, optional, tag = "2")]
    pub num_devices: Option<i32>,
    /// Names of the devices; empty or one for each.
    #[prost(string, repeated, tag = "3")]
    pub device: Vec<String>,
}

/// Says how one node runs under a device configuration.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct NodeDeviceConfigurationProto {
    /// Name of the [`DeviceConfigurationProto`].
    #[prost(string, optional, tag = "1")]
    pub configuration_id: Option<String>,
    /// Sharding of the inputs and outputs of the node.
    #[prost(message, repeated, tag = "2")]
    pub sharding_spec: Vec<ShardingSpecProto>,
    /// Stage of the pipeline that the node belongs to.
    #[prost(int32, optional, tag = "3")]
    pub pipeline_stage: Option<i32>,
}

/// Says how one tensor is spread over devices.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ShardingSpecProto {
    /// Name of an input or output of the node.
    #[prost(string, optional, tag = "1")]
    pub tensor_name: Option<String>,
    /// Devices, or keys of `index_to_device_group_map`.
    #[prost(int64, repeated, packed = "false", tag = "2")]
    pub device: Vec<i64>,
    /// Groups of devices that hold the same part.
    #[prost(message, repeated, tag = "3")]
    pub index_to_device_group_map: Vec<IntIntListEntryProto>,
    /// The dimensions that are cut.
    #[prost(message, repeated, tag = "4")]
    pub sharded_dim: Vec<ShardedDimProto>,
}

/// Holds one pair of an integer and a list of integers.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct IntIntListEntryProto {
    /// The key.
    #[prost(int64, optional, tag = "1")]
    pub key: Option<i64>,
    /// The values.
    #[prost(int64, repeated, packed = "false", tag = "2")]
    pub value: Vec<i64>,
}

/// Says how one dimension is cut.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ShardedDimProto {
    /// The dimension; negative numbers count from the last.
    #[prost(int64, optional, tag = "1")]
    pub axis: Option<i64>,
    /// The cuts; more than one where a dimension is a product of others.
    #[prost(message, repeated, tag = "2")]
    pub simple_sharding: Vec<SimpleShardedDimProto>,
}

/// Says how many shards a dimension of a given size has.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SimpleShardedDimProto {
    /// Size of the dimension.
    #[prost(oneof = "SimpleShardedDim", tags = "1, 2")]
    pub dim: Option<SimpleShardedDim>,
    /// How many shards.
    #[prost(int64, optional, tag = "3")]
    pub num_shards: Option<i64>,
}

/// Is the size of a sharded dimension: a number or a symbol.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum SimpleShardedDim {
    /// A number.
    #[prost(int64, tag = "1")]
    DimValue(i64),
    /// A symbol.
    #[prost(string, tag = "2")]
    DimParam(String),
}
