//! What the interpreter finds wrong in definitions.

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{
    Access, Binary, Generic, InterpretError, Number, Reduction, Structured, Temporary, TensorId,
    interpret,
};
use tangram_tensor::{DType, Tensor};

/// `y[i] = x[map(i)]` over `count` iterations, for a `x` of four elements.
fn copy(count: i64, from: &str, to: &str, outside: Option<Number>) -> Generic {
    let mut generic = Generic::over([Expr::int(count)]);
    let access = Access::new(TensorId::Operand(0), from.parse().unwrap());
    let x = generic.read(Access { outside, ..access });
    generic.write(Access::new(TensorId::Result(0), to.parse().unwrap()));
    let value = generic.body.input(x);
    generic.body.result(value);
    generic
}

fn run(stages: Vec<Generic>, temporaries: Vec<Temporary>) -> Result<Vec<Tensor>, InterpretError> {
    let x = Tensor::vector(vec![1.0f32, 2.0, 3.0, 4.0]);
    let y = Temporary { element: DType::F32, extents: vec![Expr::symbol("n")] };
    let definition = Structured::Loops { temporaries, stages, recurrent: Vec::new() };
    interpret(&definition, &[Some(x)], &[y], &|name| (name == "n").then_some(4))
}

#[test]
fn a_right_definition_runs() {
    let whole = run(vec![copy(4, "(i) -> (3 - i)", "(i) -> (i)", None)], vec![]).unwrap();
    assert_eq!(whole[0].to_vec::<f32>().unwrap(), [4.0, 3.0, 2.0, 1.0]);
    let parts = [copy(2, "(i) -> (i)", "(i) -> (i + 2)", None), {
        let nine = Number::Float(DType::F32, 9.0);
        copy(2, "(i) -> (i - 1)", "(i) -> (i)", Some(nine))
    }];
    let joined = run(parts.to_vec(), vec![]).unwrap();
    assert_eq!(joined[0].to_vec::<f32>().unwrap(), [9.0, 1.0, 1.0, 2.0]);
}

#[test]
fn an_access_stays_within_its_tensor() {
    let found = run(vec![copy(4, "(i) -> (i + 1)", "(i) -> (i)", None)], vec![]);
    let Err(InterpretError::Outside { place, index, .. }) = found else { panic!("{found:?}") };
    assert_eq!((place, index), (TensorId::Operand(0), vec![4]));
    let found = run(vec![copy(4, "(i) -> (i)", "(i) -> (i - 1)", None)], vec![]);
    let Err(InterpretError::Outside { place, index, .. }) = found else { panic!("{found:?}") };
    assert_eq!((place, index), (TensorId::Result(0), vec![-1]));
}

#[test]
fn every_element_is_written_once() {
    let found = run(vec![copy(3, "(i) -> (i)", "(i) -> (i)", None)], vec![]);
    assert!(matches!(found, Err(InterpretError::Unwritten(TensorId::Result(0)))), "{found:?}");
    let found = run(vec![copy(4, "(i) -> (i)", "(i) -> (i floordiv 2)", None)], vec![]);
    assert!(matches!(found, Err(InterpretError::Twice(TensorId::Result(0)))), "{found:?}");
}

#[test]
fn nothing_is_read_before_it_is_written() {
    let mut generic = copy(4, "(i) -> (i)", "(i) -> (i)", None);
    generic.inputs[0].place = TensorId::Temporary(0);
    let ty = Temporary { element: DType::F32, extents: vec![Expr::int(4)] };
    let found = run(vec![generic.clone()], vec![ty]);
    assert!(matches!(found, Err(InterpretError::Unwritten(TensorId::Temporary(0)))), "{found:?}");
    let found = run(vec![generic], vec![]);
    assert!(matches!(found, Err(InterpretError::Absent(TensorId::Temporary(0)))), "{found:?}");
}

#[test]
fn malformed_definitions_are_refused() {
    let types = |place| match place {
        TensorId::Operand(0) | TensorId::Result(0) => Some((DType::F32, 1)),
        _ => None,
    };
    let refused = |generic: Generic| {
        assert!(!Structured::one(generic.clone()).is_well_formed(&types), "{generic:?}");
        assert!(run(vec![generic.clone()], vec![]).is_err(), "{generic:?}");
    };
    let right = copy(4, "(i) -> (i)", "(i) -> (i)", None);
    assert!(Structured::one(right.clone()).is_well_formed(&types));
    refused(copy(4, "(i) -> (i, i)", "(i) -> (i)", None));
    refused(copy(4, "(i, j) -> (i)", "(i) -> (i)", None));
    refused(copy(4, "(i)[s] -> (s)", "(i) -> (i)", None));
    refused(Generic { body: Default::default(), ..right.clone() });
    let mut mixed = right.clone();
    let flag = mixed.body.constant(Number::Int(DType::Bool, 1));
    let sum = mixed.body.binary(Binary::Add, flag, flag);
    mixed.body.result(sum);
    refused(mixed);
    let mut sums = right;
    sums.reduce(0, Reduction::sum(DType::F64));
    refused(sums);
}
