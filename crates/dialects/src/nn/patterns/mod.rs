//! Rewrites that need code: folding, static forms of dynamic operands, better types, identities.
//!
//! Everything that a rule can say is a rule in `rules/`; here is what needs arithmetic on
//! extents, evaluation or inference. One file for each pattern.

mod cast_like;
mod einsum_product;
mod flatten_concatenate;
mod fold_constants;
mod fold_shapes;
mod identity;
mod inline_if;
mod join_transposes;
mod loop_invariant;
mod neutral_element;
mod refine_types;
mod reshape_expand;
mod static_operands;
mod static_shape;
mod unit_reduction;
mod unit_transpose;
mod zero_state;

use std::sync::Arc;

use tangram_affine::symbolic::Truth;
use tangram_ir::{Attr, Context, Diagnostic, Module, Name, Op, Point, Value};
use tangram_rewrite::{NoMatch, RewritePattern, Rewriter, Roots};
use tangram_tensor::Tensor;

use crate::budget::FoldBudget;
use crate::{constant, dims};

/// What the patterns may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// By how many bytes a folded constant may outgrow what it replaces; `None` for no limit.
    pub max_growth_bytes: Option<u64>,
    /// What all folding together may cost.
    pub budget: Arc<FoldBudget>,
    /// Whether even the sign of a zero stays as it is.
    pub exact: bool,
}

impl Default for Options {
    /// 1 MiB.
    fn default() -> Self {
        Options { max_growth_bytes: Some(1 << 20), budget: Arc::default(), exact: false }
    }
}

/// Every pattern of the dialect.
pub fn all(context: &Context, options: &Options) -> Vec<Box<dyn RewritePattern>> {
    let patterns = [
        refine_types::pattern(context),
        fold_shapes::pattern(),
        fold_constants::pattern(context, options),
        cast_like::pattern(context),
        static_operands::pattern(context),
        static_shape::reshape(context),
        static_shape::broadcast_to(context),
        identity::pattern(context),
        reshape_expand::pattern(context),
        unit_reduction::pattern(context),
        neutral_element::pattern(context, options.exact),
        flatten_concatenate::pattern(context),
        einsum_product::pattern(context),
        unit_transpose::pattern(context),
        join_transposes::pattern(context),
        zero_state::pattern(context),
        inline_if::constant_condition(context),
        inline_if::squeezing(context),
        loop_invariant::pattern(context),
    ];
    patterns.into_iter().map(|pattern| Box::new(pattern) as Box<dyn RewritePattern>).collect()
}

type Rewrite = Box<dyn Fn(&mut Rewriter<'_>, Op) -> Matched + Send + Sync>;
type Matched = Result<(), NoMatch>;

/// A pattern made of a function.
struct Native {
    name: &'static str,
    labels: Vec<String>,
    roots: Roots,
    benefit: u16,
    rewrite: Rewrite,
}

impl Native {
    fn new(
        name: &'static str,
        label: &str,
        roots: Roots,
        benefit: u16,
        rewrite: impl Fn(&mut Rewriter<'_>, Op) -> Matched + Send + Sync + 'static,
    ) -> Native {
        let labels = vec!["native".to_owned(), label.to_owned()];
        Native { name, labels, roots, benefit, rewrite: Box::new(rewrite) }
    }
}

impl RewritePattern for Native {
    fn name(&self) -> &str {
        self.name
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn benefit(&self) -> u16 {
        self.benefit
    }

    fn depth(&self) -> u32 {
        2
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
        (self.rewrite)(rewriter, op)
    }
}

fn roots(context: &Context, names: impl IntoIterator<Item = &'static str>) -> Roots {
    Roots::Names(names.into_iter().map(|name| context.name(name)).collect())
}

/// No match, for a reason that is made only when someone wants it.
fn because<T>(rewriter: &Rewriter<'_>, reason: impl FnOnce() -> String) -> Result<T, NoMatch> {
    Err(if rewriter.wants_reasons() { NoMatch::because(reason()) } else { NoMatch::SILENT })
}

/// Operand `i`, if it is there: given, and no `nn.none`.
fn present(module: &Module, op: Op, i: usize) -> Option<Value> {
    let value = module.operands(op).nth(i)?;
    (!constant::is_none_type(module.context(), module.value_type(value))).then_some(value)
}

/// A constant of `tensor` just before `op`.
fn make_constant(rewriter: &mut Rewriter<'_>, op: Op, tensor: &Tensor, key: &str) -> Value {
    let loc = rewriter.module().loc(op);
    let new = constant::create(rewriter, Point::Before(op), tensor, key, loc);
    rewriter.module().result(new, 0)
}

/// The key for a constant that takes the place of `value`.
fn key_for(module: &Module, value: Value) -> String {
    match module.value_name(value) {
        Some(name) => module.context().text(name).to_owned(),
        None => "folded".to_owned(),
    }
}

/// No match, since an operation behind the match objects.
fn refused(objection: &Diagnostic) -> Matched {
    Err(NoMatch::refused(objection.code, objection.message.clone()))
}

/// Replaces `op`, which has one result, by `value`.
fn replace(rewriter: &mut Rewriter<'_>, op: Op, value: Value) -> Matched {
    replace_all(rewriter, op, &[value], &[])
}

/// Replaces `op` by `values`; erases what was `made` for that if an operation behind objects.
fn replace_all(rewriter: &mut Rewriter<'_>, op: Op, values: &[Value], made: &[Op]) -> Matched {
    let results: Vec<Value> = rewriter.module().results(op).collect();
    let objection = results.into_iter().zip(values).find_map(|(a, &b)| rewriter.objection(a, b));
    if let Some(objection) = objection {
        for &op in made.iter().rev() {
            rewriter.erase(op);
        }
        return refused(&objection);
    }
    rewriter.replace(op, values).map_err(|error| NoMatch::because(error.message))
}

/// Replaces `op` by an operation of another name, operands and attributes with the same results.
fn rebuild(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    name: Name,
    operands: &[Value],
    attrs: Attr,
) -> Matched {
    let module = rewriter.module();
    let (loc, count) = (module.loc(op), module.result_count(op));
    let new = rewriter
        .build(Point::Before(op), name, operands, attrs, Some(count), loc)
        .map_err(|error| NoMatch::because(error.to_string()))?;
    let values: Vec<Value> = rewriter.module().results(new).collect();
    replace_all(rewriter, op, &values, &[new])
}

/// Returns whether two values provably have the same extents and element type.
fn same_type(module: &Module, a: Value, b: Value) -> bool {
    let context = module.context();
    let (a, b) = (module.value_type(a), module.value_type(b));
    let (Some((a, x)), Some((b, y))) = (context.as_tensor(a), context.as_tensor(b)) else {
        return false;
    };
    let equal = |(&a, &b)| dims::equal(context, a, b) == Truth::True;
    x == y && a.len() == b.len() && a.iter().zip(b).all(equal)
}

#[cfg(test)]
mod tests;
