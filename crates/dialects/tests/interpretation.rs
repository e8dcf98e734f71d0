//! Control flow, run by the interpreter, against sums worked out by hand.

use std::sync::Arc;

use tangram_dialects::interpret::{Datum, InterpretError, interpret};
use tangram_dialects::{constant, context};
use tangram_ir::{Attr, Block, Context, Loc, Module, Op, OpState, Point, Type, Value};
use tangram_tensor::Tensor;

struct Func {
    context: Arc<Context>,
    module: Module,
    op: Op,
    block: Block,
    i64: Type,
    bool: Type,
}

impl Func {
    fn new() -> Func {
        let context = context();
        let mut module = Module::new(context.clone());
        let (i64, bool) = (context.int_type(64), context.int_type(1));
        let (i64, bool) = (context.tensor_type(&[], i64), context.tensor_type(&[], bool));
        let body = module.body();
        let mut state = OpState::new(context.name("func.func"), Loc::UNKNOWN);
        state.regions = 1;
        let op = module.create_at(Point::End(body), state);
        let region = module.region(op, 0);
        let block = module.add_block(region);
        Func { context, module, op, block, i64, bool }
    }

    fn op(
        &mut self,
        block: Block,
        name: &str,
        operands: &[Value],
        results: &[Type],
        regions: u32,
    ) -> Op {
        let mut state = OpState::new(self.context.name(name), Loc::UNKNOWN);
        state.operands.extend(operands.iter().copied());
        state.results.extend(results.iter().copied());
        state.regions = regions;
        self.module.create_at(Point::End(block), state)
    }

    fn add(&mut self, block: Block, a: Value, b: Value) -> Value {
        let op = self.op(block, "nn.add", &[a, b], &[self.i64], 0);
        self.module.result(op, 0)
    }

    fn constant(&mut self, block: Block, n: i64) -> Value {
        let tensor = Tensor::scalar(n);
        let op = constant::build(&mut self.module, Point::End(block), &tensor, "n", Loc::UNKNOWN);
        self.module.result(op, 0)
    }

    fn body(&mut self, op: Op, i: usize, args: &[Type]) -> (Block, Vec<Value>) {
        let region = self.module.region(op, i);
        let block = self.module.add_block(region);
        let values = args.iter().map(|&ty| self.module.add_arg(block, ty)).collect();
        (block, values)
    }

    fn finish(&mut self, op: Op) {
        let values: Vec<Value> = self.module.results(op).collect();
        self.op(self.block, "func.return", &values, &[], 0);
    }

    fn run(&self, inputs: &[Datum]) -> Vec<Vec<i64>> {
        let outputs = interpret(&self.module, self.op, inputs).expect("it runs");
        let ints = |datum: Datum| match datum {
            Datum::Tensor(tensor) => tensor.i64s().expect("integers"),
            other => panic!("{other:?} is no tensor"),
        };
        outputs.into_iter().map(ints).collect()
    }
}

fn scalar(n: i64) -> Datum {
    Datum::Tensor(Tensor::scalar(n))
}

#[test]
fn a_condition_chooses_a_region_that_sees_what_is_around() {
    let mut f = Func::new();
    let (condition, x) = {
        let (b, i) = (f.bool, f.i64);
        (f.module.add_arg(f.block, b), f.module.add_arg(f.block, i))
    };
    let branch = f.op(f.block, "nn.if", &[condition], &[f.i64], 2);
    for (i, n) in [10, 20].into_iter().enumerate() {
        let (block, _) = f.body(branch, i, &[]);
        let n = f.constant(block, n);
        let sum = f.add(block, x, n);
        f.op(block, "nn.yield", &[sum], &[], 0);
    }
    f.finish(branch);
    let run = |flag: bool| f.run(&[Datum::Tensor(Tensor::scalar(flag)), scalar(1)]);
    assert_eq!((run(true), run(false)), (vec![vec![11]], vec![vec![21]]));
}

#[test]
fn a_loop_carries_values_and_collects_others() {
    let mut f = Func::new();
    let (i64, bool) = (f.i64, f.bool);
    let [count, start] = [f.module.add_arg(f.block, i64), f.module.add_arg(f.block, i64)];
    let none = {
        let ty = f.context.ty(tangram_ir::TypeData::None);
        let op = f.op(f.block, "nn.none", &[], &[ty], 0);
        f.module.result(op, 0)
    };
    let list = f.context.tensor_type(&[tangram_ir::Dim::UNKNOWN], f.context.int_type(64));
    let repeat = f.op(f.block, "nn.loop", &[count, none, start], &[i64, list], 1);
    let (block, args) = f.body(repeat, 0, &[i64, bool, i64]);
    let sum = f.add(block, args[2], args[0]);
    f.op(block, "nn.yield", &[args[1], sum, args[2]], &[], 0);
    f.finish(repeat);
    // 5, 5+0, 5+0+1, 5+0+1+2: what is collected is the value before each step.
    assert_eq!(f.run(&[scalar(3), scalar(5)]), [vec![8], vec![5, 5, 6]]);
    assert_eq!(f.run(&[scalar(0), scalar(5)]), [vec![5], vec![]]);
}

#[test]
fn a_scan_goes_through_slices() {
    let mut f = Func::new();
    let i64 = f.i64;
    let list = f.context.tensor_type(&[tangram_ir::Dim::UNKNOWN], f.context.int_type(64));
    let [start, items] = [f.module.add_arg(f.block, i64), f.module.add_arg(f.block, list)];
    let scan = f.op(f.block, "nn.scan", &[start, items], &[i64, list], 1);
    let one: Attr = f.context.i64_attr(1);
    f.module.set_attr(scan, f.context.str("num_scan_inputs"), Some(one));
    let (block, args) = f.body(scan, 0, &[i64, i64]);
    let sum = f.add(block, args[0], args[1]);
    f.op(block, "nn.yield", &[sum, sum], &[], 0);
    f.finish(scan);
    let items = || Datum::Tensor(Tensor::from_vec([3], vec![1i64, 2, 4]).expect("three"));
    assert_eq!(f.run(&[scalar(10), items()]), [vec![17], vec![11, 13, 17]]);
    let backwards = f.context.i64s_attr(&[1]);
    f.module.set_attr(scan, f.context.str("scan_input_directions"), Some(backwards));
    assert_eq!(f.run(&[scalar(10), items()]), [vec![17], vec![14, 16, 17]]);
}

#[test]
fn what_cannot_be_run_is_named() {
    let mut f = Func::new();
    let i64 = f.i64;
    let unknown = f.op(f.block, "acme.mystery", &[], &[i64], 0);
    f.finish(unknown);
    let error = interpret(&f.module, f.op, &[]).expect_err("nobody knows the operation");
    assert!(
        matches!(&error, InterpretError::Operation { operation, .. } if operation == "acme.mystery")
    );
    let error = interpret(&f.module, f.op, &[scalar(1)]).expect_err("too many arguments");
    assert!(matches!(error, InterpretError::Arguments { expected: 0, found: 1 }));
}
