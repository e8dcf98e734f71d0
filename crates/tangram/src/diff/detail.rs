//! What differs between two nodes that their lines do not show.

use std::collections::BTreeMap;

use tangram_onnx::proto::{AttributeProto, NodeProto, encoded};

use super::node::{elements, shown};

/// The differences of two nodes whose lines may look alike: attributes that are too long to be
/// shown whole or have no text, and operands of which `other` says that they hold other elements.
pub(super) fn hidden(
    before: &NodeProto,
    after: &NodeProto,
    other: impl Fn(&str, &str) -> bool,
) -> Vec<String> {
    let named = |node: &NodeProto| -> BTreeMap<String, AttributeProto> {
        node.attribute.iter().map(|a| (a.name().to_owned(), a.clone())).collect()
    };
    let (old, new) = (named(before), named(after));
    let both = old.iter().filter_map(|(name, old)| Some((name, old, new.get(name)?)));
    let attributes = both.filter_map(|(name, old, new)| attribute(name, old, new));
    let places = before.input.iter().zip(&after.input).filter(|(x, y)| x == y && other(x, y));
    attributes.chain(places.map(|(name, _)| format!("{name}: other elements"))).collect()
}

/// Where two attributes differ whose texts are the same.
fn attribute(name: &str, old: &AttributeProto, new: &AttributeProto) -> Option<String> {
    if shown(old) != shown(new) || encoded(old) == encoded(new) {
        return None;
    }
    let (Some(x), Some(y)) = (elements(old), elements(new)) else {
        return Some(format!("{name}: other contents"));
    };
    match x.iter().zip(&y).position(|(x, y)| x != y) {
        Some(at) => Some(format!("{name}[{at}]: {} became {}", x[at], y[at])),
        None if x.len() == y.len() => Some(format!("{name}: other contents")),
        None => Some(format!("{name}: {} elements became {}", x.len(), y.len())),
    }
}
