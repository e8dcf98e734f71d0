//! The format as tables: the fields of each message, by number.
//!
//! The tables serve the scan of the wire form; the tests hold them against the message structures
//! and, where the Python package is there, against its descriptors.

/// Names a message of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each variant is the message of that name")]
pub enum Message {
    Model,
    OperatorSetId,
    StringStringEntry,
    TrainingInfo,
    DeviceConfiguration,
    NodeDeviceConfiguration,
    ShardingSpec,
    IntIntListEntry,
    ShardedDim,
    SimpleShardedDim,
    Graph,
    Node,
    Attribute,
    ValueInfo,
    TensorAnnotation,
    Function,
    Tensor,
    Segment,
    SparseTensor,
    Type,
    TensorType,
    SequenceType,
    MapType,
    OptionalType,
    SparseTensorType,
    OpaqueType,
    TensorShape,
    Dimension,
}

/// Is the form of a field's value on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of variable length.
    Varint,
    /// Four bytes.
    Fixed32,
    /// Eight bytes.
    Fixed64,
    /// UTF-8 with a length.
    String,
    /// Bytes with a length.
    Bytes,
    /// A message with a length.
    Message(Message),
}

/// Describes one field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// The form of its value.
    pub kind: Kind,
    /// Whether it may stand more than once.
    pub repeated: bool,
}

/// The largest field number in use.
pub const MAX_NUMBER: u32 = 26;

const fn one(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, repeated: false }
}

const fn many(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, repeated: true }
}

impl Message {
    /// Every message, the model first.
    pub const ALL: [Self; 28] = {
        use Message::*;
        [
            Model,
            OperatorSetId,
            StringStringEntry,
            TrainingInfo,
            DeviceConfiguration,
            NodeDeviceConfiguration,
            ShardingSpec,
            IntIntListEntry,
            ShardedDim,
            SimpleShardedDim,
            Graph,
            Node,
            Attribute,
            ValueInfo,
            TensorAnnotation,
            Function,
            Tensor,
            Segment,
            SparseTensor,
            Type,
            TensorType,
            SequenceType,
            MapType,
            OptionalType,
            SparseTensorType,
            OpaqueType,
            TensorShape,
            Dimension,
        ]
    };

    /// The name that the format gives the message, with the message around it first.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "ModelProto",
            Self::OperatorSetId => "OperatorSetIdProto",
            Self::StringStringEntry => "StringStringEntryProto",
            Self::TrainingInfo => "TrainingInfoProto",
            Self::DeviceConfiguration => "DeviceConfigurationProto",
            Self::NodeDeviceConfiguration => "NodeDeviceConfigurationProto",
            Self::ShardingSpec => "ShardingSpecProto",
            Self::IntIntListEntry => "IntIntListEntryProto",
            Self::ShardedDim => "ShardedDimProto",
            Self::SimpleShardedDim => "SimpleShardedDimProto",
            Self::Graph => "GraphProto",
            Self::Node => "NodeProto",
            Self::Attribute => "AttributeProto",
            Self::ValueInfo => "ValueInfoProto",
            Self::TensorAnnotation => "TensorAnnotation",
            Self::Function => "FunctionProto",
            Self::Tensor => "TensorProto",
            Self::Segment => "TensorProto.Segment",
            Self::SparseTensor => "SparseTensorProto",
            Self::Type => "TypeProto",
            Self::TensorType => "TypeProto.Tensor",
            Self::SequenceType => "TypeProto.Sequence",
            Self::MapType => "TypeProto.Map",
            Self::OptionalType => "TypeProto.Optional",
            Self::SparseTensorType => "TypeProto.SparseTensor",
            Self::OpaqueType => "TypeProto.Opaque",
            Self::TensorShape => "TensorShapeProto",
            Self::Dimension => "TensorShapeProto.Dimension",
        }
    }

    /// The field of that number, if the format has one.
    pub fn field(self, number: u32) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.number == number)
    }

    /// The fields of the message, in the order of their numbers.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Model => MODEL,
            Self::OperatorSetId => OPERATOR_SET_ID,
            Self::StringStringEntry => STRING_STRING_ENTRY,
            Self::TrainingInfo => TRAINING_INFO,
            Self::DeviceConfiguration => DEVICE_CONFIGURATION,
            Self::NodeDeviceConfiguration => NODE_DEVICE_CONFIGURATION,
            Self::ShardingSpec => SHARDING_SPEC,
            Self::IntIntListEntry => INT_INT_LIST_ENTRY,
            Self::ShardedDim => SHARDED_DIM,
            Self::SimpleShardedDim => SIMPLE_SHARDED_DIM,
            Self::Graph => GRAPH,
            Self::Node => NODE,
            Self::Attribute => ATTRIBUTE,
            Self::ValueInfo => VALUE_INFO,
            Self::TensorAnnotation => TENSOR_ANNOTATION,
            Self::Function => FUNCTION,
            Self::Tensor => TENSOR,
            Self::Segment => SEGMENT,
            Self::SparseTensor => SPARSE_TENSOR,
            Self::Type => TYPE,
            Self::TensorType | Self::SparseTensorType => TENSOR_TYPE,
            Self::SequenceType | Self::OptionalType => ELEMENT_TYPE,
            Self::MapType => MAP_TYPE,
            Self::OpaqueType => OPAQUE_TYPE,
            Self::TensorShape => TENSOR_SHAPE,
            Self::Dimension => DIMENSION,
        }
    }
}

const METADATA: Kind = Kind::Message(Message::StringStringEntry);

const MODEL: &[Field] = &[
    one(1, "ir_version", Kind::Varint),
    one(2, "producer_name", Kind::String),
    one(3, "producer_version", Kind::String),
    one(4, "domain", Kind::String),
    one(5, "model_version", Kind::Varint),
    one(6, "doc_string", Kind::String),
    one(7, "graph", Kind::Message(Message::Graph)),
    many(8, "opset_import", Kind::Message(Message::OperatorSetId)),
    many(14, "metadata_props", METADATA),
    many(20, "training_info", Kind::Message(Message::TrainingInfo)),
    many(25, "functions", Kind::Message(Message::Function)),
    many(26, "configuration", Kind::Message(Message::DeviceConfiguration)),
];

const OPERATOR_SET_ID: &[Field] =
    &[one(1, "domain", Kind::String), one(2, "version", Kind::Varint)];

const STRING_STRING_ENTRY: &[Field] = &[one(1, "key", Kind::String), one(2, "value", Kind::String)];

const TRAINING_INFO: &[Field] = &[
    one(1, "initialization", Kind::Message(Message::Graph)),
    one(2, "algorithm", Kind::Message(Message::Graph)),
    many(3, "initialization_binding", METADATA),
    many(4, "update_binding", METADATA),
];

const DEVICE_CONFIGURATION: &[Field] = &[
    one(1, "name", Kind::String),
    one(2, "num_devices", Kind::Varint),
    many(3, "device", Kind::String),
];

const NODE_DEVICE_CONFIGURATION: &[Field] = &[
    one(1, "configuration_id", Kind::String),
    many(2, "sharding_spec", Kind::Message(Message::ShardingSpec)),
    one(3, "pipeline_stage", Kind::Varint),
];

const SHARDING_SPEC: &[Field] = &[
    one(1, "tensor_name", Kind::String),
    many(2, "device", Kind::Varint),
    many(3, "index_to_device_group_map", Kind::Message(Message::IntIntListEntry)),
    many(4, "sharded_dim", Kind::Message(Message::ShardedDim)),
];

const INT_INT_LIST_ENTRY: &[Field] = &[one(1, "key", Kind::Varint), many(2, "value", Kind::Varint)];

const SHARDED_DIM: &[Field] = &[
    one(1, "axis", Kind::Varint),
    many(2, "simple_sharding", Kind::Message(Message::SimpleShardedDim)),
];

const SIMPLE_SHARDED_DIM: &[Field] = &[
    one(1, "dim_value", Kind::Varint),
    one(2, "dim_param", Kind::String),
    one(3, "num_shards", Kind::Varint),
];

const GRAPH: &[Field] = &[
    many(1, "node", Kind::Message(Message::Node)),
    one(2, "name", Kind::String),
    many(5, "initializer", Kind::Message(Message::Tensor)),
    one(10, "doc_string", Kind::String),
    many(11, "input", Kind::Message(Message::ValueInfo)),
    many(12, "output", Kind::Message(Message::ValueInfo)),
    many(13, "value_info", Kind::Message(Message::ValueInfo)),
    many(14, "quantization_annotation", Kind::Message(Message::TensorAnnotation)),
    many(15, "sparse_initializer", Kind::Message(Message::SparseTensor)),
    many(16, "metadata_props", METADATA),
];

const NODE: &[Field] = &[
    many(1, "input", Kind::String),
    many(2, "output", Kind::String),
    one(3, "name", Kind::String),
    one(4, "op_type", Kind::String),
    many(5, "attribute", Kind::Message(Message::Attribute)),
    one(6, "doc_string", Kind::String),
    one(7, "domain", Kind::String),
    one(8, "overload", Kind::String),
    many(9, "metadata_props", METADATA),
    many(10, "device_configurations", Kind::Message(Message::NodeDeviceConfiguration)),
];

const ATTRIBUTE: &[Field] = &[
    one(1, "name", Kind::String),
    one(2, "f", Kind::Fixed32),
    one(3, "i", Kind::Varint),
    one(4, "s", Kind::Bytes),
    one(5, "t", Kind::Message(Message::Tensor)),
    one(6, "g", Kind::Message(Message::Graph)),
    many(7, "floats", Kind::Fixed32),
    many(8, "ints", Kind::Varint),
    many(9, "strings", Kind::Bytes),
    many(10, "tensors", Kind::Message(Message::Tensor)),
    many(11, "graphs", Kind::Message(Message::Graph)),
    one(13, "doc_string", Kind::String),
    one(14, "tp", Kind::Message(Message::Type)),
    many(15, "type_protos", Kind::Message(Message::Type)),
    one(20, "type", Kind::Varint),
    one(21, "ref_attr_name", Kind::String),
    one(22, "sparse_tensor", Kind::Message(Message::SparseTensor)),
    many(23, "sparse_tensors", Kind::Message(Message::SparseTensor)),
];

const VALUE_INFO: &[Field] = &[
    one(1, "name", Kind::String),
    one(2, "type", Kind::Message(Message::Type)),
    one(3, "doc_string", Kind::String),
    many(4, "metadata_props", METADATA),
];

const TENSOR_ANNOTATION: &[Field] =
    &[one(1, "tensor_name", Kind::String), many(2, "quant_parameter_tensor_names", METADATA)];

const FUNCTION: &[Field] = &[
    one(1, "name", Kind::String),
    many(4, "input", Kind::String),
    many(5, "output", Kind::String),
    many(6, "attribute", Kind::String),
    many(7, "node", Kind::Message(Message::Node)),
    one(8, "doc_string", Kind::String),
    many(9, "opset_import", Kind::Message(Message::OperatorSetId)),
    one(10, "domain", Kind::String),
    many(11, "attribute_proto", Kind::Message(Message::Attribute)),
    many(12, "value_info", Kind::Message(Message::ValueInfo)),
    one(13, "overload", Kind::String),
    many(14, "metadata_props", METADATA),
];

const TENSOR: &[Field] = &[
    many(1, "dims", Kind::Varint),
    one(2, "data_type", Kind::Varint),
    one(3, "segment", Kind::Message(Message::Segment)),
    many(4, "float_data", Kind::Fixed32),
    many(5, "int32_data", Kind::Varint),
    many(6, "string_data", Kind::Bytes),
    many(7, "int64_data", Kind::Varint),
    one(8, "name", Kind::String),
    one(9, "raw_data", Kind::Bytes),
    many(10, "double_data", Kind::Fixed64),
    many(11, "uint64_data", Kind::Varint),
    one(12, "doc_string", Kind::String),
    many(13, "external_data", METADATA),
    one(14, "data_location", Kind::Varint),
    many(16, "metadata_props", METADATA),
];

const SEGMENT: &[Field] = &[one(1, "begin", Kind::Varint), one(2, "end", Kind::Varint)];

const SPARSE_TENSOR: &[Field] = &[
    one(1, "values", Kind::Message(Message::Tensor)),
    one(2, "indices", Kind::Message(Message::Tensor)),
    many(3, "dims", Kind::Varint),
];

const TYPE: &[Field] = &[
    one(1, "tensor_type", Kind::Message(Message::TensorType)),
    one(4, "sequence_type", Kind::Message(Message::SequenceType)),
    one(5, "map_type", Kind::Message(Message::MapType)),
    one(6, "denotation", Kind::String),
    one(7, "opaque_type", Kind::Message(Message::OpaqueType)),
    one(8, "sparse_tensor_type", Kind::Message(Message::SparseTensorType)),
    one(9, "optional_type", Kind::Message(Message::OptionalType)),
];

const TENSOR_TYPE: &[Field] =
    &[one(1, "elem_type", Kind::Varint), one(2, "shape", Kind::Message(Message::TensorShape))];

const ELEMENT_TYPE: &[Field] = &[one(1, "elem_type", Kind::Message(Message::Type))];

const MAP_TYPE: &[Field] =
    &[one(1, "key_type", Kind::Varint), one(2, "value_type", Kind::Message(Message::Type))];

const OPAQUE_TYPE: &[Field] = &[one(1, "domain", Kind::String), one(2, "name", Kind::String)];

const TENSOR_SHAPE: &[Field] = &[many(1, "dim", Kind::Message(Message::Dimension))];

const DIMENSION: &[Field] = &[
    one(1, "dim_value", Kind::Varint),
    one(2, "dim_param", Kind::String),
    one(3, "denotation", Kind::String),
];
