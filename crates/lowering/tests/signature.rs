//! The function that nests are written in has the types of its arguments and results.

use std::time::Duration;

use tangram_ir::{AttrData, Module, TypeData, text};
use tangram_lowering::{Options, Watch, lower_watched};

/// Extents that are not known to be equal, and are taken to be.
const SOURCE: &str = r#"
"func.func"() <{sym_name = "f", function_type = (tensor<?x4xf32, ["n", ""]>,
    tensor<?x4xf32, ["m", ""]>) -> tensor<?x4xf32>}> ({
^bb0(%x: tensor<?x4xf32, ["n", ""]>, %y: tensor<?x4xf32, ["m", ""]>):
  %0 = "nn.add"(%x, %y)
    : (tensor<?x4xf32, ["n", ""]>, tensor<?x4xf32, ["m", ""]>) -> tensor<?x4xf32>
  "func.return"(%0) : (tensor<?x4xf32>) -> ()
}) : () -> ()"#;

struct First(Option<Module>);

impl Watch for First {
    fn wants(&self, _: &str) -> bool {
        true
    }

    fn after(&mut self, _: &'static str, _: Duration, program: Option<&Module>) -> bool {
        self.0 = program.cloned();
        false
    }
}

#[test]
fn a_function_returns_what_its_type_says() {
    let module = text::parse(SOURCE, "f.mlir", tangram_dialects::context()).expect("a program");
    let function = module.first_op(module.body()).expect("a function");
    let mut first = First(None);
    lower_watched(&module, function, &Options::default(), &mut first).expect("nests");
    let program = first.0.expect("a program");
    let block = program.first_block(program.region(function, 0)).expect("a block");
    let end = program.last_op(block).expect("a return");
    let ty = program.attr(function, "function_type").expect("a type");
    let AttrData::Type(ty) = *program.context().attr_data(ty) else { panic!("no type") };
    let TypeData::Function { results, .. } = program.context().type_data(ty) else {
        panic!("no function")
    };
    let returned: Vec<_> = program.operands(end).map(|value| program.value_type(value)).collect();
    assert_eq!(&results[..], returned);
    // The extent of the result is known by then.
    assert!(text::print(&program).contains(r#"-> tensor<?x4xf32, ["n", ""]>"#));
}
