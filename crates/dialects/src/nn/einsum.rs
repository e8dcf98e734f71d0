//! The equations of `nn.einsum`.
//!
//! `ij,jk->ik` names the dimensions of each operand; a letter stands for one extent wherever it
//! occurs. `...` stands for leading dimensions that broadcast. Without `->` the result lists the
//! broadcast dimensions, then the letters that occur once, in alphabetical order.

use smallvec::smallvec;
use tangram_ir::{Dim, InferCx};

use crate::infer::{Dims, InferExt, Result, Shaped, one};
use crate::{dims, infer_error};

/// One place of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    /// A named dimension.
    Letter(char),
    /// Any number of leading dimensions.
    Ellipsis,
}

/// An equation, read.
struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
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

fn parse(text: &str) -> Result<Equation> {
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
