//! Operations that are made of others, for whoever runs them.
//!
//! Compilers of loops know products, reductions and picks by index; an operation that is a
//! composition of such needs no loops of its own. Its entry says what it is made of, with tables that
//! its attributes hold as constants:
//!
//! ```text
//! ml_scaler(x) {offset, scale}    multiply(subtract(x, offset), scale)
//! ```
//!
//! Results are those of the reference evaluation, up to the order in which floats are added. Rewriting
//! keeps the operation whole: it is one node of the model's.

use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use tangram_ir::{Attr, Dim, Module, Name, Op, Order, Point, Value, walk};
use tangram_rewrite::{NoMatch, Rewriter, Silent};
use tangram_tensor::{DType, Tensor};

use crate::eval::{EvalCx, EvalError};
use crate::{constant, dtype};

/// Makes the results of an operation of others, or says why that is not possible here.
pub type DecomposeFn = fn(&mut Parts<'_, '_>) -> Result<Vec<Value>, NoMatch>;

/// The compositions of a context, by operation name.
#[derive(Default)]
pub(crate) struct DecomposeTable {
    pub(crate) functions: RwLock<FxHashMap<Name, DecomposeFn>>,
}

/// Puts what they are made of in the place of all operations below `root` that are compositions.
/// Returns how many there were.
///
/// The time is linear in the size of the module and of the tables that attributes hold.
pub fn decompose(module: &mut Module, root: Op) -> usize {
    let context = Arc::clone(module.context_arc());
    let functions = context.extension::<DecomposeTable>().functions.read();
    let mut count = 0;
    for op in walk(module, root, Order::Post) {
        if let Some(&function) = functions.get(&module.name(op)) {
            let mut silent = Silent;
            let mut rewriter = Rewriter::new(module, &mut silent);
            count += usize::from(replaced(&mut rewriter, op, function).is_ok());
        }
    }
    count
}

fn replaced(rewriter: &mut Rewriter<'_>, op: Op, function: DecomposeFn) -> Result<(), NoMatch> {
    let mut parts = Parts::new(rewriter, op);
    let values = function(&mut parts);
    let made = std::mem::take(&mut parts.made);
    let outcome = values.and_then(|values| {
        let results: Vec<Value> = rewriter.module().results(op).collect();
        let mut pairs = results.into_iter().zip(&values);
        match pairs.find_map(|(a, &b)| rewriter.objection(a, b)) {
            Some(objection) => Err(NoMatch::because(objection.message)),
            None => {
                let replaced = rewriter.replace(op, &values);
                replaced.map_err(|error| NoMatch::because(error.message))
            }
        }
    });
    // Not every result is read.
    for op in made.into_iter().rev() {
        let module = rewriter.module();
        if !module.results(op).any(|value| module.has_uses(value)) {
            rewriter.erase(op);
        }
    }
    outcome
}

/// Makes the parts of an operation, in front of it.
pub struct Parts<'a, 'b> {
    rewriter: &'a mut Rewriter<'b>,
    op: Op,
    made: Vec<Op>,
}

impl<'a, 'b> Parts<'a, 'b> {
    /// Nothing is made yet.
    pub(crate) fn new(rewriter: &'a mut Rewriter<'b>, op: Op) -> Parts<'a, 'b> {
        Parts { rewriter, op, made: Vec::new() }
    }
}

/// What is known of the operation.
impl Parts<'_, '_> {
    fn module(&self) -> &Module {
        self.rewriter.module()
    }

    /// Operand `i`.
    pub fn operand(&self, i: usize) -> Result<Value, NoMatch> {
        let value = self.module().operands(self.op).nth(i);
        value.ok_or_else(|| NoMatch::because(format!("operand {i} is absent")))
    }

    /// Every operand.
    pub fn operands(&self) -> Vec<Value> {
        self.module().operands(self.op).collect()
    }

    /// What evaluation reads of attributes, without operands.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&EvalCx<'_>) -> Result<T, EvalError>,
    ) -> Result<T, NoMatch> {
        let module = self.module();
        let context = module.context();
        let def = context.def(module.name(self.op)).ok_or(NoMatch::SILENT)?;
        let dict = module.attrs(self.op);
        let cx = EvalCx { module, context, def, dict, operands: &[], results: &[] };
        read(&cx).map_err(|error| NoMatch::because(error.to_string()))
    }

    /// The extents and element type of a value.
    pub fn typed(&self, value: Value) -> Result<(Vec<Dim>, DType), NoMatch> {
        let context = self.module().context();
        let found = context.as_tensor(self.module().value_type(value));
        let typed = found
            .and_then(|(dims, element)| Some((dims.to_vec(), dtype::dtype_of(context, element)?)));
        typed.ok_or_else(|| NoMatch::because("the rank of an operand is not known"))
    }

    /// The elements of a value that is a constant.
    pub fn constant_of(&self, value: Value) -> Option<Tensor> {
        constant::constant_tensor(self.module(), value)
    }
}

/// Operations.
impl Parts<'_, '_> {
    /// An operation of one result, whose type is inferred.
    pub fn make(
        &mut self,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
    ) -> Result<Value, NoMatch> {
        let module = self.rewriter.module();
        let (context, loc) = (module.context(), module.loc(self.op));
        let attrs = context.dict(attrs.iter().map(|&(key, attr)| (context.str(key), attr)));
        let (name, point) = (context.name(name), Point::Before(self.op));
        let built = self.rewriter.build(point, name, operands, attrs, Some(1), loc);
        let new = built.map_err(|error| NoMatch::because(error.to_string()))?;
        self.made.push(new);
        Ok(self.rewriter.module().result(new, 0))
    }

    /// A constant.
    pub fn constant(&mut self, tensor: &Tensor) -> Value {
        let (point, loc) = (Point::Before(self.op), self.module().loc(self.op));
        let new = constant::create(self.rewriter, point, tensor, "table", loc);
        self.made.push(new);
        self.module().result(new, 0)
    }

    /// A scalar constant of type `element`.
    pub fn number(&mut self, element: DType, value: f64) -> Result<Value, NoMatch> {
        let number = tangram_tensor::elementwise::cast(&Tensor::scalar(value), element);
        let number = number.map_err(|error| NoMatch::because(error.to_string()))?;
        Ok(self.constant(&number))
    }

    /// An attribute that is an integer.
    pub fn int(&self, value: i64) -> Attr {
        self.module().context().i64_attr(value)
    }

    /// An attribute that is true or false.
    pub fn flag(&self, value: bool) -> Attr {
        self.module().context().bool_attr(value)
    }

    /// An attribute that is a list of integers.
    pub fn ints(&self, values: &[i64]) -> Attr {
        self.module().context().i64s_attr(values)
    }

    /// A value in another element type.
    pub fn cast(&mut self, value: Value, to: DType) -> Result<Value, NoMatch> {
        if self.typed(value)?.1 == to {
            return Ok(value);
        }
        let context = self.module().context();
        let attr = context.type_attr(dtype::type_of(context, to));
        self.make("nn.cast", &[value], &[("dtype", attr)])
    }

    /// A reduction over one dimension.
    pub fn reduce(
        &mut self,
        name: &str,
        value: Value,
        axis: i64,
        keep: bool,
    ) -> Result<Value, NoMatch> {
        let keep = self.flag(keep);
        let axes = self.ints(&[axis]);
        self.make(name, &[value], &[("axis", axes), ("keepdims", keep)])
    }
}
