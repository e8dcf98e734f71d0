//! Conversions against `mlir-runner` 22: the converted program gives what the loops mean.

#[path = "../../ir/tests/peer/mod.rs"]
mod peer;

use tangram_dialects::conversion::{index_to_i64, scf_to_cf};
use tangram_ir::{Module, text, verify};
use tangram_rewrite::Silent;

/// The sum over i < 10, step 2, of: i * i if i > 4, else the number of halvings of 100 + i.
const PROGRAM: &str = r#"
"func.func"() <{function_type = () -> i32, sym_name = "main"}> ({
  %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
  %c2 = "arith.constant"() <{value = 2 : index}> : () -> index
  %c4 = "arith.constant"() <{value = 4 : index}> : () -> index
  %c10 = "arith.constant"() <{value = 10 : index}> : () -> index
  %c100 = "arith.constant"() <{value = 100 : index}> : () -> index
  %sum = "scf.for"(%c0, %c10, %c2, %c0) ({
  ^bb0(%i: index, %acc: index):
    %big = "arith.cmpi"(%i, %c4) <{predicate = 4 : i64}> : (index, index) -> i1
    %term = "scf.if"(%big) ({
      %square = "arith.muli"(%i, %i) : (index, index) -> index
      "scf.yield"(%square) : (index) -> ()
    }, {
      %start = "arith.addi"(%i, %c100) : (index, index) -> index
      %n, %count = "scf.while"(%start, %c0) ({
      ^bb0(%x: index, %k: index):
        %more = "arith.cmpi"(%x, %c0) <{predicate = 4 : i64}> : (index, index) -> i1
        "scf.condition"(%more, %x, %k) : (i1, index, index) -> ()
      }, {
      ^bb0(%x: index, %k: index):
        %half = "arith.divui"(%x, %c2) : (index, index) -> index
        %next = "arith.addi"(%k, %c1) : (index, index) -> index
        "scf.yield"(%half, %next) : (index, index) -> ()
      }) : (index, index) -> (index, index)
      "scf.yield"(%count) : (index) -> ()
    }) : (i1) -> index
    %new = "arith.addi"(%acc, %term) : (index, index) -> index
    "scf.yield"(%new) : (index) -> ()
  }) : (index, index, index, index) -> index
  %out = "arith.index_cast"(%sum) : (index) -> i32
  "func.return"(%out) : (i32) -> ()
}) : () -> ()"#;

fn expected() -> i32 {
    let halvings = |x: i32| 32 - x.leading_zeros() as i32;
    (0..10).step_by(2).map(|i| if i > 4 { i * i } else { halvings(100 + i) }).sum()
}

fn converted() -> Module {
    let mut module = text::parse(PROGRAM, "test", tangram_dialects::context()).expect("a program");
    let root = module.root();
    let context = module.context_arc().clone();
    let branches = scf_to_cf::conversion(&context);
    branches.run(&mut module, root, &mut Silent).expect("no scf is left");
    verify(&module).expect("valid with blocks");
    let integers = index_to_i64::conversion(&context);
    integers.run(&mut module, root, &mut Silent).expect("no index is left");
    verify(&module).expect("valid with i64");
    module
}

#[test]
fn nothing_is_left_of_what_was_converted() {
    let text = text::print(&converted());
    for word in ["scf.", "index", "unrealized"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// What the program `name` says; `None` if it is not installed.
fn pipe(name: &str, arguments: &[&str], input: &str) -> Option<String> {
    let said = peer::ask(name, arguments, input)?;
    Some(said.unwrap_or_else(|error| panic!("{error}\n{input}")))
}

#[test]
fn the_converted_program_gives_the_same_number() {
    const TO_LLVM: &str = "--pass-pipeline=builtin.module(convert-cf-to-llvm,\
                           convert-arith-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)";
    const RUNNER: &str = "/usr/lib/llvm-22/bin/mlir-runner";
    let text = text::print(&converted());
    let arguments = ["-e", "main", "-entry-point-result=i32"];
    let result = pipe("mlir-opt-22", &[TO_LLVM], &text)
        .and_then(|lowered| pipe(RUNNER, &arguments, &lowered));
    match result {
        None => println!("skipped: needs mlir-opt-22 and mlir-runner"),
        Some(number) => assert_eq!(number.trim(), expected().to_string()),
    }
}
