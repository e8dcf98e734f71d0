//! Each pattern fires where it should, stays away where it should, and keeps the meaning.

use std::sync::Arc;

use tangram_ir::{
    Attr, Block, Context, Dim, FloatKind, Loc, Module, Op, OpState, Point, Type, Value,
};
use tangram_rewrite::{GreedyConfig, PatternSet, greedy};
use tangram_tensor::Tensor;

use super::{Options, all};
use crate::constant;
use crate::interpret::{Datum, interpret};

/// A function under construction.
struct Func {
    context: Arc<Context>,
    module: Module,
    op: Op,
    block: Block,
}

impl Func {
    fn new() -> Func {
        let context = crate::context();
        let mut module = Module::new(context.clone());
        let mut state = OpState::new(context.name("func.func"), Loc::UNKNOWN);
        state.regions = 1;
        let body = module.body();
        let op = module.create_at(Point::End(body), state);
        let region = module.region(op, 0);
        let block = module.add_block(region);
        Func { context, module, op, block }
    }

    fn dims(&self, text: &str) -> Vec<Dim> {
        let dim = |part: &str| match part.parse() {
            Ok(n) => Dim::fixed(n),
            Err(_) if part == "?" => Dim::UNKNOWN,
            Err(_) => self.context.dim(&part.parse().expect("an expression")),
        };
        text.split(',').filter(|part| !part.is_empty()).map(dim).collect()
    }

    fn f32(&self, dims: &str) -> Type {
        self.context.tensor_type(&self.dims(dims), self.context.float_type(FloatKind::F32))
    }

    /// An argument of type `f32` with these extents.
    fn arg(&mut self, dims: &str) -> Value {
        let ty = self.f32(dims);
        self.module.add_arg(self.block, ty)
    }

    fn constant(&mut self, tensor: &Tensor) -> Value {
        let op =
            constant::build(&mut self.module, Point::End(self.block), tensor, "w", Loc::UNKNOWN);
        self.module.result(op, 0)
    }

    fn ints(&mut self, list: &[i64]) -> Value {
        self.constant(&Tensor::from_vec([list.len()], list.to_vec()).unwrap())
    }

    fn build(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Op {
        let name = self.context.name(&format!("nn.{name}"));
        let attrs = self.context.dict(attrs.iter().map(|&(n, a)| (self.context.str(n), a)));
        let point = Point::End(self.block);
        self.module.build(point, name, operands, attrs, None, Loc::UNKNOWN).expect("valid operands")
    }

    fn value(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Value {
        let op = self.build(name, operands, attrs);
        self.module.result(op, 0)
    }

    fn finish(&mut self, values: &[Value]) {
        let mut state = OpState::new(self.context.name("func.return"), Loc::UNKNOWN);
        state.operands.extend(values.iter().copied());
        self.module.create_at(Point::End(self.block), state);
    }

    fn i64s(&self, list: &[i64]) -> Attr {
        self.context.i64s_attr(list)
    }

    fn int(&self, n: i64) -> Attr {
        self.context.i64_attr(n)
    }

    fn optimise_with(&mut self, options: &Options, only: &[&str]) -> Vec<String> {
        let mut set = PatternSet::new();
        set.extend(all(&self.context, options));
        let set = set.freeze_filtered(&[], only);
        let root = self.module.root();
        let report = greedy::apply(&mut self.module, root, &set, &GreedyConfig::default());
        assert_eq!((report.stopped_by, report.breaches), (None, vec![]));
        let fired = report.patterns.into_iter().filter(|p| p.hits > 0);
        fired.map(|p| p.name).collect()
    }

    /// Optimises; the outputs on `inputs` have to stay the same bytes.
    fn optimise(&mut self, inputs: &[&Tensor]) -> Vec<String> {
        let inputs: Vec<Datum> = inputs.iter().map(|&t| Datum::Tensor(t.clone())).collect();
        let before = interpret(&self.module, self.op, &inputs).expect("it runs before");
        let fired = self.optimise_with(&Options::default(), &[]);
        let after = interpret(&self.module, self.op, &inputs).expect("it runs afterwards");
        assert!(!before.is_empty() && before == after, "{before:?} became {after:?}");
        fired
    }

    /// Names of the operations but the return, without their dialect.
    fn names(&self) -> Vec<&str> {
        let names = self.module.ops(self.block).map(|op| self.module.name_text(op));
        names.filter_map(|name| name.strip_prefix("nn.")).collect()
    }

    fn only(&self, name: &str) -> Op {
        let named = |op: &Op| self.module.name_text(*op) == format!("nn.{name}");
        self.module.ops(self.block).find(named).expect("an operation of this name")
    }
}

/// Operation, integer list attributes, and whether the operation goes.
type Case = (&'static str, &'static [(&'static str, &'static [i64])], bool);

fn ramp(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    Tensor::from_vec(shape, (0..count).map(|i| i as f32 * 0.5 - 1.0).collect::<Vec<f32>>()).unwrap()
}

#[test]
fn operations_on_constants_are_folded() {
    let mut f = Func::new();
    let x = f.arg("2,3");
    let (a, b) = (f.constant(&ramp(&[2, 3])), f.constant(&ramp(&[3])));
    let sum = f.value("add", &[a, b], &[]);
    let exp = f.value("exp", &[sum], &[]);
    let out = f.value("multiply", &[x, exp], &[]);
    f.finish(&[out]);
    assert_eq!(f.optimise(&[&ramp(&[2, 3])]), ["fold-constants"]);
    assert_eq!(f.names(), ["constant", "multiply"]);
}

#[test]
fn folding_never_blows_a_module_up() {
    let build = |extent: i64| {
        let mut f = Func::new();
        let one = f.constant(&ramp(&[1]));
        let shape = f.i64s(&[extent]);
        let wide = f.value("broadcast_to", &[one], &[("shape", shape)]);
        f.finish(&[wide]);
        f
    };
    let limit = Options { max_growth_bytes: Some(4096), ..Options::default() };
    // 1024 floats replace one: 4092 bytes more.
    assert_eq!(build(1024).optimise_with(&limit, &[]), ["fold-constants"]);
    assert_eq!(build(1026).optimise_with(&limit, &[]), Vec::<String>::new());
    let free = Options { max_growth_bytes: None, ..Options::default() };
    assert_eq!(build(1026).optimise_with(&free, &[]), ["fold-constants"]);
}

#[test]
fn a_shared_operand_does_not_count_as_dying() {
    let build = |shared: bool| {
        let mut f = Func::new();
        let w = f.constant(&ramp(&[1000]));
        let negated = f.value("negative", &[w], &[]);
        f.finish(&[negated, w][..if shared { 2 } else { 1 }]);
        f.optimise_with(&Options { max_growth_bytes: Some(100), ..Options::default() }, &[])
    };
    assert_eq!(build(false), ["fold-constants"]);
    assert_eq!(build(true), Vec::<String>::new());
}

#[test]
fn what_depends_on_static_extents_alone_is_folded() {
    let mut f = Func::new();
    let x = f.arg("N,3,4");
    let shape = f.value("shape_of", &[x], &[]);
    let (one, axis) = (f.constant(&Tensor::scalar(1i64)), f.int(0));
    let channels = f.value("take", &[shape, one], &[("axis", axis)]);
    f.finish(&[channels]);
    let fired = f.optimise(&[&ramp(&[2, 3, 4])]);
    assert_eq!((fired, f.names()), (vec!["fold-shapes".to_owned()], vec!["constant"]));
    let mut f = Func::new();
    let x = f.arg("N,3,4");
    let size = f.value("ndarray_size", &[x], &[]);
    f.finish(&[size]);
    assert_eq!(f.optimise(&[&ramp(&[2, 3, 4])]), Vec::<String>::new());
}

#[test]
fn a_cast_like_needs_only_the_element_type() {
    let mut f = Func::new();
    let (x, y) = (f.arg("N"), f.arg("M,M"));
    let out = f.value("cast_like", &[x, y], &[]);
    f.finish(&[out]);
    let fired = f.optimise(&[&ramp(&[3]), &ramp(&[2, 2])]);
    // The cast to the type that `x` has already goes as well.
    assert_eq!(fired, ["cast-like-to-cast", "remove-identity"]);
    assert!(f.names().is_empty());
}

#[test]
fn a_computed_shape_becomes_zeros_and_a_minus_one() {
    let mut f = Func::new();
    let x = f.arg("B,S,12");
    let shape = f.value("shape_of", &[x], &[]);
    let zero = f.ints(&[0]);
    let axis = f.int(0);
    let batch = f.value("take", &[shape, zero], &[("axis", axis)]);
    let one = f.ints(&[1]);
    let length = f.value("take", &[shape, one], &[("axis", axis)]);
    let heads = f.ints(&[3, 4]);
    let wanted = f.value("concatenate", &[batch, length, heads], &[("axis", axis)]);
    let out = f.value("reshape", &[x, wanted], &[]);
    f.finish(&[out]);
    assert!(f.optimise(&[&ramp(&[2, 5, 12])]).contains(&"static-reshape".to_owned()));
    assert_eq!(f.names(), ["reshape"]);
    let list = f.module.attr(f.only("reshape"), "newshape").and_then(|a| f.context.as_i64s(a));
    assert_eq!(list, Some(vec![0, 0, 3, 4]));
}

#[test]
fn what_is_left_is_written_where_it_is_one_number() {
    let mut f = Func::new();
    let x = f.arg("N,4,16");
    let eights = f.context.i64s_attr(&[-1, 8]);
    let rows = f.value("reshape", &[x], &[("newshape", eights)]);
    let shape = f.value("shape_of", &[x], &[]);
    let (zero, left, axis) = (f.ints(&[0]), f.ints(&[-1]), f.int(0));
    let batch = f.value("take", &[shape, zero], &[("axis", axis)]);
    let wanted = f.value("concatenate", &[batch, left], &[("axis", axis)]);
    let out = f.value("reshape", &[rows, wanted], &[]);
    f.finish(&[out]);
    assert!(f.optimise(&[&ramp(&[3, 4, 16])]).contains(&"static-reshape".to_owned()));
    let last = f.module.value_type(out);
    let (dims, _) = f.context.as_tensor(last).expect("a tensor");
    assert_eq!(dims[1].as_static(), Some(64));
    assert!(!f.names().contains(&"shape_of"), "{:?}", f.names());
}

#[test]
fn a_shape_with_two_open_extents_stays() {
    let mut f = Func::new();
    let (x, y) = (f.arg("N,M"), f.arg("P,Q"));
    let shape = f.value("shape_of", &[y], &[]);
    let out = f.value("reshape", &[x, shape], &[]);
    f.finish(&[out]);
    assert_eq!(f.optimise(&[&ramp(&[2, 6]), &ramp(&[3, 4])]), Vec::<String>::new());
    assert_eq!(f.names(), ["shape_of", "reshape"]);
}

#[test]
fn one_open_extent_is_what_is_left() {
    let mut f = Func::new();
    let (x, y) = (f.arg("N,6"), f.arg("P"));
    let open = f.value("shape_of", &[y], &[]);
    let (four, axis) = (f.ints(&[4]), f.int(0));
    let wanted = f.value("concatenate", &[open, four], &[("axis", axis)]);
    let out = f.value("reshape", &[x, wanted], &[]);
    f.finish(&[out]);
    assert_eq!(f.optimise(&[&ramp(&[2, 6]), &ramp(&[3])]), ["static-reshape"]);
    let list = f.module.attr(f.only("reshape"), "newshape").and_then(|a| f.context.as_i64s(a));
    assert_eq!(list, Some(vec![-1, 4]));
}

#[test]
fn reshaping_and_broadcasting_to_the_own_shape_go() {
    for name in ["reshape", "broadcast_to"] {
        let mut f = Func::new();
        let x = f.arg("N,M");
        let shape = f.value("shape_of", &[x], &[]);
        let out = f.value(name, &[x, shape], &[]);
        let out = f.value("exp", &[out], &[]);
        f.finish(&[out]);
        assert!(f.optimise(&[&ramp(&[2, 3])]).contains(&"remove-identity".to_owned()));
        assert_eq!(f.names(), ["exp"]);
    }
}

#[test]
fn an_unknown_extent_is_no_proof_of_a_shape() {
    let mut f = Func::new();
    let (x, y) = (f.arg("?,?"), f.arg("?,?"));
    let shape = f.value("shape_of", &[y], &[]);
    let out = f.value("reshape", &[x, shape], &[]);
    f.finish(&[out]);
    assert_eq!(f.optimise(&[&ramp(&[2, 3]), &ramp(&[3, 2])]), Vec::<String>::new());
}

#[test]
fn known_operands_become_attributes() {
    let mut f = Func::new();
    let x = f.arg("N,4");
    let (begin, end, axes) = (f.ints(&[1]), f.ints(&[3]), f.ints(&[1]));
    let part = f.value("strided_slice", &[x, begin, end, axes], &[]);
    let axes = f.ints(&[0]);
    let out = f.value("expand_dims", &[part, axes], &[]);
    f.finish(&[out]);
    assert_eq!(f.optimise(&[&ramp(&[2, 4])]), ["static-operands"]);
    assert_eq!(f.names(), ["strided_slice", "expand_dims"]);
    assert_eq!(f.module.operand_count(f.only("strided_slice")), 1);
}

#[test]
fn identities_go_and_their_likes_stay() {
    let cases: &[Case] = &[
        ("transpose", &[("axes", &[0, 1])], true),
        ("transpose", &[("axes", &[1, 0])], false),
        ("pad", &[("pad_width", &[0, 0, 0, 0])], true),
        ("pad", &[("pad_width", &[0, 1, 0, -1])], false),
        ("strided_slice", &[("begin", &[0]), ("end", &[i64::MAX])], true),
        ("strided_slice", &[("begin", &[1]), ("end", &[i64::MAX])], false),
        ("strided_slice", &[("begin", &[-1]), ("end", &[i64::MIN]), ("strides", &[-1])], false),
        ("sum", &[("axis", &[0])], true),
        ("sum", &[("axis", &[1])], false),
        ("reduce_l2", &[("axis", &[0])], false),
        ("tile", &[("reps", &[1, 1])], true),
        ("identity", &[], true),
        ("dropout", &[], true),
        // It still makes infinities finite.
        ("clip", &[], false),
    ];
    for (name, attrs, goes) in cases {
        let mut f = Func::new();
        let x = f.arg("1,4");
        let attrs: Vec<_> = attrs.iter().map(|&(name, list)| (name, f.i64s(list))).collect();
        let out = f.value(name, &[x], &attrs);
        f.finish(&[out]);
        f.optimise(&[&ramp(&[1, 4])]);
        assert_eq!(f.names().is_empty(), *goes, "{name} {attrs:?}");
    }
}

#[test]
fn neutral_elements_go_unless_they_enlarge() {
    let splat =
        |shape: &[usize], x: f32| Tensor::from_vec(shape, vec![x; shape.iter().product()]).unwrap();
    let cases = [
        ("add", splat(&[], 0.0), "?,4", false, true),
        ("add", splat(&[1, 1], 0.0), "N,4", true, true),
        ("add", splat(&[2, 1], 0.0), "?,4", false, false),
        ("add", splat(&[2, 1, 1], 0.0), "N,4", false, false),
        ("multiply", splat(&[4], 1.0), "N,4", true, true),
        ("multiply", splat(&[4], 0.0), "N,4", true, false),
        ("divide", splat(&[], 1.0), "N,4", false, true),
        ("divide", splat(&[], 1.0), "N,4", true, false),
        ("subtract", ramp(&[4]), "N,4", false, false),
    ];
    for (name, tensor, dims, left, goes) in cases {
        let mut f = Func::new();
        let x = f.arg(dims);
        let neutral = f.constant(&tensor);
        let operands = if left { [neutral, x] } else { [x, neutral] };
        let out = f.value(name, &operands, &[]);
        f.finish(&[out]);
        f.optimise(&[&ramp(&[2, 4])]);
        assert_eq!(f.names().is_empty(), goes, "{name} {tensor:?} {dims} {left}");
    }
}

#[test]
fn better_operand_types_flow_to_their_users() {
    let mut f = Func::new();
    let x = f.arg("?,4");
    let a = f.value("exp", &[x], &[]);
    let b = f.value("sqrt", &[a], &[]);
    f.finish(&[b]);
    let better = f.f32("2,4");
    f.module.set_value_type(x, better);
    assert_eq!(f.optimise_with(&Options::default(), &["refine-types"]), ["refine-types"]);
    assert_eq!([a, b].map(|v| f.module.value_type(v)), [better, better]);
    // A type that inference contradicts, or knows less of, stays as it is.
    let worse = f.f32("?,4");
    f.module.set_value_type(x, worse);
    assert_eq!(f.optimise_with(&Options::default(), &["refine-types"]), Vec::<String>::new());
    assert_eq!(f.module.value_type(b), better);
}

#[test]
fn what_a_loop_hands_on_unchanged_is_what_went_in() {
    let mut f = Func::new();
    let (x, weight) = (f.arg("4"), f.constant(&Tensor::vector(vec![2.0_f32; 4])));
    let steps = f.constant(&Tensor::scalar(3_i64));
    let yes = f.constant(&Tensor::scalar(true));
    let mut state = OpState::new(f.context.name("nn.loop"), Loc::UNKNOWN);
    state.operands.extend([steps, yes, x, weight]);
    state.results.extend([f.f32("4"), f.f32("4")]);
    state.regions = 1;
    let repeat = f.module.create_at(Point::End(f.block), state);
    let outer = f.block;
    let region = f.module.region(repeat, 0);
    f.block = f.module.add_block(region);
    let body = f.block;
    let types = [steps, yes, x, weight].map(|value| f.module.value_type(value));
    let [_, goes_on, sum, carried] = types.map(|ty| f.module.add_arg(body, ty));
    let next = f.build("add", &[sum, carried], &[]);
    let next = f.module.result(next, 0);
    let mut end = OpState::new(f.context.name("nn.yield"), Loc::UNKNOWN);
    end.operands.extend([goes_on, next, carried]);
    f.module.create_at(Point::End(body), end);
    f.block = outer;
    let results: Vec<Value> = f.module.results(repeat).collect();
    f.finish(&results);
    let fired = f.optimise(&[&Tensor::vector(vec![1.0_f32, 2.0, 3.0, 4.0])]);
    assert!(fired.contains(&"loop-invariant".to_owned()), "{fired:?}");
    assert_eq!(f.module.uses(carried).count(), 1, "only the end of the body has the state");
}

/// `if extent(x, 1) == 1 then squeeze(x, dropped) else x` for `x` of `extents`, with a result of type
/// `of`; the whole function.
fn squeezing_if(extents: &str, dropped: i64, of: impl Fn(&Func) -> Type) -> Func {
    let mut f = Func::new();
    let x = f.arg(extents);
    let (place, one) = (f.ints(&[1]), f.ints(&[1]));
    let shape = f.value("shape_of", &[x], &[]);
    let zero = f.int(0);
    let extent = f.value("take", &[shape, place], &[("axis", zero)]);
    let condition = f.value("equal", &[extent, one], &[]);
    let mut state = OpState::new(f.context.name("nn.if"), Loc::UNKNOWN);
    state.operands.push(condition);
    state.results.push(of(&f));
    state.regions = 2;
    let op = f.module.create_at(Point::End(f.block), state);
    let (around, axis) = (f.block, f.i64s(&[dropped]));
    for (i, name) in ["squeeze", "negative"].into_iter().enumerate() {
        let region = f.module.region(op, i);
        f.block = f.module.add_block(region);
        let attrs = [("axis", axis)];
        let value = f.value(name, &[x], if i == 0 { &attrs } else { &[] });
        let mut state = OpState::new(f.context.name("nn.yield"), Loc::UNKNOWN);
        state.operands.push(value);
        f.module.create_at(Point::End(f.block), state);
    }
    f.block = around;
    let result = f.module.result(op, 0);
    let out = f.value("exp", &[result], &[]);
    f.finish(&[out]);
    f
}

#[test]
fn a_branch_that_drops_an_extent_of_one_is_taken_where_the_rank_is_known() {
    let ranked = |dims: &'static str| move |f: &Func| f.f32(dims);
    for of in [ranked("?"), ranked("n")] {
        let mut f = squeezing_if("n,m", 1, of);
        let fired = f.optimise(&[&ramp(&[3, 1])]);
        assert!(fired.iter().any(|name| name == "inline-squeezing-if"), "{fired:?}");
        assert_eq!(f.names(), ["squeeze", "exp"]);
        // With another extent it is refused as before.
        let wide = [Datum::Tensor(ramp(&[3, 2]))];
        assert!(interpret(&f.module, f.op, &wide).is_err());
    }
}

#[test]
fn a_branch_whose_squeeze_does_not_check_the_condition_stays() {
    let open = |f: &Func| {
        let element = f.context.float_type(FloatKind::F32);
        f.context.ty(tangram_ir::TypeData::UnrankedTensor(element))
    };
    // The rank is open; the extent that is dropped is another one.
    let mut unknown = squeezing_if("n,m", 1, open);
    let mut other = squeezing_if("n,m", 0, |f: &Func| f.f32("?"));
    for f in [&mut unknown, &mut other] {
        f.optimise(&[&ramp(&[1, 1])]);
        assert!(f.names().contains(&"if"), "{:?}", f.names());
    }
}
