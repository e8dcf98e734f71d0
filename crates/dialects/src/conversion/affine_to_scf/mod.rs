//! `affine` becomes `scf`, `arith` and `memref`: maps become arithmetic, loops and conditions
//! those of `scf`, accesses those of `memref`.
//!
//! A quotient rounded down and a rest that is never negative are spelled out, because `arith`
//! divides towards zero: `x mod c` is the rest, plus `c` where it is below 0.

mod index;
mod parallel;

use tangram_affine::{AffineMap, BinaryOp, IntegerSet, Node};
use tangram_ir::{Attr, AttrData, Context, Loc, Op, OpState, Point, Str, Type, TypeData, Value};
use tangram_rewrite::conversion::{Conversion, ConversionTarget};
use tangram_rewrite::{FnPattern, NoMatch, PatternSet, Rewriter, Roots};

use super::{EQ, Matched, SGE, SLT, finish, predicate};

type Rewrite = fn(&mut Rewriter<'_>, Op) -> Matched;

/// The patterns.
const ROWS: &[(&str, &str, Rewrite)] = &[
    ("affine-apply-to-arith", "affine.apply", |r, op| least(r, op, "arith.minsi")),
    ("affine-min-to-arith", "affine.min", |r, op| least(r, op, "arith.minsi")),
    ("affine-max-to-arith", "affine.max", |r, op| least(r, op, "arith.maxsi")),
    ("affine-load-to-memref", "affine.load", |r, op| access(r, op, "memref.load", 1)),
    ("affine-store-to-memref", "affine.store", |r, op| access(r, op, "memref.store", 2)),
    ("affine-vector-load-to-vector", "affine.vector_load", |r, op| access(r, op, "vector.load", 1)),
    ("affine-vector-store-to-vector", "affine.vector_store", |r, op| {
        access(r, op, "vector.store", 2)
    }),
    ("affine-prefetch-to-memref", "affine.prefetch", |r, op| access(r, op, "memref.prefetch", 1)),
    ("affine-delinearize-to-arith", "affine.delinearize_index", index::delinearize),
    ("affine-linearize-to-arith", "affine.linearize_index", index::linearize),
    ("affine-parallel-to-scf", "affine.parallel", parallel::convert_parallel),
    ("affine-for-to-scf", "affine.for", convert_for),
    ("affine-if-to-scf", "affine.if", convert_if),
];

/// The patterns.
pub fn patterns(context: &Context) -> PatternSet {
    let made = [
        "arith.constant",
        "arith.addi",
        "arith.subi",
        "arith.muli",
        "arith.divsi",
        "arith.remsi",
        "arith.cmpi",
        "arith.andi",
        "arith.select",
        "arith.minsi",
        "arith.maxsi",
        "memref.load",
        "memref.store",
        "memref.prefetch",
        "vector.load",
        "vector.store",
        "arith.floordivsi",
        "scf.for",
        "scf.parallel",
        "scf.reduce",
        "scf.reduce.return",
        "scf.if",
        "scf.yield",
    ];
    let mut set = PatternSet::new();
    for &(name, root, rewrite) in ROWS {
        let roots = Roots::Names(vec![context.name(root)]);
        let made = made.map(|name| context.name(name));
        set.add(FnPattern::new(name, roots, rewrite).with_generated(made));
    }
    set
}

/// The conversion of everything below an operation.
pub fn conversion(context: &Context) -> Conversion {
    let mut target = ConversionTarget::new();
    for def in crate::mlir::affine::DEFS.iter().filter(|def| def.name != "affine.yield") {
        target.illegal(context.name(def.name));
    }
    target.unknown(|_, _| Some(true));
    Conversion::new(context, target, patterns(context).freeze())
}

/// Makes operations in front of one.
struct Maker<'a, 'r> {
    rewriter: &'a mut Rewriter<'r>,
    before: Op,
    loc: Loc,
    index: Type,
    boolean: Type,
}

impl<'a, 'r> Maker<'a, 'r> {
    fn new(rewriter: &'a mut Rewriter<'r>, before: Op) -> Maker<'a, 'r> {
        let module = rewriter.module();
        let (index, boolean) = (module.context().ty(TypeData::Index), module.context().int_type(1));
        let loc = module.loc(before);
        Maker { rewriter, before, loc, index, boolean }
    }

    fn make(&mut self, name: &str, operands: &[Value], attrs: Attr, ty: Type) -> Value {
        let context = self.rewriter.module().context();
        let mut state = OpState::new(context.name(name), self.loc);
        state.operands.extend_from_slice(operands);
        state.results.push(ty);
        state.attrs = attrs;
        let op = self.rewriter.create(Point::Before(self.before), state);
        self.rewriter.module().result(op, 0)
    }

    fn number(&mut self, value: i64) -> Value {
        let context = self.rewriter.module().context();
        let value = context.attr(AttrData::Integer { value: value.into(), ty: self.index });
        let attrs = context.dict([(Str::VALUE, value)]);
        self.make("arith.constant", &[], attrs, self.index)
    }

    fn binary(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.make(name, &[a, b], Attr::EMPTY_DICT, self.index)
    }

    fn compare(&mut self, number: i64, a: Value, b: Value) -> Value {
        let attrs = predicate(self.rewriter.module().context(), number);
        self.make("arith.cmpi", &[a, b], attrs, self.boolean)
    }

    fn select(&mut self, flag: Value, a: Value, b: Value) -> Value {
        self.make("arith.select", &[flag, a, b], Attr::EMPTY_DICT, self.index)
    }

    /// The results of `map` where dimensions and symbols are `operands`.
    fn results(&mut self, map: &AffineMap, operands: &[Value]) -> Vec<Value> {
        let mut made: Vec<Value> = Vec::with_capacity(map.nodes().len());
        for &node in map.nodes() {
            made.push(match node {
                Node::Dim(i) => operands[i as usize],
                Node::Symbol(i) => operands[map.dims() + i as usize],
                Node::Constant(value) => self.number(value),
                Node::Binary(op, a, b) => self.joined_by(op, made[a.index()], made[b.index()]),
            });
        }
        map.results().iter().map(|result| made[result.index()]).collect()
    }

    fn joined_by(&mut self, op: BinaryOp, x: Value, by: Value) -> Value {
        match op {
            BinaryOp::Add => self.binary("arith.addi", x, by),
            BinaryOp::Mul => self.binary("arith.muli", x, by),
            BinaryOp::FloorDiv => {
                // floor(x / c) = -1 - (-1 - x) / c for x < 0.
                let (zero, ones) = (self.number(0), self.number(-1));
                let negative = self.compare(SLT, x, zero);
                let turned = self.binary("arith.subi", ones, x);
                let size = self.select(negative, turned, x);
                let quotient = self.binary("arith.divsi", size, by);
                let turned = self.binary("arith.subi", ones, quotient);
                self.select(negative, turned, quotient)
            }
            BinaryOp::CeilDiv => {
                // ceil(x / c) = (x - 1) / c + 1 for x > 0, and -(-x / c) otherwise.
                let (zero, one) = (self.number(0), self.number(1));
                let positive = self.compare(SLT, zero, x);
                let (lowered, turned) =
                    (self.binary("arith.subi", x, one), self.binary("arith.subi", zero, x));
                let size = self.select(positive, lowered, turned);
                let quotient = self.binary("arith.divsi", size, by);
                let raised = self.binary("arith.addi", quotient, one);
                let turned = self.binary("arith.subi", zero, quotient);
                self.select(positive, raised, turned)
            }
            BinaryOp::Mod => {
                let zero = self.number(0);
                let remainder = self.binary("arith.remsi", x, by);
                let negative = self.compare(SLT, remainder, zero);
                let raised = self.binary("arith.addi", remainder, by);
                self.select(negative, raised, remainder)
            }
        }
    }

    /// The results of `map`, joined by the operation `by`.
    fn joined(&mut self, map: &AffineMap, operands: &[Value], by: &str) -> Option<Value> {
        let results = self.results(map, operands).into_iter();
        results.reduce(|joined, value| self.binary(by, joined, value))
    }
}

/// The map `name` of `op`, or the left sides of that set, for `count` operands.
fn map(rewriter: &Rewriter<'_>, op: Op, name: &str, count: usize) -> Result<AffineMap, NoMatch> {
    let module = rewriter.module();
    let map = module.attr(op, name).and_then(|attr| {
        let set = module.context().as_integer_set(attr).map(IntegerSet::constraints);
        module.context().as_affine_map(attr).or(set).cloned()
    });
    let defined = |map: &AffineMap| map.inputs() == count && !divides_by_less_than_one(map);
    map.filter(defined).ok_or_else(|| {
        rewriter
            .no_match(|| format!("expected `{name}` for {count} operands, and divisors above 0"))
    })
}

fn divides_by_less_than_one(map: &AffineMap) -> bool {
    map.nodes().iter().any(|&node| match node {
        Node::Binary(BinaryOp::FloorDiv | BinaryOp::CeilDiv | BinaryOp::Mod, _, by) => {
            map.as_constant(by).is_some_and(|by| by <= 0)
        }
        _ => false,
    })
}

fn malformed(rewriter: &Rewriter<'_>) -> NoMatch {
    rewriter.no_match(|| "expected operands, bounds and regions as `affine` has them".to_owned())
}

fn least(rewriter: &mut Rewriter<'_>, op: Op, by: &str) -> Matched {
    let operands: Vec<Value> = rewriter.module().operands(op).collect();
    let map = map(rewriter, op, "map", operands.len())?;
    let value = Maker::new(rewriter, op).joined(&map, &operands, by);
    let value = value.ok_or_else(|| malformed(rewriter))?;
    finish(rewriter, op, &[value])
}

/// An access whose first `fixed` operands are no indices.
fn access(rewriter: &mut Rewriter<'_>, op: Op, name: &str, fixed: usize) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let results: Vec<Type> = module.results(op).map(|value| module.value_type(value)).collect();
    let Some((kept, point)) = operands.split_at_checked(fixed) else {
        return Err(malformed(rewriter));
    };
    let map = map(rewriter, op, "map", point.len())?;
    let mut maker = Maker::new(rewriter, op);
    let indices = maker.results(&map, point);
    let module = rewriter.module();
    let mut state = OpState::new(module.context().name(name), module.loc(op));
    state.operands.extend(kept.iter().chain(&indices).copied());
    state.results.extend(results);
    // What a prefetch is for stays; other attributes are told by nobody to be kept.
    if name == "memref.prefetch" {
        let words = ["isWrite", "localityHint", "isDataCache"];
        let kept = words
            .into_iter()
            .filter_map(|word| Some((module.context().str(word), module.attr(op, word)?)));
        state.attrs = module.context().dict(kept);
    }
    rewriter.replace_with(op, state).map(drop).map_err(|error| NoMatch::because(error.message))
}

/// Moves the regions of `op` to those of `new`, which yield by `scf.yield` then.
fn take_regions(rewriter: &mut Rewriter<'_>, op: Op, new: Op) -> Matched {
    for i in 0..rewriter.module().regions(op).len() {
        let (from, to) = (rewriter.module().region(op, i), rewriter.module().region(new, i));
        rewriter.inline_region(from, to, None);
        let module = rewriter.module();
        let Some(end) = module.first_block(to).and_then(|block| module.last_op(block)) else {
            continue;
        };
        let mut state = OpState::new(module.context().name("scf.yield"), module.loc(end));
        state.operands.extend(module.operands(end));
        rewriter.replace_with(end, state).map_err(|error| NoMatch::because(error.message))?;
    }
    Ok(())
}

fn convert_for(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let sizes = module.attr(op, "operandSegmentSizes").and_then(|attr| module.int_list(attr));
    let step = module.attr(op, "step").and_then(|attr| module.context().as_i64(attr));
    let results: Vec<Type> = module.results(op).map(|value| module.value_type(value)).collect();
    let (Some(sizes), Some(step)) = (sizes, step) else { return Err(malformed(rewriter)) };
    let &[low, high, _] = &sizes[..] else { return Err(malformed(rewriter)) };
    let parts = usize::try_from(low).ok().zip(usize::try_from(high).ok());
    let parts = parts.and_then(|(low, high)| {
        let (low, rest) = operands.split_at_checked(low)?;
        let (high, inits) = rest.split_at_checked(high)?;
        Some((low, high, inits))
    });
    let Some((low, high, inits)) = parts else { return Err(malformed(rewriter)) };
    let lower = map(rewriter, op, "lowerBoundMap", low.len())?;
    let upper = map(rewriter, op, "upperBoundMap", high.len())?;
    let mut maker = Maker::new(rewriter, op);
    let first = maker.joined(&lower, low, "arith.maxsi");
    let last = maker.joined(&upper, high, "arith.minsi");
    let step = maker.number(step);
    let (Some(first), Some(last)) = (first, last) else { return Err(malformed(rewriter)) };
    let module = rewriter.module();
    let mut state = OpState::new(module.context().name("scf.for"), module.loc(op));
    state.operands.extend([first, last, step]);
    state.operands.extend_from_slice(inits);
    state.results.extend(results);
    state.regions = 1;
    let new = rewriter.create(Point::Before(op), state);
    take_regions(rewriter, op, new)?;
    let values: Vec<Value> = rewriter.module().results(new).collect();
    finish(rewriter, op, &values)
}

fn convert_if(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let results: Vec<Type> = module.results(op).map(|value| module.value_type(value)).collect();
    let set = map(rewriter, op, "condition", operands.len())?;
    let condition = module.attr(op, "condition");
    let condition = condition.and_then(|attr| module.context().as_integer_set(attr)).cloned();
    let equalities = condition.ok_or_else(|| malformed(rewriter))?;
    let mut maker = Maker::new(rewriter, op);
    let zero = maker.number(0);
    let mut holds: Option<Value> = None;
    let left = maker.results(&set, &operands);
    for (value, &equal) in left.into_iter().zip(equalities.equalities()) {
        let flag = maker.compare(if equal { EQ } else { SGE }, value, zero);
        holds = Some(match holds {
            None => flag,
            Some(other) => {
                maker.make("arith.andi", &[other, flag], Attr::EMPTY_DICT, maker.boolean)
            }
        });
    }
    let holds = match holds {
        Some(holds) => holds,
        None => maker.compare(EQ, zero, zero),
    };
    let module = rewriter.module();
    let mut state = OpState::new(module.context().name("scf.if"), module.loc(op));
    state.operands.push(holds);
    state.results.extend(results);
    state.regions = 2;
    let new = rewriter.create(Point::Before(op), state);
    take_regions(rewriter, op, new)?;
    let values: Vec<Value> = rewriter.module().results(new).collect();
    finish(rewriter, op, &values)
}
