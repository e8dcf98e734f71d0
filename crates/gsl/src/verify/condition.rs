//! A condition that tells good instances from bad ones.
//!
//! Each instance has features: the attributes of its calls, ranks, extents and element types. The
//! condition that is proposed is the first simple one (a feature equals a value, or two features
//! of one kind equal each other) that holds on all good instances and on no bad one.

use std::collections::{BTreeMap, BTreeSet};

use tangram_dialects::constant;

use super::instance::Instance;
use crate::ast::{PatternKind, Rule};
use crate::eval::{AttrValue, equal};
use crate::matching::{from_attr, show};

/// The features of an instance, by how they are written in a rule.
pub(super) type Features = BTreeMap<String, AttrValue>;

/// Fewer good instances than this say too little.
const ENOUGH: usize = 4;

/// Reads the features of an instance.
pub(super) fn features(rule: &Rule, instance: &Instance) -> Features {
    let module = &instance.module;
    let mut out = Features::new();
    for (id, value) in &instance.bound {
        let pattern = rule.pattern(*id);
        let Some(name) = &pattern.name else { continue };
        let ty = module.value_type(*value);
        if let Some((dtype, shape)) = constant::static_tensor(module.context(), ty) {
            out.insert(format!("{name}.dtype"), dtype.name().into());
            out.insert(format!("{name}.ndim"), AttrValue::Int(shape.len() as i64));
            for (i, &n) in shape.iter().enumerate() {
                out.insert(format!("{name}.shape[{i}]"), AttrValue::Int(n as i64));
            }
            let shape = shape.iter().map(|&n| AttrValue::Int(n as i64)).collect();
            out.insert(format!("{name}.shape"), AttrValue::Tuple(shape));
        }
        let PatternKind::Call { .. } = &pattern.kind else { continue };
        let Some(op) = module.def_op(*value) else { continue };
        let Some(def) = module.context().def(module.name(op)) else { continue };
        for attr in def.attrs {
            let found = module.attr(op, attr.name).and_then(|attr| from_attr(module, attr));
            out.extend(found.map(|found| (format!("{name}.{}", attr.name), found)));
        }
    }
    out
}

/// Proposes a condition that holds on all of `good` and on none of `bad`.
pub(super) fn separate(good: &[Features], bad: &[Features]) -> Option<String> {
    if good.len() < ENOUGH || bad.is_empty() {
        return None;
    }
    let names: BTreeSet<&String> = good.iter().flat_map(Features::keys).collect();
    let names: Vec<&String> = names.into_iter().collect();
    equals_constant(&names, good, bad).or_else(|| equals_feature(&names, good, bad))
}

fn same(a: Option<&AttrValue>, b: Option<&AttrValue>) -> bool {
    a.zip(b).is_some_and(|(a, b)| equal(a, b) == Ok(true))
}

/// A feature that equals a value. An attribute may be absent on good instances: then it has its
/// default there.
fn equals_constant(names: &[&String], good: &[Features], bad: &[Features]) -> Option<String> {
    names.iter().find_map(|name| {
        let present: Vec<&AttrValue> = good.iter().filter_map(|f| f.get(*name)).collect();
        let value = *present.first()?;
        let on_good = present.iter().all(|found| same(Some(*found), Some(value)));
        let on_bad = bad.iter().any(|features| same(features.get(*name), Some(value)));
        let tells = present.len() >= ENOUGH && on_good && !on_bad;
        tells.then(|| format!("{name} == {}", show(value)))
    })
}

fn equals_feature(names: &[&String], good: &[Features], bad: &[Features]) -> Option<String> {
    for (i, left) in names.iter().enumerate() {
        for right in &names[i + 1..] {
            let holds = |f: &Features| same(f.get(*left), f.get(*right));
            if good.iter().all(holds) && !bad.iter().any(holds) {
                return Some(format!("{left} == {right}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(groups: i64, a: i64, b: i64) -> Features {
        let entries = [("c.groups", groups), ("x.shape[0]", a), ("y.shape[1]", b)];
        entries.into_iter().map(|(name, n)| (name.to_owned(), AttrValue::Int(n))).collect()
    }

    #[test]
    fn the_condition_tells_good_from_bad() {
        let good: Vec<Features> = (1..6).map(|n| features(1, n, n + 1)).collect();
        let bad = [features(2, 1, 1), features(3, 2, 5)];
        assert_eq!(separate(&good, &bad).as_deref(), Some("c.groups == 1"));
        let good: Vec<Features> = (1..6).map(|n| features(n, n + 2, n + 2)).collect();
        let bad = [features(2, 1, 3), features(3, 2, 5)];
        assert_eq!(separate(&good, &bad).as_deref(), Some("x.shape[0] == y.shape[1]"));
        assert_eq!(separate(&good, &[features(2, 3, 3)]), None);
        assert_eq!(separate(&good[..2], &bad), None);
    }
}
