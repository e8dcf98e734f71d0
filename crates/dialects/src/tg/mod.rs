//! The `tg` dialect: what Tangram's own road to code needs and upstream's dialects do not say.
//!
//! Its level is that of *nests*: functions over tensors, in which each operation of nn is loops
//! ([`NEST`]) or stays for the reference kernels ([`REFERENCE`], with the reason). Memory is the
//! destination of a nest, which is used as one once, so that buffers follow without an analysis.
//!
//! ```text
//! %e = tg.buffer : tensor<4x16xf32>
//! %y = tg.nest(%x, %w) into %e {sizes = ["4", "16", "8"], order = [2], combine = "add", initial = 0.0,
//!          maps = [(i, j, k) -> (i, k), (i, j, k) -> (k, j), (i, j, k) -> (i, j)]} {
//! ^body(%a: f32, %b: f32):
//!   %p = arith.mulf %a, %b
//!   tg.yield %p
//! }
//! ```
//!
//! Everything that a nest computes stands in its text: loops with sizes over symbols, places, values
//! outside of a tensor, the body, how iterations are combined and **in which order**, what finishes a
//! combined element, and the operations that it came from. An attribute `plan` says how it is to
//! become code, and changes no result, but where it names another algorithm.
//!
//! Bodies are operations of `arith` and `math` where those say the same, and [`APPLY`] and [`CAST`]
//! where they do not: a maximum of zeros and NaNs, an integer divided by zero, a float that has no
//! integer. The table is in [`scalars`]. Integers of a body have no sign, as `arith` wants it; a
//! result that stands for one without a sign is marked `tg.unsigned`, which no meaning depends on.
//!
//! Below nests, [`micro`] has the operations of innermost loops, beside those of `scf`, `vector`,
//! `memref` and `arith`.
//!
//! No operation has a text of its own, so `mlir-opt --allow-unregistered-dialect` reads whatever is
//! printed.

pub mod micro;
mod nest;
pub mod scalars;
mod verify;

use tangram_ir::{Arity, AttrDef, AttrKind, Context, OpDef, OperandDef, ResultDef, Traits};

pub use nest::{Nest, NestError, NestOperands, Row, tensor_type};

/// Every definition of this dialect.
pub static DEFS: &[&OpDef] = &[
    &NEST,
    &YIELD,
    &REFERENCE,
    &BUFFER,
    &VIEW,
    &SIZE,
    &INDEX,
    &INSIDE,
    &APPLY,
    &CAST,
    &micro::ADVANCE,
    &micro::KEEP,
    &micro::DOT,
    &micro::WIDEN_LOAD,
];

/// Makes the operations of this dialect known.
pub fn register(context: &Context) {
    context.register(DEFS.iter().copied());
}

const fn values(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::Variadic, doc }
}

const fn value(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::One, doc }
}

const fn one_result(doc: &'static str) -> ResultDef {
    ResultDef { name: "result", arity: Arity::One, doc }
}

const EXPRESSION: AttrDef =
    AttrDef::required("value", AttrKind::Str, "an expression over the symbols of the function");

/// `tg.nest`: a loop nest over tensors.
pub static NEST: OpDef = OpDef {
    operands: &[
        values("reads", "tensors of which the body takes an element"),
        values("finishes", "tensors of which the finish takes an element"),
        values("tables", "tensors that the body reads at computed places"),
        value("into", "the destination, which gives the elements that the nest does not write"),
        values("starts", "the first values of bound loops, of type `index`"),
    ],
    results: &[one_result("the destination with what the nest wrote")],
    attrs: &[
        AttrDef::required("sizes", AttrKind::Strs, "iterations of each loop, outermost first"),
        AttrDef::optional("symbols", AttrKind::Strs, "values of the maps' symbols; none if absent"),
        AttrDef::required(
            "maps",
            AttrKind::Any,
            "from loops to an element: of each read, of each finish, of the destination",
        ),
        AttrDef::optional(
            "outside",
            AttrKind::Any,
            "for each read and finish the number where its map leaves the tensor, or `unit` if it \
             never does; all of these if absent",
        ),
        AttrDef::optional(
            "combine",
            AttrKind::Enum(scalars::COMBINATIONS),
            "how iterations of reduced loops become one; nothing is combined if absent",
        ),
        AttrDef::optional("initial", AttrKind::Any, "what combining starts from"),
        AttrDef::optional(
            "order",
            AttrKind::Ints,
            "the reduced loops, in the order in which their iterations are combined, the last \
             fastest; all others are parallel",
        ),
        AttrDef::optional(
            "lanes",
            AttrKind::Ints,
            "a reduced loop and a power of two: iterations of that loop are combined in as many \
             lanes, each from `initial`, and then lane `l` with `l + half` for each half of them; one \
             lane if absent",
        ),
        AttrDef::optional("bound", AttrKind::Ints, "parallel loops that begin at `starts`"),
        AttrDef::optional("blocks", AttrKind::Ints, "how many iterations of these are run"),
        AttrDef::optional("from", AttrKind::Strs, "the operations that it computes"),
        AttrDef::optional("plan", AttrKind::Any, "how it becomes code; not decided if absent"),
    ],
    regions: None,
    traits: Traits::PURE.union(Traits::MAY_TRAP).union(Traits::ISOLATED),
    verify: Some(verify::nest),
    ..OpDef::new("tg.nest", "loops, a body for each iteration, and what finishes an element")
};

/// `tg.yield`: ends a region with values.
pub static YIELD: OpDef = OpDef {
    operands: &[values("values", "the values")],
    traits: Traits::TERMINATOR.union(Traits::PURE),
    ..OpDef::new("tg.yield", "ends a region with values")
};

/// `tg.reference`: an operation that stays for the reference kernels.
pub static REFERENCE: OpDef = OpDef {
    operands: &[values("operands", "what the operation reads, in its regions too")],
    results: &[ResultDef {
        name: "results",
        arity: Arity::Variadic,
        doc: "the results of the operation",
    }],
    attrs: &[AttrDef::required("reason", AttrKind::Str, "why it is not compiled")],
    regions: Some(1),
    traits: Traits::SINGLE_BLOCK.union(Traits::ISOLATED),
    verify: Some(verify::reference),
    ..OpDef::new("tg.reference", "the operation in its region, by the reference kernels")
};

/// `tg.buffer`: a destination in which nothing is written yet.
pub static BUFFER: OpDef = OpDef {
    results: &[one_result("elements that nothing has written")],
    attrs: &[
        AttrDef::optional(
            "storage",
            AttrKind::Enum(&["arena", "output"]),
            "whose memory it is; the arena's if absent",
        ),
        AttrDef::optional("per_part", AttrKind::Any, "present if each part has one of its own"),
    ],
    ..OpDef::new("tg.buffer", "memory for a tensor; what is read before it is written is undefined")
};

/// `tg.view`: the same elements in other extents.
pub static VIEW: OpDef = OpDef {
    operands: &[value("source", "a tensor")],
    results: &[one_result("its elements in row-major order")],
    traits: Traits::PURE,
    verify: Some(verify::view),
    ..OpDef::new("tg.view", "the elements of a tensor in other extents, in row-major order")
};

/// `tg.size`: the value of an expression over symbols.
pub static SIZE: OpDef = OpDef {
    results: &[one_result("`index`, or `i64` in a body")],
    attrs: &[EXPRESSION],
    traits: Traits::PURE,
    verify: Some(verify::size),
    ..OpDef::new("tg.size", "the value of an expression over the symbols of the function")
};

/// `tg.index`: where a body is in a loop.
pub static INDEX: OpDef = OpDef {
    results: &[one_result("`i64`")],
    attrs: &[AttrDef::required("loop", AttrKind::Int, "the number of the loop")],
    traits: Traits::PURE,
    verify: Some(verify::within_nest),
    ..OpDef::new("tg.index", "the iteration of a loop of the nest around it")
};

/// `tg.inside`: whether an element that a nest reads is inside of its tensor.
pub static INSIDE: OpDef = OpDef {
    results: &[one_result("`i1`")],
    attrs: &[AttrDef::required("read", AttrKind::Int, "the number of the read")],
    traits: Traits::PURE,
    verify: Some(verify::within_nest),
    ..OpDef::new("tg.inside", "whether an element that the nest reads is inside of its tensor")
};

/// `tg.apply`: a function of numbers as nn has it.
pub static APPLY: OpDef = OpDef {
    operands: &[values("operands", "numbers of one type")],
    results: &[one_result("a number of that type")],
    attrs: &[
        AttrDef::required("function", AttrKind::Enum(scalars::FUNCTIONS), "which"),
        AttrDef::required("element", AttrKind::DType, "the type of the numbers, with its sign"),
    ],
    traits: Traits::PURE.union(Traits::MAY_TRAP),
    verify: Some(verify::apply),
    ..OpDef::new(
        "tg.apply",
        "a function of numbers that `arith` and `math` do not have as nn has it",
    )
};

/// `tg.cast`: a conversion as nn has it.
pub static CAST: OpDef = OpDef {
    operands: &[value("operand", "a number")],
    results: &[one_result("the number in another type")],
    attrs: &[
        AttrDef::required("from", AttrKind::DType, "the type of the operand, with its sign"),
        AttrDef::required("to", AttrKind::DType, "the type of the result, with its sign"),
    ],
    traits: Traits::PURE,
    verify: Some(verify::cast),
    ..OpDef::new("tg.cast", "a conversion that `arith` does not have as `nn.cast` has it")
};
