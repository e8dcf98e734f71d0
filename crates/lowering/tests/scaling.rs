//! Which scales move behind products.

use tangram_lowering::{Options, lower};

/// How many buffers the parts of calls have for themselves, with sums in any order and in that of the
/// definition; of a softmax, what is between its stages.
fn scratch(body: &str, result: &str) -> [usize; 2] {
    let source = format!(
        "\"func.func\"() <{{sym_name = \"f\",
            function_type = (tensor<4x32x48xf32>, tensor<4x48x16xf32>) -> {result}}}> ({{
        ^bb0(%x: tensor<4x32x48xf32>, %v: tensor<4x48x16xf32>):
        {body}
        }}) : () -> ()"
    );
    let module = tangram_ir::text::parse(&source, "f.mlir", tangram_dialects::context())
        .expect("a right program");
    let function = module.first_op(module.body()).expect("a function");
    [false, true].map(|exact| {
        let mut options = Options::default();
        options.exact = exact;
        let program = lower(&module, function, &options).expect("it is lowered");
        program.buffers.iter().filter(|buffer| buffer.per_part).count()
    })
}

const PRODUCT: &str = "\"nn.matmul\"(%p, %v) : (tensor<4x32x48xf32>, tensor<4x48x16xf32>)
    -> tensor<4x32x16xf32>";

/// One over the sum multiplies the rows of the result: the normalised row needs no memory.
#[test]
fn rows_of_a_softmax_are_scaled_behind_the_product() {
    let body = format!(
        "%p = \"nn.softmax\"(%x) : (tensor<4x32x48xf32>) -> tensor<4x32x48xf32>
        %y = {PRODUCT}
        \"func.return\"(%y) : (tensor<4x32x16xf32>) -> ()"
    );
    let [free, exact] = scratch(&body, "tensor<4x32x16xf32>");
    assert_eq!(free + 1, exact);
}

/// What is read elsewhere has to be there.
#[test]
fn a_softmax_that_is_a_result_is_computed() {
    let body = format!(
        "%p = \"nn.softmax\"(%x) : (tensor<4x32x48xf32>) -> tensor<4x32x48xf32>
        %y = {PRODUCT}
        \"func.return\"(%y, %p) : (tensor<4x32x16xf32>, tensor<4x32x48xf32>) -> ()"
    );
    let [free, exact] = scratch(&body, "(tensor<4x32x16xf32>, tensor<4x32x48xf32>)");
    assert_eq!(free, exact);
}
