//! MLIR's `scf` dialect: loops and conditions as operations with regions.

mod carried;
mod condition;
mod conditions;
mod execute;
mod forall;
mod loops;
mod nested;
mod parallel;
mod verify;

use tangram_ir::{AttrKind, OpDef, OperandDef, ResultDef, Traits};

use super::{infer, optional, required, results, value, values};

/// The patterns of this dialect.
pub(super) const REWRITES: [&[super::fold::Rewrite]; 8] = [
    loops::REWRITES,
    carried::REWRITES,
    condition::REWRITES,
    nested::REWRITES,
    conditions::REWRITES,
    execute::REWRITES,
    parallel::REWRITES,
    forall::REWRITES,
];

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        operands: &[
            value("lowerBound", "the first value of the counter"),
            value("upperBound", "the counter stays below"),
            value("step", "what is added to it each time, above 0"),
            values("initArgs", "what the first iteration is given"),
        ],
        results: RESULTS,
        attrs: &[optional("unsignedCmp", AttrKind::Any, "present where bounds are unsigned")],
        regions: Some(1),
        traits: REGION,
        infer: Some(infer::carried),
        verify: Some(verify::check_for),
        assembly: Some("counted-loop region(0, hidden-args, scf.yield) attr-dict"),
        ..OpDef::new("scf.for", "a counted loop that carries values")
    },
    OpDef {
        operands: &[value("condition", "`i1`")],
        results: RESULTS,
        regions: Some(2),
        traits: REGION,
        verify: Some(verify::check_if),
        assembly: Some(
            "$condition results region(0, scf.yield) ( `else` region(1, scf.yield) )? attr-dict; $condition: i1",
        ),
        ..OpDef::new("scf.if", "runs its first region if a condition holds, else its second")
    },
    OpDef {
        operands: &[values("inits", "what the first region is given at first")],
        results: RESULTS,
        regions: Some(2),
        traits: REGION,
        verify: Some(verify::check_while),
        assembly: Some("while-header region(0, hidden-args) `do` region(1) attr-dict-with-keyword"),
        ..OpDef::new("scf.while", "a loop that tests in its first region and works in its second")
    },
    OpDef {
        results: RESULTS,
        attrs: &[optional("no_inline", AttrKind::Any, "present where it has to stay")],
        regions: Some(1),
        traits: Traits::RECURSIVE_EFFECTS,
        verify: Some(verify::check_execute_region),
        assembly: Some("one-result keyword($no_inline, no_inline) region(0) attr-dict"),
        ..OpDef::new("scf.execute_region", "runs a region of several blocks once")
    },
    OpDef {
        operands: &[
            values("lowerBound", "the first value of each counter"),
            values("upperBound", "each counter stays below"),
            values("step", "what is added to each counter"),
            values("initVals", "the neutral element of each reduction"),
        ],
        results: RESULTS,
        regions: Some(1),
        traits: REGION,
        verify: Some(verify::check_parallel),
        assembly: Some(
            "nest one-result region(0, hidden-args, scf.reduce, shown) attr-dict; $initVals: $results",
        ),
        ..OpDef::new("scf.parallel", "a nest of loops whose iterations may run in any order")
    },
    OpDef {
        operands: &[values("operands", "what each reduction is given by this iteration")],
        regions: None,
        traits: Traits::TERMINATOR.union(Traits::RECURSIVE_EFFECTS),
        verify: Some(verify::check_reduce),
        assembly: Some("( `(` $operands `:` type($operands) `)` )? regions attr-dict"),
        ..OpDef::new(
            "scf.reduce",
            "ends an iteration of `scf.parallel`; a region for each reduction",
        )
    },
    OpDef {
        operands: &[value("result", "the two values combined")],
        traits: ENDS,
        assembly: Some("$result attr-dict `:` type($result)"),
        ..OpDef::new("scf.reduce.return", "ends a region of `scf.reduce`")
    },
    OpDef {
        operands: &[
            values("dynamicLowerBound", "lower bounds that are not constant"),
            values("dynamicUpperBound", "upper bounds that are not constant"),
            values("dynamicStep", "steps that are not constant"),
            values("outputs", "the tensors that iterations write to"),
        ],
        results: RESULTS,
        attrs: &[
            required(
                "staticLowerBound",
                AttrKind::Ints,
                "lower bounds; the least `i64` if dynamic",
            ),
            required(
                "staticUpperBound",
                AttrKind::Ints,
                "upper bounds; the least `i64` if dynamic",
            ),
            required("staticStep", AttrKind::Ints, "steps; the least `i64` if dynamic"),
            optional("mapping", AttrKind::Any, "the processors that iterations run on"),
        ],
        regions: Some(1),
        traits: REGION,
        assembly: Some("forall region(0, hidden-args, scf.forall.in_parallel) attr-dict"),
        ..OpDef::new("scf.forall", "a parallel nest whose iterations write to parts of tensors")
    },
    OpDef {
        regions: Some(1),
        traits: Traits::TERMINATOR
            .union(Traits::NO_TERMINATOR)
            .union(Traits::SINGLE_BLOCK)
            .union(Traits::RECURSIVE_EFFECTS),
        assembly: Some("region(0) attr-dict"),
        ..OpDef::new("scf.forall.in_parallel", "ends an iteration of `scf.forall` with its writes")
    },
    OpDef {
        operands: &[value("arg", "`index`: which region runs")],
        results: RESULTS,
        attrs: &[required("cases", AttrKind::Ints, "the number of each region but the first")],
        regions: None,
        traits: REGION,
        verify: Some(verify::check_switch),
        assembly: Some("$arg attr-dict ( `->` type($results) )? cases(scf.yield); $arg: index"),
        ..OpDef::new("scf.index_switch", "runs the region whose number is given, else the first")
    },
    OpDef {
        operands: &[
            value("condition", "`i1`: whether the loop goes on"),
            values("args", "what the second region, or the end, is given"),
        ],
        traits: ENDS,
        verify: Some(verify::check_condition),
        assembly: Some("`(` $condition `)` attr-dict ( $args `:` type($args) )?; $condition: i1"),
        ..OpDef::new("scf.condition", "ends the first region of `scf.while`")
    },
    OpDef {
        operands: YIELDED,
        traits: ENDS,
        verify: Some(verify::check_yield),
        assembly: Some("attr-dict ( $results `:` type($results) )?"),
        ..OpDef::new("scf.yield", "ends a region with its results")
    },
];

const REGION: Traits = Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS);
const ENDS: Traits = Traits::TERMINATOR.union(Traits::PURE);
const RESULTS: &[ResultDef] = &[results("results", "what the last region run ends with")];
const YIELDED: &[OperandDef] = &[values("results", "the results")];
