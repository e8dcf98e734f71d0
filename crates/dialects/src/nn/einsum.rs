//! The equations of `nn.einsum`.
//!
//! `ij,jk->ik` names the dimensions of each operand; a letter stands for one extent wherever it
//! occurs. `...` stands for leading dimensions that broadcast. Without `->` the result lists the
//! broadcast dimensions, then the letters that occur once, in alphabetical order.

use fastrand::Rng;
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, Dim, InferCx};
use tangram_tensor::DType;

use super::sample::{Call, Tried, any_of};
use crate::attrs::Attrs;
use crate::budget::Sizes;
use crate::infer::{Dims, InferExt, Result, Shaped, one};
use crate::structured::{Loops, Stage, Structured, StructuredCx, TensorRef, equal, wide};
use crate::{dims, infer_error};

/// One place of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    /// A named dimension.
    Letter(char),
    /// Any number of leading dimensions.
    Ellipsis,
}

/// An equation, read.
pub(super) struct Equation {
    pub(super) inputs: Vec<Vec<Label>>,
    pub(super) output: Vec<Label>,
}

fn term(text: &str) -> Result<Vec<Label>> {
    let mut labels = Vec::new();
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        let (label, len) = match c {
            '.' if rest.starts_with("...") => (Some(Label::Ellipsis), 3),
            ' ' => (None, 1),
            c if c.is_ascii_alphabetic() => (Some(Label::Letter(c)), 1),
            c => return Err(infer_error!("`{c}` in the einsum term `{text}`")),
        };
        labels.extend(label);
        rest = &rest[len..];
    }
    Ok(labels)
}

pub(super) fn parse(text: &str) -> Result<Equation> {
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (text, None),
    };
    let inputs = left.split(',').map(term).collect::<Result<Vec<_>>>()?;
    let output = match right {
        Some(right) => term(right)?,
        None => implicit(&inputs),
    };
    Ok(Equation { inputs, output })
}

/// The result of an equation without an arrow.
fn implicit(inputs: &[Vec<Label>]) -> Vec<Label> {
    let all: Vec<Label> = inputs.iter().flatten().copied().collect();
    let mut letters: Vec<char> = all
        .iter()
        .filter_map(|&label| match label {
            Label::Letter(c) if all.iter().filter(|&&l| l == label).count() == 1 => Some(c),
            _ => None,
        })
        .collect();
    letters.sort_unstable();
    let ellipsis = all.contains(&Label::Ellipsis).then_some(Label::Ellipsis);
    ellipsis.into_iter().chain(letters.into_iter().map(Label::Letter)).collect()
}

/// What is known of the dimensions that an equation names.
#[derive(Default)]
struct Extents {
    letters: Vec<(char, Dim)>,
    /// Leading dimensions, innermost last.
    leading: Dims,
    /// Whether an operand of unknown rank takes part.
    open: bool,
}

impl Extents {
    fn join(&mut self, cx: &InferCx<'_>, letter: char, dim: Dim) -> Result<()> {
        let context = cx.context();
        let Some((_, old)) = self.letters.iter_mut().find(|(c, _)| *c == letter) else {
            self.letters.push((letter, dim));
            return Ok(());
        };
        // Extent 1 broadcasts, as in NumPy.
        if *old == Dim::fixed(1) || old.is_unknown() {
            *old = dim;
        } else if dim != Dim::fixed(1) && dims::differ(context, *old, dim) {
            let (old, dim) = (dims::text(context, *old), dims::text(context, dim));
            return Err(infer_error!("`{letter}` has the extents {old} and {dim} in an einsum"));
        } else if old.as_static().is_none() && dim.as_static().is_some_and(|n| n != 1) {
            *old = dim;
        }
        Ok(())
    }

    fn lead(&mut self, cx: &InferCx<'_>, found: &[Dim]) -> Result<()> {
        let context = cx.context();
        while self.leading.len() < found.len() {
            self.leading.insert(0, Dim::fixed(1));
        }
        let offset = self.leading.len() - found.len();
        for (i, &dim) in found.iter().enumerate() {
            let old = &mut self.leading[offset + i];
            *old = dims::broadcast(context, *old, dim)
                .map_err(|(a, b)| infer_error!("extents {a} and {b} do not broadcast"))?;
        }
        Ok(())
    }

    fn add(&mut self, cx: &InferCx<'_>, labels: &[Label], found: &[Dim]) -> Result<()> {
        let letters = labels.iter().filter(|&&l| l != Label::Ellipsis).count();
        let ellipsis = labels.len() - letters;
        let fits = if ellipsis == 0 { found.len() == letters } else { found.len() >= letters };
        if !fits || ellipsis > 1 {
            let (terms, rank) = (labels.len(), found.len());
            return Err(infer_error!("an einsum term of {terms} labels for a rank of {rank}"));
        }
        let mut rest = found;
        for &label in labels {
            match label {
                Label::Letter(c) => {
                    self.join(cx, c, rest[0])?;
                    rest = &rest[1..];
                }
                Label::Ellipsis => {
                    let (here, after) = rest.split_at(found.len() - letters);
                    self.lead(cx, here)?;
                    rest = after;
                }
            }
        }
        Ok(())
    }
}

/// The type of an einsum, from its equation and the extents of its operands.
pub(super) fn infer(cx: &InferCx<'_>) -> Result {
    let text = cx.attrs().text("equation");
    let equation =
        parse(text.ok_or_else(|| infer_error!("`nn.einsum` needs the text `equation`"))?)?;
    if equation.inputs.len() != cx.operands.len() {
        let (terms, found) = (equation.inputs.len(), cx.operands.len());
        return Err(infer_error!("an einsum of {terms} terms has {found} operands"));
    }
    let mut extents = Extents::default();
    for (i, labels) in equation.inputs.iter().enumerate() {
        match cx.tensor(i)?.dims {
            Some(found) => extents.add(cx, labels, &found)?,
            None => extents.open |= labels.contains(&Label::Ellipsis),
        }
    }
    let element = cx.tensor(0)?.element;
    if extents.open && equation.output.contains(&Label::Ellipsis) {
        return one(cx, &Shaped::unranked(element));
    }
    let mut out: Dims = smallvec![];
    for &label in &equation.output {
        match label {
            Label::Ellipsis => out.extend(extents.leading.iter().copied()),
            Label::Letter(c) => {
                let found = extents.letters.iter().find(|(l, _)| *l == c);
                let mentioned = equation.inputs.iter().flatten().any(|&l| l == label);
                if !mentioned {
                    return Err(infer_error!("`{c}` is in the result of an einsum, in no term"));
                }
                out.push(found.map_or(Dim::UNKNOWN, |&(_, dim)| dim));
            }
        }
    }
    one(cx, &Shaped { dims: Some(out), element })
}

/// A dimension that terms share: a letter, or one under the ellipsis, counted from the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Key {
    Letter(char),
    Leading(usize),
}

/// The keys of the dimensions of a term, `hidden` of which are under its ellipsis.
fn keys(labels: &[Label], hidden: usize) -> Vec<Key> {
    let key = |&label: &Label| match label {
        Label::Letter(c) => vec![Key::Letter(c)],
        Label::Ellipsis => (0..hidden).rev().map(Key::Leading).collect(),
    };
    labels.iter().flat_map(key).collect()
}

/// Loops over the dimensions of the result, then over those that are summed. Of three operands and
/// more, which the kernel multiplies two at a time, there is no single nest worth running.
pub(super) fn structured(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let equation = parse(cx.attrs().text("equation")?).ok()?;
    let count = cx.operand_count();
    (equation.inputs.len() == count && (1..=2).contains(&count)).then_some(())?;
    let operands = (0..count).map(|i| cx.operand(i)).collect::<Option<Vec<_>>>()?;
    let mut most = 0;
    let mut terms = Vec::new();
    for (labels, x) in equation.inputs.iter().zip(&operands) {
        let letters = labels.iter().filter(|&&label| label != Label::Ellipsis).count();
        let hidden = x.rank().checked_sub(letters)?;
        let term = keys(labels, hidden);
        (term.len() == x.rank() && x.element == out.element).then_some(())?;
        most = most.max(if labels.contains(&Label::Ellipsis) { hidden } else { 0 });
        terms.push(term);
    }
    let written = keys(&equation.output, most);
    (written.len() == out.rank() && out.element != DType::Bool).then_some(())?;
    let mut order = written.clone();
    for &key in terms.iter().flatten() {
        if !order.contains(&key) {
            order.push(key);
        }
    }
    let mut loops = Loops::default();
    let sum = loops.accumulator(&out, wide(out.element));
    let mut stage = Stage::over(&out.extents);
    for &key in &order[written.len()..] {
        stage.reduce_over(&extent(key, &terms, &operands));
    }
    let mut factors = Vec::new();
    for (term, x) in terms.iter().zip(&operands) {
        let mut at = Vec::new();
        for (&key, own) in term.iter().zip(&x.extents) {
            let whole = extent(key, &terms, &operands);
            at.push(match own.as_int() == Some(1) {
                true => stage.fixed(&Expr::int(0)),
                false if equal(own, &whole) => {
                    let place = order.iter().position(|&other| other == key)?;
                    stage.at(place)
                }
                false => return None,
            });
        }
        factors.push(stage.load(x, &at));
    }
    let product = factors.into_iter().reduce(|a, b| stage.mul(a, b))?;
    loops.push(stage.store_sum(&sum, product));
    loops.convert(&sum, &out);
    Some(loops.finish())
}

/// The extent of a key: that of a term in which it is not 1.
fn extent(key: Key, terms: &[Vec<Key>], operands: &[TensorRef]) -> Expr {
    let places = terms.iter().zip(operands).flat_map(|(term, x)| term.iter().zip(&x.extents));
    let mut own = places.filter(|(other, _)| **other == key).map(|(_, extent)| extent);
    own.find(|extent| extent.as_int() != Some(1)).cloned().unwrap_or(Expr::int(1))
}

/// The extent of each index that is summed over, multiplied; as many steps as elements where nothing
/// says which.
pub(super) fn steps(sizes: &Sizes<'_>) -> u64 {
    summed(sizes).unwrap_or_else(|| sizes.elements(0))
}

fn summed(sizes: &Sizes<'_>) -> Option<u64> {
    let equation = sizes.attrs().text("equation")?.replace(' ', "");
    let (left, right) = equation.split_once("->")?;
    let mut seen = String::new();
    let mut product = 1u64;
    for (i, term) in left.split(',').take(2).enumerate() {
        let shape = sizes.extents(i).filter(|shape| shape.len() == term.chars().count())?;
        for (index, extent) in term.chars().zip(shape) {
            if !right.contains(index) && !seen.contains(index) {
                seen.push(index);
                product = product.saturating_mul(extent as u64);
            }
        }
    }
    Some(product)
}

/// What is tried for the equation.
pub(super) fn equation(_: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    match attr.name {
        "equation" => any_of(&["ij,jk->ik", "bij,bjk->bik", "ij->ji"], rng),
        _ => Tried::Usual,
    }
}

/// Returns whether equal labels of an equation stand for equal extents. Kernels stretch extents of
/// 1, of which the standard says nothing.
pub(super) fn labels_agree(operands: &[Vec<usize>], attrs: &Attrs<'_>) -> bool {
    let inputs = attrs.text("equation").and_then(|e| e.split("->").next()).unwrap_or_default();
    let mut known: FxHashMap<char, usize> = FxHashMap::default();
    inputs.split(',').zip(operands).all(|(labels, extents)| {
        let (front, back) = labels.split_once("...").unwrap_or((labels, ""));
        let named = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<Vec<_>>();
        let (front, back) = (named(front), named(back));
        let last = extents.len().saturating_sub(back.len());
        let places = (0..front.len()).chain(last..extents.len());
        front.into_iter().chain(back).zip(places).all(|(label, at)| {
            let n = extents.get(at).copied().unwrap_or(0);
            *known.entry(label).or_insert(n) == n
        })
    })
}
