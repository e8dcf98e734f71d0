//! Where `mlir-opt` is installed, passes leave what it leaves: character by character, on programs
//! that were written for it and on all combinations of operands of operations on numbers.

mod support;

use std::fmt::Write as _;

use support::beside::{both, same};
use support::{parse, pass};
use tangram_ir::{Module, text};

#[test]
fn constants_go_through_private_functions() {
    let source = "
func.func private @only(%x: i32) -> i32 {
  return %x : i32
}
func.func @u() -> i32 {
  %c = arith.constant 4 : i32
  %0 = call @only(%c) : (i32) -> i32
  %1 = arith.addi %0, %c : i32
  return %1 : i32
}";
    same("builtin.module(sccp)", source, &["arith.addi"]);
    // Called with two constants, from a block that is never reached, and seen from outside.
    let source = "
func.func private @two(%x: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  return %c7 : i32
}
func.func @f(%c: i1) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = call @two(%c1) : (i32) -> i32
  %1 = call @two(%c2) : (i32) -> i32
  %2 = call @seen(%c2) : (i32) -> i32
  return %0, %2 : i32, i32
}
func.func @seen(%x: i32) -> i32 {
  return %x : i32
}";
    same("builtin.module(sccp)", source, &[]);
    // A function that is named otherwise than by calls may be called from anywhere.
    let source = "
func.func private @named(%x: i32) -> i32 {
  return %x : i32
}
func.func @g() -> (i32, (i32) -> i32) {
  %c = arith.constant 4 : i32
  %0 = call @named(%c) : (i32) -> i32
  %f = constant @named : (i32) -> i32
  return %0, %f : i32, (i32) -> i32
}";
    let (ours, theirs) = both("builtin.module(sccp)", source);
    let constants = |module: &Module| text::print(module).matches("arith.constant").count();
    assert_eq!(constants(&ours), 1);
    assert!(theirs.is_none_or(|theirs| constants(&theirs) == 1));
}

#[test]
fn commuted_operands_and_equal_regions_are_merged() {
    let source = "
func.func @f(%x: i32, %y: i32, %c: i1, %n: index) -> (i32, i32, i32, i32, i32, i32) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %y, %x : i32
  %d = arith.subi %x, %y : i32
  %e = arith.subi %y, %x : i32
  %f = scf.if %c -> i32 {
    %s = arith.muli %x, %y : i32
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  %g = scf.if %c -> i32 {
    %s = arith.muli %x, %y : i32
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  return %a, %b, %d, %e, %f, %g : i32, i32, i32, i32, i32, i32
}";
    // Operands may be exchanged inside as well, which `mlir-opt` does not see.
    let exchanged = source.replacen("muli %x, %y", "muli %y, %x", 1);
    for source in [source, &exchanged] {
        let mut ours = parse(source);
        pass(&mut ours, "builtin.module(func.func(cse))");
        let text = text::print(&ours);
        let count = |name: &str| text.matches(name).count();
        assert_eq!(
            (count("arith.addi"), count("arith.subi"), count("scf.if")),
            (1, 2, 1),
            "{text}"
        );
    }
    same("builtin.module(func.func(cse))", source, &[]);
    // What a region reads or changes is not merged, and other regions are not equal.
    let source = "
func.func @g(%x: i32, %c: i1, %m: memref<4xi32>, %i: index) -> (i32, i32, i32, i32) {
  %f = scf.if %c -> i32 {
    %s = memref.load %m[%i] : memref<4xi32>
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  memref.store %x, %m[%i] : memref<4xi32>
  %g = scf.if %c -> i32 {
    %s = memref.load %m[%i] : memref<4xi32>
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  %h = scf.if %c -> i32 {
    %s = arith.addi %x, %x : i32
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  %k = scf.if %c -> i32 {
    scf.yield %x : i32
  } else {
    %s = arith.addi %x, %x : i32
    scf.yield %s : i32
  }
  return %f, %g, %h, %k : i32, i32, i32, i32
}";
    same("builtin.module(func.func(cse))", source, &[]);
}

#[test]
fn symbols_go_in_modules_inside() {
    let source = "
module {
  func.func private @dead() { return }
  module @nest {
    func.func private @other() { return }
    func.func @pub() { return }
  }
  module {
    func.func private @anon() { return }
    func.func private @needed() { return }
    func.func @user() {
      call @needed() : () -> ()
      return
    }
  }
  module attributes {sym_name = \"hidden\", sym_visibility = \"private\"} {
    func.func @pub() { return }
  }
}";
    same("builtin.module(symbol-dce)", source, &["@dead", "other", "anon", "hidden"]);
}

#[test]
fn what_is_inlined_is_simplified() {
    let source = "
func.func private @add(%x: i32, %y: i32) -> i32 {
  %z = arith.addi %x, %y : i32
  return %z : i32
}
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = call @add(%x, %c0) : (i32, i32) -> i32
  return %0 : i32
}";
    same("builtin.module(inline)", source, &["arith.addi"]);
    same("builtin.module(inline{default-pipeline=})", source, &["func.call"]);
    same("builtin.module(inline{inlining-threshold=10})", source, &[]);
    same("builtin.module(inline{inlining-threshold=100})", source, &["func.call"]);
}

const INTEGERS: &[&str] = &[
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "remsi",
    "remui",
    "andi",
    "ori",
    "xori",
    "maxsi",
    "maxui",
    "minsi",
    "minui",
];
const FLOATS: &[&str] =
    &["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"];
const EXTENDED: &[(&str, &str)] =
    &[("addui_extended", "i1"), ("mulsi_extended", "i32"), ("mului_extended", "i32")];

/// Each operand of a kind, as text of its definition.
fn operand(ty: &str, which: &str, name: &str) -> String {
    match which {
        "poison" => format!("  %{name} = ub.poison : {ty}\n"),
        "" => String::new(),
        value => format!("  %{name} = arith.constant {value} : {ty}\n"),
    }
}

/// All operations with all pairs of operands, one function each.
fn combinations() -> Vec<(String, String)> {
    let whole = ["", "poison", "0", "1", "-1", "7", "-2147483648"];
    let real = [
        "",
        "poison",
        "0.0",
        "-0.0",
        "1.0",
        "0x7FC00000",
        "0xFFC00001",
        "0x7F800000",
        "0xFF800000",
    ];
    let mut all = Vec::new();
    let mut add = |op: &str, operands: (&str, &str), ty: &str, results: &str, body: &str| {
        let mut text = String::new();
        let name = format!("f{}", all.len());
        let _ = writeln!(text, "func.func @{name}(%x: {ty}, %y: {ty}) -> ({results}) {{");
        text += &operand(ty, operands.0, "a");
        text += &operand(ty, operands.1, "b");
        let _ = writeln!(text, "{body}\n}}");
        all.push((format!("{op} of `{}` and `{}`", operands.0, operands.1), text));
    };
    let named = |a: &str, b: &str| {
        (if a.is_empty() { "%x" } else { "%a" }, if b.is_empty() { "%y" } else { "%b" })
    };
    for (ops, ty, values) in [(INTEGERS, "i32", &whole[..]), (FLOATS, "f32", &real[..])] {
        for op in ops {
            for a in values {
                for b in values {
                    let (x, y) = named(a, b);
                    let body = format!("  %r = arith.{op} {x}, {y} : {ty}\n  return %r : {ty}");
                    add(op, (a, b), ty, ty, &body);
                }
            }
        }
    }
    for (op, second) in EXTENDED {
        // `mlir-opt` crashes on sums of poison.
        let poisonless = |value: &&&str| *op != "addui_extended" || **value != "poison";
        for a in whole.iter().filter(poisonless) {
            for b in whole.iter().filter(poisonless) {
                let (x, y) = named(a, b);
                let ty = if *second == "i1" { "i32, i1" } else { "i32" };
                let body = format!(
                    "  %r:2 = arith.{op} {x}, {y} : {ty}\n  return %r#0, %r#1 : i32, {second}"
                );
                add(op, (a, b), "i32", &format!("i32, {second}"), &body);
            }
        }
    }
    all
}

/// Where a result differs, but is no longer. Of what may be anything, any choice is right: `x * 0`
/// is 0 although `x` is poison. Quotients that do not overflow fold here for all operands, and
/// constants that are made together come in another order.
fn is_known(what: &str) -> bool {
    let extreme = |op: &str| what.starts_with(op) && what.contains("`-2147483648`");
    let poison = what.contains("poison");
    poison || extreme("ceildivsi") || what.starts_with("mulsi_extended")
}

#[test]
fn operations_on_numbers_fold_as_in_mlir() {
    let all = combinations();
    let source: String = all.iter().map(|(_, text)| text.as_str()).collect();
    let (ours, Some(theirs)) = both("builtin.module(canonicalize)", &source) else { return };
    let each = |module: &Module| -> Vec<String> {
        support::functions(module).into_iter().map(|op| show(module, op)).collect()
    };
    let mut differ = Vec::new();
    for ((what, _), (ours, theirs)) in all.iter().zip(each(&ours).iter().zip(each(&theirs))) {
        let longer = ours.lines().count() > theirs.lines().count();
        if *ours != theirs && (longer || !is_known(what)) {
            differ.push(format!("{what}\n{ours}\nthere\n{theirs}"));
        }
    }
    println!("{} functions", all.len());
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), all.len(), differ.join("\n\n"));
}

/// The text of `op`, where values are numbered as they come.
fn show(module: &Module, op: tangram_ir::Op) -> String {
    let mut text = String::new();
    text::print_op(&mut text, module, op, text::Options::default()).expect("text");
    let mut names: Vec<&str> = Vec::new();
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let number = names.iter().position(|&known| known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let _ = write!(out, "%{number}{rest}");
    }
    out
}
