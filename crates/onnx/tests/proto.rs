//! The messages and the scan of their wire form.

use bytes::Bytes;
use proptest::prelude::*;
use prost::Message as _;
use tangram_onnx::file::{FileError, decode};
use tangram_onnx::proto::schema::{Field, Kind, Message};
use tangram_onnx::proto::*;

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn delimited(number: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(u64::from(number << 3 | 2), &mut out);
    varint(content.len() as u64, &mut out);
    out.extend(content);
    out
}

/// One field with the given integer in it, as the reference implementation writes it.
fn one_field(message: Message, field: &Field, value: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    let wire = match field.kind {
        Kind::Varint => {
            varint(value, &mut payload);
            0
        }
        Kind::Fixed64 => {
            payload.extend(value.to_le_bytes());
            1
        }
        Kind::Fixed32 => {
            payload.extend((value as u32).to_le_bytes());
            5
        }
        Kind::String => return delimited(field.number, "é".as_bytes()),
        Kind::Bytes => return delimited(field.number, &[0xff, 0]),
        Kind::Message(_) => return delimited(field.number, &[]),
    };
    if message == Message::Tensor && field.name.ends_with("_data") {
        return delimited(field.number, &payload);
    }
    let mut out = Vec::new();
    varint(u64::from(field.number << 3 | wire), &mut out);
    out.extend(payload);
    out
}

fn through(message: Message, bytes: &[u8]) -> Vec<u8> {
    macro_rules! table {
        ($($name:ident => $type:ty,)*) => {
            match message { $(Message::$name => <$type>::decode(bytes).unwrap().encode_to_vec(),)* }
        };
    }
    table! {
        Model => ModelProto, OperatorSetId => OperatorSetIdProto,
        StringStringEntry => StringStringEntryProto, TrainingInfo => TrainingInfoProto,
        DeviceConfiguration => DeviceConfigurationProto,
        NodeDeviceConfiguration => NodeDeviceConfigurationProto,
        ShardingSpec => ShardingSpecProto, IntIntListEntry => IntIntListEntryProto,
        ShardedDim => ShardedDimProto, SimpleShardedDim => SimpleShardedDimProto,
        Graph => GraphProto, Node => NodeProto, Attribute => AttributeProto,
        ValueInfo => ValueInfoProto, TensorAnnotation => TensorAnnotation,
        Function => FunctionProto, Tensor => TensorProto, Segment => Segment,
        SparseTensor => SparseTensorProto, Type => TypeProto, TensorType => TensorType,
        SequenceType => SequenceType, MapType => MapType, OptionalType => OptionalType,
        SparseTensorType => SparseTensorType, OpaqueType => OpaqueType,
        TensorShape => TensorShapeProto, Dimension => Dimension,
    }
}

#[test]
fn every_field_of_the_tables_survives() {
    for message in Message::ALL {
        for field in message.fields() {
            for value in [0, 5, i32::MAX as u64] {
                let bytes = one_field(message, field, value);
                let place = format!("{}.{}", message.name(), field.name);
                assert_eq!(through(message, &bytes), bytes, "{place}");
                assert_eq!(scan(&bytes, message), Ok(vec![]), "{place}");
            }
        }
        let unknown = delimited(27, b"new");
        assert_eq!(through(message, &unknown), b"", "{} has an unlisted field", message.name());
        let found = scan(&unknown, message).unwrap();
        assert_eq!((found[0].message, found[0].number, found[0].count), (message, 27, 1));
    }
}

#[test]
fn the_structures_have_no_field_beside_the_tables() {
    for message in Message::ALL {
        for number in (1..40).filter(|&number| message.field(number).is_none()) {
            assert_eq!(through(message, &delimited(number, &[])), b"", "{message:?} {number}");
        }
    }
}

/// A model with the given bytes in `graph.node[1].attribute[2]`.
fn around_attribute(bytes: &[u8]) -> Vec<u8> {
    let attributes = [delimited(5, &[]), delimited(5, &[]), delimited(5, bytes)].concat();
    delimited(7, &[delimited(1, &[]), delimited(1, &attributes)].concat())
}

#[test]
fn what_is_wrong_has_a_place() {
    let path = "graph.node[1].attribute[2]";
    let cases: [(&[u8], &str, &str); 8] = [
        (&[0x0a, 5, b'x'], ".name", "expected 5 more bytes of the message, found 1"),
        (&[0x0a, 1, 0xff], ".name", "a string is not UTF-8"),
        (&[0x08, 1], ".name", "expected the wire type of String, found 0"),
        (&[0x1a, 0], ".i", "expected the wire type of Varint, found 2"),
        (&[0x02], "", "0x2 is not the key of a field"),
        (&[0x0f], "", "0xf is not the key of a field"),
        (&[0xcc, 2], "", "a group ends that was not open"),
        (&[0x18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], ".i", "longer than 64 bits"),
    ];
    for (bytes, field, message) in cases {
        let error = decode(around_attribute(bytes).into()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(error.contains(&format!("({path}{field})")), "{error}");
    }
    let loaded = decode(around_attribute(&delimited(77, b"?")).into()).unwrap();
    let text = "unknown field 77 of AttributeProto, 1 times, first at byte 12 \
                (graph.node[1].attribute[2])";
    assert_eq!(loaded.unknown[0].to_string(), text);
}

/// Attributes with a graph with a node with an attribute, and so on: `depth` messages in the model.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for level in (0..depth).rev() {
        let number = if level == 0 { 7 } else { [6, 1, 5][level % 3] };
        bytes = delimited(number, &bytes);
    }
    bytes
}

#[test]
fn nesting_has_a_limit_and_never_overflows() {
    assert!(decode(nested(MAX_DEPTH).into()).is_ok());
    for depth in [MAX_DEPTH + 1, 3000] {
        match decode(nested(depth).into()) {
            Err(FileError::Malformed { source, .. }) => {
                assert_eq!(source.problem, Malformed::TooDeep);
            }
            other => panic!("{other:?}"),
        }
    }
    // Groups nest without a length, so that the whole depth costs two bytes a level.
    let groups = [0xab, 0x02].repeat(1_000_000);
    assert_eq!(scan(&groups, Message::Model).unwrap_err().problem, Malformed::TooDeep);
}

#[test]
fn weights_are_slices_of_the_input() {
    let raw = delimited(9, &[7; 1000]);
    let bytes = Bytes::from(delimited(7, &delimited(5, &raw)));
    let loaded = decode(bytes.clone()).unwrap();
    let weights = loaded.model.graph.unwrap().initializer.remove(0).raw_data.unwrap();
    assert!(bytes.as_ptr_range().contains(&weights.as_ptr()));
    assert_eq!(weights, vec![7; 1000]);
}

/// A model with most kinds of fields in it.
fn sample() -> Vec<u8> {
    let messages = |kind: Message, depth: u32| sample_of(kind, depth);
    messages(Message::Model, 7)
}

fn sample_of(message: Message, depth: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for field in message.fields() {
        match field.kind {
            // The members of a union would replace one another.
            _ if field.name == "dim_param" => {}
            Kind::Message(inner) if message == Message::Type && inner != Message::TensorType => {}
            Kind::Message(_) if depth == 0 => {}
            Kind::Message(inner) => {
                out.extend(delimited(field.number, &sample_of(inner, depth - 1)));
            }
            _ => out.extend(one_field(message, field, 300)),
        }
    }
    out
}

#[test]
fn a_model_with_every_field_survives() {
    let bytes = sample();
    assert!(bytes.len() > 5_000);
    let loaded = decode(bytes.clone().into()).unwrap();
    assert_eq!(loaded.unknown, []);
    assert!(loaded.model.encode_to_vec() == bytes);
    let mut streamed = Vec::new();
    tangram_onnx::file::encode(&loaded.model, &mut streamed).unwrap();
    assert!(streamed == bytes);
}

/// Names of the packed fields, whose inside the scan leaves to the decoder.
const PACKED: [&str; 10] = [
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "uint64_data",
    "dims",
    "ints",
    "floats",
    "device",
    "value",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The scan refuses nothing that the decoder takes, and leaves it only packed lists.
    #[test]
    fn damage_is_an_error_and_never_a_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = sample();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let scanned = scan(&bytes, Message::Model);
        match (scanned, ModelProto::decode(&bytes[..])) {
            (Err(error), Ok(_)) => prop_assert!(false, "only the scan refuses: {error}"),
            (Ok(_), Err(error)) => {
                let text = error.to_string();
                prop_assert!(PACKED.iter().any(|name| text.contains(name)), "{text}");
            }
            _ => {}
        }
        let _ = decode(bytes.into());
    }
}
