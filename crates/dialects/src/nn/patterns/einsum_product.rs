//! `einsum-product`: an Einstein sum of two operands is a product of matrices between transposes.
//!
//! ```text
//! bshd,bthd->bhst   b, h in both and in the result: batches; s and t: rows and columns; d: summed
//!                   matmul(transpose(q) as bhsd, transpose(k) as bhdt)
//! bsd,dhk->bshk     no batches: matmul(w as d(hk)) and a reshape
//! ```
//!
//! Several rows, columns or summed letters are one dimension of matrices; their extents have to be
//! known then. Runtimes multiply matrices faster than they sum by an equation, and transposes of
//! weights are folded.

use tangram_ir::{Attr, Context, Dim, Module, Op, Point, Value};
use tangram_rewrite::{NoMatch, Rewriter};
use tangram_tensor::DType;

use super::super::einsum::{Equation, Label, parse};
use super::{Matched, Native, replace_all, roots};
use crate::attrs::Attrs;
use crate::dtype;

pub(super) fn pattern(context: &Context) -> Native {
    Native::new("einsum-product", "simplify", roots(context, ["nn.einsum"]), 300, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let plan = Plan::new(rewriter.module(), op).ok_or(NoMatch::SILENT)?;
    let mut steps = Steps { rewriter, op, made: Vec::new() };
    match plan.build(&mut steps) {
        Ok(value) => {
            let made = std::mem::take(&mut steps.made);
            replace_all(steps.rewriter, op, &[value], &made)
        }
        Err(error) => {
            for made in steps.made.into_iter().rev() {
                rewriter.erase(made);
            }
            Err(error)
        }
    }
}

/// A letter with its extent.
type Letter = (char, Dim);

/// The letters of an equation by what becomes of them.
struct Plan {
    operands: [Value; 2],
    /// The letters of each operand, and of the result.
    terms: [Vec<char>; 3],
    batches: Vec<Letter>,
    rows: Vec<Letter>,
    columns: Vec<Letter>,
    summed: Vec<Letter>,
}

impl Plan {
    fn new(module: &Module, op: Op) -> Option<Self> {
        let context = module.context();
        let operands: Vec<Value> = module.operands(op).collect();
        let operands: [Value; 2] = operands.try_into().ok()?;
        let attrs = Attrs::new(context, module.attrs(op));
        let Equation { inputs, output } = parse(attrs.text("equation")?).ok()?;
        let [left, right] = inputs.as_slice() else { return None };
        let terms = [letters(left)?, letters(right)?, letters(&output)?];
        let (x, dtype) = typed(module, operands[0])?;
        let (y, _) = typed(module, operands[1])?;
        let multiplied = [DType::F16, DType::F32, DType::F64, DType::I32, DType::I64];
        if x.len() != terms[0].len() || y.len() != terms[1].len() || !multiplied.contains(&dtype) {
            return None;
        }
        let mut plan = Plan {
            operands,
            batches: Vec::new(),
            rows: Vec::new(),
            columns: Vec::new(),
            summed: Vec::new(),
            terms,
        };
        plan.sort(&x, &y)?;
        // Without a sum it is no product of matrices, and several letters are one by their number.
        let merged = [
            &plan.columns,
            &plan.summed,
            if plan.batches.is_empty() { &plan.summed } else { &plan.rows },
        ];
        let known = merged.iter().all(|list| list.len() == 1 || product(list).is_some());
        (known && !plan.summed.is_empty()).then_some(plan)
    }

    /// Sorts the letters; `None` if one is summed of one operand alone, or extents may differ.
    fn sort(&mut self, x: &[Dim], y: &[Dim]) -> Option<()> {
        let [left, right, result] = &self.terms;
        for (&letter, &dim) in left.iter().zip(x) {
            let kept = result.contains(&letter);
            match right.iter().position(|other| *other == letter) {
                // What is not known may be 1, and be broadcast.
                Some(at) if dim != y[at] || dim.is_unknown() => return None,
                Some(_) if kept => self.batches.push((letter, dim)),
                Some(_) => self.summed.push((letter, dim)),
                None if kept => self.rows.push((letter, dim)),
                None => return None,
            }
        }
        for (&letter, &dim) in right.iter().zip(y).filter(|(letter, _)| !left.contains(letter)) {
            result.contains(&letter).then(|| self.columns.push((letter, dim)))?;
        }
        let all = self.batches.len() + self.rows.len() + self.columns.len();
        (result.len() == all).then_some(())
    }

    fn build(&self, steps: &mut Steps<'_, '_>) -> Result<Value, NoMatch> {
        let parts = |lists: [&[Letter]; 3]| -> Vec<char> {
            lists.into_iter().flatten().map(|(letter, _)| *letter).collect()
        };
        let left = parts([&self.batches, &self.rows, &self.summed]);
        let right = parts([&self.batches, &self.summed, &self.columns]);
        let made = parts([&self.batches, &self.rows, &self.columns]);
        let x = steps.transpose(self.operands[0], &self.terms[0], &left)?;
        let y = steps.transpose(self.operands[1], &self.terms[1], &right)?;
        // Without batches, all rows but the last are batches of the first operand alone.
        let free = self.batches.is_empty() && !self.rows.is_empty();
        let lead = self.batches.len() + if free { self.rows.len() } else { 0 };
        let rows: &[Letter] = &self.rows;
        let x = if free {
            steps.merge(x, lead, &[&self.summed])?
        } else {
            steps.merge(x, lead, &[rows, &self.summed])?
        };
        let y = steps.merge(y, self.batches.len(), &[&self.summed, &self.columns])?;
        let product = steps.make("nn.matmul", &[x, y], None)?;
        let product = if free {
            steps.part(product, lead, &[&self.columns])?
        } else {
            steps.part(product, lead, &[rows, &self.columns])?
        };
        steps.transpose(product, &made, &self.terms[2])
    }
}

/// The letters of a term; `None` where one comes twice, or dimensions are not named.
fn letters(term: &[Label]) -> Option<Vec<char>> {
    let mut out = Vec::new();
    for label in term {
        match label {
            Label::Letter(c) if !out.contains(c) => out.push(*c),
            _ => return None,
        }
    }
    Some(out)
}

fn typed(module: &Module, value: Value) -> Option<(Vec<Dim>, DType)> {
    let context = module.context();
    let (dims, element) = context.as_tensor(module.value_type(value))?;
    Some((dims.to_vec(), dtype::dtype_of(context, element)?))
}

fn product(letters: &[Letter]) -> Option<i64> {
    let extents = letters.iter().map(|(_, dim)| dim.as_static());
    extents.into_iter().try_fold(1i64, |product, extent| product.checked_mul(extent?))
}

/// The operations that are made, so that they can be taken back.
struct Steps<'a, 'b> {
    rewriter: &'a mut Rewriter<'b>,
    op: Op,
    made: Vec<Op>,
}

impl Steps<'_, '_> {
    fn make(
        &mut self,
        name: &str,
        operands: &[Value],
        attribute: Option<(&str, &[i64])>,
    ) -> Result<Value, NoMatch> {
        let module = self.rewriter.module();
        let (context, loc) = (module.context(), module.loc(self.op));
        let entry = |(key, list)| (context.str(key), context.i64s_attr(list));
        let attrs: Attr = context.dict(attribute.map(entry));
        let name = context.name(name);
        let built =
            self.rewriter.build(Point::Before(self.op), name, operands, attrs, Some(1), loc);
        let new = built.map_err(|error| NoMatch::because(error.to_string()))?;
        self.made.push(new);
        Ok(self.rewriter.module().result(new, 0))
    }

    /// Brings the dimensions `from` in the order `to`.
    fn transpose(&mut self, value: Value, from: &[char], to: &[char]) -> Result<Value, NoMatch> {
        if from == to {
            return Ok(value);
        }
        let place = |letter: &char| from.iter().position(|other| other == letter);
        let axes: Vec<i64> = to.iter().filter_map(place).map(|at| at as i64).collect();
        self.make("nn.transpose", &[value], Some(("axes", &axes)))
    }

    /// Makes each list of letters behind the first `lead` dimensions one dimension.
    fn merge(&mut self, value: Value, lead: usize, lists: &[&[Letter]]) -> Result<Value, NoMatch> {
        let one = |list: &&[Letter]| match list {
            [(_, dim)] => dim.as_static(),
            list => product(list),
        };
        self.reshape(value, lead, lists, lists.iter().map(one).collect())
    }

    /// The other way round.
    fn part(&mut self, value: Value, lead: usize, lists: &[&[Letter]]) -> Result<Value, NoMatch> {
        let all = lists.iter().flat_map(|list| list.iter());
        self.reshape(value, lead, lists, all.map(|(_, dim)| dim.as_static()).collect())
    }

    /// Reshapes to the first `lead` dimensions as they are and `extents`, of which one may be open.
    fn reshape(
        &mut self,
        value: Value,
        lead: usize,
        lists: &[&[Letter]],
        extents: Vec<Option<i64>>,
    ) -> Result<Value, NoMatch> {
        if lists.iter().all(|list| list.len() == 1) {
            return Ok(value);
        }
        let open = extents.iter().filter(|extent| extent.is_none()).count();
        if open > 1 || extents.contains(&Some(0)) {
            return Err(NoMatch::because("extents that become one are not known"));
        }
        let mut shape = vec![0; lead];
        shape.extend(extents.into_iter().map(|extent| extent.unwrap_or(-1)));
        self.make("nn.reshape", &[value], Some(("newshape", &shape)))
    }
}
