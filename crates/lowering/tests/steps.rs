//! Functions whose sets and schedules may take only so many steps: all run, and say what is not compiled.

use tangram_ir::text;
use tangram_lowering::{Options, Program, ProgramStep, Reason, lower};

/// An elementwise function of a transposed operand: its loops have an order to choose.
const SOURCE: &str = r#"
"func.func"() <{sym_name = "f",
    function_type = (tensor<64x32xi64>, tensor<32x64xi64>) -> tensor<32x64xi64>}> ({
^bb0(%x: tensor<64x32xi64>, %y: tensor<32x64xi64>):
  %0 = "nn.transpose"(%x) {axes = [1, 0]} : (tensor<64x32xi64>) -> tensor<32x64xi64>
  %1 = "nn.add"(%0, %y) : (tensor<32x64xi64>, tensor<32x64xi64>) -> tensor<32x64xi64>
  "func.return"(%1) : (tensor<32x64xi64>) -> ()
}) : () -> ()"#;

fn within(steps: u64) -> Program {
    let module = text::parse(SOURCE, "f.mlir", tangram_dialects::context()).expect("a program");
    let function = module.first_op(module.body()).expect("a function");
    let mut options = Options::default();
    options.steps = steps;
    lower(&module, function, &options).expect("a function with a body")
}

fn is_compiled(program: &Program) -> bool {
    program.steps.iter().all(|step| matches!(step, ProgramStep::Call(_)))
}

#[test]
fn every_number_of_steps_gives_a_program_that_says_what_is_not_compiled() {
    for exponent in 0..26 {
        let program = within(1 << exponent);
        for step in &program.steps {
            let ProgramStep::Reference(op) = step else { continue };
            let reason = program.reasons.get(op);
            assert!(matches!(reason, Some(Reason::Order(_))), "{exponent}: {reason:?}");
        }
    }
    assert!(!is_compiled(&within(1)) && is_compiled(&within(1 << 26)));
}

#[test]
fn a_schedule_that_takes_too_long_leaves_the_order_of_the_definition() {
    let best = within(1 << 26);
    let sources: Vec<Program> = (0..26).map(|exponent| within(1 << exponent)).collect();
    let plain = sources.iter().filter(|program| is_compiled(program));
    assert!(plain.clone().count() > 1);
    let first = plain.clone().next().expect("one is compiled");
    assert!(first.source != best.source, "the least steps that compile it do not schedule it");
}
