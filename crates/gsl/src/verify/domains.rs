//! Which values the attributes of an operation take in the instances of verification.
//!
//! Nothing is listed by hand: what a definition declares is read from it, and the values are those
//! of instances that were made as for any rule.
//!
//! ```text
//! cumsum(x0)  { axis = -1, exclusive = true }     axis: -4, ..., 5   exclusive: false, true
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tangram_dialects::nn;
use tangram_ir::{Arity, AttrDef, AttrKind, Context, OpDef};

use super::{Effort, Instance, Sampler, compile, trial};
use crate::eval::AttrValue;
use crate::matching::{from_attr, show};
use crate::rules::Natives;
use crate::text;

/// An operation, and what its instances were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The operation.
    pub operation: &'static str,
    /// How many programs with it were made.
    pub made: usize,
    /// How many of them could be evaluated. Where none can, every rule with the operation is
    /// unknown.
    pub evaluated: usize,
    /// Its attributes.
    pub attributes: Vec<Domain>,
}

/// An attribute of an operation, and what it was in instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The attribute.
    pub attribute: &'static str,
    /// What its definition declares.
    pub kind: AttrKind,
    /// Whether it may be absent, and was.
    pub absent: bool,
    /// The values, as rules write them; the members of lists.
    pub values: BTreeSet<String>,
    /// The lengths of lists.
    pub lengths: BTreeSet<usize>,
    /// In how many instances it was there.
    pub instances: usize,
}

impl Domain {
    fn new(attr: &AttrDef) -> Domain {
        Domain {
            attribute: attr.name,
            kind: attr.kind,
            absent: false,
            values: BTreeSet::new(),
            lengths: BTreeSet::new(),
            instances: 0,
        }
    }

    fn note(&mut self, value: Option<&AttrValue>) {
        match value {
            None => self.absent = true,
            Some(AttrValue::Tuple(fields)) => {
                self.instances += 1;
                self.lengths.insert(fields.len());
                self.values.extend(fields.iter().map(show));
            }
            Some(value) => {
                self.instances += 1;
                self.values.insert(show(value));
            }
        }
    }
}

/// The operations of the nn dialect that have a kernel, in the order of their definitions, with
/// their attributes as `effort.attempts` instances of each operation by itself have them.
///
/// `wanted`: names without the dialect; all operations if there are none.
pub fn domains(
    context: &Arc<Context>,
    natives: &Arc<Natives>,
    effort: &Effort,
    wanted: &[&str],
) -> Vec<Space> {
    let is_wanted = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|w| name.strip_prefix("nn.") == Some(w))
    };
    nn::ops()
        .filter(|op| op.eval.is_some() && is_wanted(op.def.name))
        .map(|op| of_operation(&op.def, context, natives, effort))
        .collect()
}

fn of_operation(
    def: &'static OpDef,
    context: &Arc<Context>,
    natives: &Arc<Natives>,
    effort: &Effort,
) -> Space {
    let attributes_of_def = def.attrs.iter().map(Domain::new).collect();
    let mut out =
        Space { operation: def.name, made: 0, evaluated: 0, attributes: attributes_of_def };
    let rule = text::parse(&alone(def)).ok().and_then(|mut rules| rules.pop());
    let compiled = rule.and_then(|rule| compile(&rule, context, natives).ok());
    let Some(compiled) = compiled else { return out };
    let mut sampler = Sampler::new(&compiled, natives, effort);
    let mut numbers = fastrand::Rng::with_seed(effort.seed);
    while let Some(made) = sampler.next(context) {
        let Some(made) = made else { continue };
        out.made += 1;
        out.evaluated += usize::from(trial::is_evaluated(&made, &mut numbers));
        for values in attributes(def, &made) {
            for domain in &mut out.attributes {
                domain.note(values.get(domain.attribute));
            }
        }
    }
    out
}

/// A rule whose source is the operation with the operands that it has to have, and with those that
/// stand before one of them.
fn alone(def: &OpDef) -> String {
    let operand = |arity: Arity| match arity {
        Arity::One | Arity::Optional => 1,
        Arity::Variadic => 2,
    };
    let needed = def.operands.iter().rposition(|operand| operand.arity != Arity::Optional);
    let needed = &def.operands[..needed.map_or(0, |last| last + 1)];
    let count: usize = needed.iter().map(|operand_def| operand(operand_def.arity)).sum();
    let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
    let inputs: String = names.iter().map(|name| format!("let {name} = *; ")).collect();
    let result = if def.results.len() > 1 { "[0]" } else { "" };
    let call = format!("{}({})", def.name, names.join(", "));
    format!(
        "rule alone {{ {inputs}let e = {call}; match e{result}; rewrite {call} {{ ..e }}{result}; }}"
    )
}

/// The attributes of each operation of the name in an instance.
fn attributes<'a>(
    def: &'a OpDef,
    made: &'a Instance,
) -> impl Iterator<Item = BTreeMap<&'static str, AttrValue>> + 'a {
    let module = &made.module;
    let named = move |&op: &_| module.name_text(op) == def.name;
    module.ops(module.body()).filter(named).map(move |op| {
        let value = |attr: &AttrDef| {
            let found = module.attr(op, attr.name)?;
            Some((attr.name, from_attr(module, found)?))
        };
        def.attrs.iter().filter_map(value).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_definition_declares_is_tried() {
        let (context, natives) = (tangram_dialects::context(), Arc::default());
        let effort = Effort { attempts: 400, ..Effort::default() };
        let found = domains(&context, &natives, &effort, &["resize", "lstm", "quantize", "cast"]);
        let of = |operation: &str, attribute: &str| {
            let space = found.iter().find(|space| space.operation == operation);
            let mut all = space.into_iter().flat_map(|space| &space.attributes);
            all.find(|domain| domain.attribute == attribute)
                .unwrap_or_else(|| panic!("{operation} {attribute}"))
        };
        for domain in found.iter().flat_map(|space| &space.attributes) {
            let AttrKind::Enum(names) = domain.kind else { continue };
            assert_eq!(domain.values.len(), names.len(), "{domain:?}");
        }
        // Both to less and to more; in both directions; a scale for each block.
        assert!(of("nn.resize", "scales").values.contains("0.5"));
        assert!(of("nn.resize", "scales").values.contains("2.0"));
        assert!(of("nn.resize", "sizes").absent);
        assert!(of("nn.lstm", "activations").lengths.contains(&6));
        assert!(of("nn.quantize", "block_size").values.contains("2"));
        assert!(of("nn.cast", "dtype").values.contains("\"float8_e8m0fnu\""));
    }

    /// Operations of which no instance is evaluated, so that no rule with them is said to hold,
    /// and why.
    const WITHOUT: &[(&str, &str)] = &[
        (
            "nn.deform_conv",
            "offsets as many as a window has places, and an attribute says how many",
        ),
        ("nn.roi_pool", "regions begin with the place of an image in the batch"),
        ("nn.stft", "a step, and a length or a window"),
        ("nn.string_concat", "texts"),
        ("nn.string_split", "texts"),
        ("nn.string_normalizer", "texts"),
        ("nn.regex_full_match", "texts"),
        ("nn.tf_idf_vectorizer", "texts or tokens that attributes list"),
        ("nn.contrib_embed_layer_norm", "tokens that tables have"),
        ("nn.contrib_rotary_embedding", "positions that tables have"),
        ("nn.contrib_attention", "heads that divide extents of joined weights"),
        ("nn.contrib_multi_head_attention", "heads that divide extents"),
        ("nn.contrib_group_query_attention", "heads that divide extents, and a cache"),
        ("nn.contrib_matmul_nbits", "packed weights"),
        ("nn.contrib_dynamic_quantize_lstm", "quantised weights behind eight optional operands"),
        ("nn.contrib_qlinear_concat", "operands by threes"),
        ("nn.ml_category_mapper", "texts"),
        ("nn.ml_tree_ensemble_classifier", "a tree in lists of one length"),
        ("nn.ml_tree_ensemble_regressor", "a tree in lists of one length"),
        ("nn.ml_tree_ensemble", "a tree in lists of one length"),
    ];

    #[test]
    fn every_operation_is_evaluated_somewhere() {
        let (context, natives) = (tangram_dialects::context(), Arc::default());
        let effort = Effort { attempts: 300, ..Effort::default() };
        let found = domains(&context, &natives, &effort, &[]);
        let without: Vec<&str> = found
            .iter()
            .filter(|space| space.evaluated == 0)
            .map(|space| space.operation)
            .collect();
        let listed: Vec<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
        assert_eq!(without, listed);
    }
}
