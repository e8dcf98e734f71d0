//! What a model file holds beside its graph, found without building the graph.
//!
//! One pass over the wire form that looks at tensors only: nodes are stepped through for tensors
//! in their attributes, strings and payloads are skipped. A tenth of the cost of decoding.

use std::path::Path;

use super::FileError;
use super::load::read;
use crate::proto::fields::{Fields, Payload};

/// How much of a model file is weights, and which files hold more.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of weights in the file, which stay in the map.
    pub raw: u64,
    /// Bytes of weights in the file in typed fields, which are decoded.
    pub typed: u64,
    /// The locations of external data as they are written, once each.
    pub locations: Vec<String>,
}

/// Messages on the way to tensors, by the numbers of their fields.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Sparse,
    Tensor,
}

impl Message {
    /// The message in a field, if it may hold tensors.
    fn inner(self, number: u32) -> Option<Message> {
        match (self, number) {
            (Message::Model, 7) | (Message::Attribute, 6 | 11) => Some(Message::Graph),
            (Message::Graph, 1) => Some(Message::Node),
            (Message::Node, 5) => Some(Message::Attribute),
            (Message::Graph, 15) | (Message::Attribute, 22 | 23) => Some(Message::Sparse),
            (Message::Graph, 5) | (Message::Attribute, 5 | 10) | (Message::Sparse, 1 | 2) => {
                Some(Message::Tensor)
            }
            _ => None,
        }
    }
}

/// The outline of the model file at `path`; none if it is no model, which opening it explains.
///
/// # Errors
/// [`FileError::Io`]: the file cannot be read.
pub fn outline(path: &Path) -> Result<Option<Outline>, FileError> {
    Ok(of(&read(path)?))
}

fn of(bytes: &[u8]) -> Option<Outline> {
    let mut found = Outline { bytes: bytes.len() as u64, ..Outline::default() };
    let mut open = vec![(Message::Model, bytes)];
    let mut graph = false;
    while let Some((message, bytes)) = open.pop() {
        for field in Fields::of(bytes) {
            let (number, payload) = field?;
            let Payload::Bytes(inside) = payload else { continue };
            if let Some(inner) = message.inner(number) {
                graph |= matches!(message, Message::Model);
                open.push((inner, inside));
            } else if matches!(message, Message::Tensor) {
                found.tensor(number, inside)?;
            }
        }
    }
    graph.then_some(found)
}

impl Outline {
    /// Takes a field of a tensor into account.
    fn tensor(&mut self, number: u32, inside: &[u8]) -> Option<()> {
        match number {
            9 => self.raw += inside.len() as u64,
            4 | 5 | 7 | 10 | 11 => self.typed += inside.len() as u64,
            13 => {
                let (mut key, mut value) = (&[][..], &[][..]);
                for field in Fields::of(inside) {
                    match field? {
                        (1, Payload::Bytes(text)) => key = text,
                        (2, Payload::Bytes(text)) => value = text,
                        _ => {}
                    }
                }
                if key == b"location" {
                    let location = std::str::from_utf8(value).ok()?;
                    if self.locations.last().is_none_or(|last| last != location) {
                        self.locations.push(location.to_owned());
                    }
                }
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};
    use crate::proto::{SparseTensorProto, StringStringEntryProto};
    use bytes::Bytes;
    use prost::Message as _;

    fn raw(length: usize) -> TensorProto {
        TensorProto { raw_data: Some(Bytes::from(vec![1; length])), ..TensorProto::default() }
    }

    fn beside(name: &str) -> TensorProto {
        let entry = |key: &str, value: &str| StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value.to_owned()),
        };
        let external_data = vec![entry("offset", "location"), entry("location", name)];
        TensorProto { external_data, ..TensorProto::default() }
    }

    fn model(graph: GraphProto) -> Vec<u8> {
        ModelProto { graph: Some(graph), ..ModelProto::default() }.encode_to_vec()
    }

    #[test]
    fn tensors_are_found_wherever_they_are() {
        let typed = TensorProto { float_data: vec![0.5; 3], ..TensorProto::default() };
        let body = GraphProto { initializer: vec![raw(5), beside("c")], ..GraphProto::default() };
        let sparse = SparseTensorProto { values: Some(raw(7)), ..SparseTensorProto::default() };
        let attributes = vec![
            AttributeProto { t: Some(Box::new(raw(100))), ..AttributeProto::default() },
            AttributeProto { tensors: vec![raw(10), raw(20)], ..AttributeProto::default() },
            AttributeProto { g: Some(Box::new(body.clone())), ..AttributeProto::default() },
            AttributeProto { graphs: vec![body], ..AttributeProto::default() },
            AttributeProto { s: Some(Bytes::from_static(b"text")), ..AttributeProto::default() },
        ];
        let node = NodeProto { attribute: attributes, ..NodeProto::default() };
        let bytes = model(GraphProto {
            node: vec![node],
            initializer: vec![raw(1000), typed, beside("a"), beside("a"), beside("b")],
            sparse_initializer: vec![sparse],
            ..GraphProto::default()
        });
        let mut found = of(&bytes).expect("a model");
        found.locations.sort();
        found.locations.dedup();
        assert_eq!((found.bytes, found.raw, found.typed), (bytes.len() as u64, 1147, 12));
        assert_eq!(found.locations, ["a", "b", "c"]);
    }

    #[test]
    fn what_is_no_model_has_no_outline() {
        let bytes = model(GraphProto { initializer: vec![raw(9)], ..GraphProto::default() });
        assert!(of(&bytes).is_some());
        assert_eq!(of(&ModelProto::default().encode_to_vec()), None);
        for cut in 1..bytes.len() {
            assert_eq!(of(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(of(b"this is no model"), None);
    }
}
