//! Structured definitions: what an operation computes, as loops over tensors.
//!
//! A [`Generic`] is what `linalg.generic` is in MLIR: *iterators* with extents, for each tensor an
//! *indexing map* from iterators to an element, and a scalar *body* that makes an element of the
//! output from elements of the inputs. Iterators of kind [`IteratorKind::Reduction`] do not occur
//! in the output's map; the values of the body along them are combined.
//!
//! ```text
//! nn.matmul   (i, j, k)   x: (i, k)   y: (k, j)   out: (i, j)   out = sum over k of x * y
//! ```
//!
//! What one loop nest cannot say is said by several, with temporaries between them: `softmax` is a
//! maximum, a difference with its exponential, a sum and a quotient.
//!
//! ```
//! use tangram_affine::symbolic::Expr;
//! use tangram_dialects::structured::{Access, Body, Generic, Number, TensorId, Reduction};
//! use tangram_tensor::DType;
//!
//! // sum over j of x[i][j]
//! let mut generic = Generic::over([Expr::symbol("n"), Expr::int(8)]);
//! generic.reduce(1, Reduction::sum(DType::F32));
//! let x = generic.read(Access::dims(TensorId::Operand(0), 2, &[0, 1]));
//! generic.write(Access::dims(TensorId::Result(0), 2, &[0]));
//! let value = generic.body.input(x);
//! generic.body.result(value);
//! assert_eq!(generic.reduced().collect::<Vec<_>>(), [1]);
//! ```
//!
//! # Where definitions are
//! That of an operation stands beside its inference and evaluation: a function from
//! [`StructuredCx`] in the file of its family in `nn`, or in the module `structured` of that
//! family. [`structured()`] finds it. It works for symbolic extents, and gives nothing where an
//! extent, an axis or the like is unknown.
//!
//! # Exactness
//! Bodies compute in the types that they state; sums run in the order of the iterators, the last
//! fastest, from the initial value. [`interpret`] does just that. A single nest without a reduction
//! gives the bits of the reference kernel. Floats of 16 bits are summed in `f32`, all others in
//! their own type, as runtimes do; where the reference kernel sums in `f64` (norms, means, softmax,
//! attention) or in blocks (products), the two differ by the rounding of such a sum.

mod body;
mod cx;
mod interpret;
mod reducing;
pub(crate) mod scalars;
mod slide;
mod stage;
mod verify;
mod work;

pub use body::{Binary, Body, Comparison, Number, Scalar, ScalarId, Unary};
pub use cx::{StructuredCx, StructuredFn, TensorRef, result_types, structured, wants_extents};
pub(crate) use cx::{StructuredTable, axis, equal, is_plain, product, wide};
pub(crate) use interpret::interpret_nest;
pub use interpret::{InterpretError, interpret};
pub(crate) use reducing::{Reducing, inverse_root, over};
pub(crate) use slide::{Slide, slides};
pub(crate) use stage::{Loops, Stage, elementwise, number_of, reshape};
pub use work::{Work, elements_of, work};

use std::ops::Range;

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExpr, AffineExprs, AffineMap};
use tangram_tensor::DType;

/// Which tensor is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TensorId {
    /// An operand of the operation.
    Operand(usize),
    /// A result of it.
    Result(usize),
    /// A tensor between stages.
    Temporary(usize),
}

/// An operation as loops.
#[derive(Clone, PartialEq, Debug)]
pub enum Structured {
    /// Loop nests that run one after the other.
    Loops {
        /// The tensors between them.
        temporaries: Vec<Temporary>,
        /// The nests.
        stages: Vec<Generic>,
        /// Ranges of nests that have their first loop in common: it runs around all of them, in
        /// order, as over the steps of a recurrent layer. Within such a range a nest may read what
        /// nests of the range wrote in iterations before.
        recurrent: Vec<Range<usize>>,
    },
    /// The only result has the elements of an operand in the same row-major order: a reshape.
    Reshape {
        /// The operand.
        operand: usize,
    },
}

impl Structured {
    /// One loop nest.
    pub fn one(generic: Generic) -> Structured {
        Structured::Loops { temporaries: Vec::new(), stages: vec![generic], recurrent: Vec::new() }
    }
}

/// A tensor between stages.
#[derive(Clone, PartialEq, Debug)]
pub struct Temporary {
    /// The element type.
    pub element: DType,
    /// The extents, outermost first.
    pub extents: Vec<Expr>,
}

/// What a loop of a nest does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IteratorKind {
    /// Each iteration makes elements of its own.
    Parallel,
    /// Its iterations are combined.
    Reduction,
}

/// A perfect loop nest.
#[derive(Clone, PartialEq, Debug)]
pub struct Generic {
    /// The number of iterations of each loop, outermost first.
    pub extents: Vec<Expr>,
    /// What each loop does.
    pub kinds: Vec<IteratorKind>,
    /// The values of the symbols of all maps, which have that many symbols or none.
    pub symbols: Vec<Expr>,
    /// What is read at the iterators' element; several may be of one tensor.
    pub inputs: Vec<Access>,
    /// Tensors that the body reads at computed elements ([`Scalar::Lookup`]).
    pub tables: Vec<TensorId>,
    /// What is written: its map is injective over the parallel iterators. The nests of an
    /// operation write every element of its results, each once.
    pub output: Access,
    /// How an element is made.
    pub body: Body,
    /// How reduced iterations are combined; there if and only if there are such.
    pub reduction: Option<Reduction>,
}

/// An element of a tensor for each point of a loop nest.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// The tensor.
    pub place: TensorId,
    /// From iterators, and symbols, to an element.
    pub map: AffineMap,
    /// The value where the map leaves the tensor, as in padding; nothing if it never does.
    pub outside: Option<Number>,
}

/// How values along reduced iterators become one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    /// An associative and commutative operation.
    pub combine: Binary,
    /// What it starts from.
    pub initial: Number,
}

impl Reduction {
    /// A sum that starts from zero.
    pub fn sum(element: DType) -> Reduction {
        Reduction { combine: Binary::Add, initial: Number::zero(element) }
    }
}

impl Access {
    /// The element at these iterators, of `iterators` in all.
    pub fn dims(place: TensorId, iterators: usize, dims: &[usize]) -> Access {
        let mut exprs = AffineExprs::new();
        let results: Vec<AffineExpr> = dims.iter().map(|&dim| exprs.dim(dim as u32)).collect();
        Access::new(place, AffineMap::new(iterators as u32, 0, &exprs, &results))
    }

    /// The element that `map` says.
    pub fn new(place: TensorId, map: AffineMap) -> Access {
        Access { place, map, outside: None }
    }

    /// The same, with a value for what is outside of the tensor.
    #[must_use]
    pub fn or(self, outside: Number) -> Access {
        Access { outside: Some(outside), ..self }
    }
}

impl Generic {
    /// Parallel loops that do nothing yet.
    pub fn over(extents: impl IntoIterator<Item = Expr>) -> Generic {
        let extents: Vec<Expr> = extents.into_iter().collect();
        let output = Access::dims(TensorId::Result(0), extents.len(), &[]);
        Generic {
            kinds: vec![IteratorKind::Parallel; extents.len()],
            extents,
            symbols: Vec::new(),
            inputs: Vec::new(),
            tables: Vec::new(),
            output,
            body: Body::default(),
            reduction: None,
        }
    }

    /// Reads an element; returns its number, for [`Body::input`].
    pub fn read(&mut self, access: Access) -> usize {
        self.inputs.push(access);
        self.inputs.len() - 1
    }

    /// Says which element is written.
    pub fn write(&mut self, access: Access) {
        self.output = access;
    }

    /// Combines the iterations of a loop.
    pub fn reduce(&mut self, iterator: usize, reduction: Reduction) {
        self.kinds[iterator] = IteratorKind::Reduction;
        self.reduction = Some(reduction);
    }

    /// The reduced iterators.
    pub fn reduced(&self) -> impl Iterator<Item = usize> {
        let kinds = self.kinds.iter().enumerate();
        kinds.filter(|(_, kind)| **kind == IteratorKind::Reduction).map(|(at, _)| at)
    }
}
