//! Pretty text against `mlir-opt` 22: programs that it printed are read, and printed as it prints
//! them.

#[path = "../../ir/tests/peer/mod.rs"]
mod peer;

use tangram_ir::{LocData, Module, Order, text, walk};

const LENIENT: &str = "--allow-unregistered-dialect";

fn parse(source: &str) -> Result<Module, String> {
    let context = tangram_dialects::context();
    text::parse(source, "test.mlir", context.clone()).map_err(|errors| {
        let told = errors.iter().take(5).map(|error| {
            let line = match context.loc_data(error.loc) {
                LocData::File { line, .. } => *line as usize,
                _ => 0,
            };
            let shown = source.lines().nth(line.saturating_sub(1)).unwrap_or("");
            format!("{line}: {}\n  {shown}\n", error.message)
        });
        told.collect()
    })
}

fn pretty(module: &Module) -> String {
    let mut out = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    text::print_to(&mut out, module, options).expect("a string takes all");
    out
}

/// The first lines that differ.
fn same(ours: &str, theirs: &str) -> Result<(), String> {
    let (a, b) = (ours.trim_end().lines(), theirs.trim_end().lines());
    let differing: Vec<String> = a
        .clone()
        .zip(b.clone())
        .filter(|(a, b)| a != b)
        .take(5)
        .map(|(a, b)| format!("ours   {a}\ntheirs {b}\n"))
        .collect();
    let (a, b) = (a.count(), b.count());
    if differing.is_empty() && a == b {
        return Ok(());
    }
    Err(format!("{a} and {b} lines\n{}", differing.concat()))
}

/// Puts `source`, which `mlir-opt` understands, through both.
fn check(source: &str) -> Result<(), String> {
    let Some(theirs) = peer::mlir_opt(&[LENIENT], source) else {
        println!("skipped: needs mlir-opt-22");
        return Ok(());
    };
    let theirs = theirs?;
    let generic = [LENIENT, "--mlir-print-op-generic", "--mlir-print-local-scope"];
    let in_full = peer::mlir_opt(&generic, &theirs).expect("installed")?;
    let from_full = same(&pretty(&parse(&in_full)?), &theirs);
    from_full.map_err(|error| format!("from the generic form: {error}"))?;
    let read = parse(&theirs)?;
    same(&pretty(&read), &theirs)?;
    // The maps of named operations are noted only by those who made them.
    if !in_full.contains("memoized_indexing_maps") {
        same(&text::print(&read), &in_full)
            .map_err(|error| format!("our generic form: {error}"))?;
    }
    same(&text::print(&parse(&in_full)?), &in_full)
        .map_err(|error| format!("the generic form: {error}"))?;
    let again = peer::mlir_opt(&generic, &text::print(&read)).expect("installed");
    same(&again?, &in_full).map_err(|error| format!("to the generic form: {error}"))
}

/// Attributes that a format does not name are printed: none is lost.
#[test]
fn formats_print_what_they_do_not_name() {
    for def in tangram_dialects::context().defs() {
        let format = def.assembly.unwrap_or("attr-dict");
        assert!(format.contains("attr-dict"), "{} prints `{format}` only", def.name);
    }
}

/// The programs of a folder, each with its place: those beside this file, or of `TANGRAM_MLIR_DIR`.
fn programs(dir: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the folder of inputs") {
        let path = entry.expect("an entry").path();
        let input = std::fs::read_to_string(&path).expect("an input");
        let part =
            |(i, text): (usize, &str)| (format!("{}, part {i}", path.display()), text.into());
        all.extend(input.split("// -----").enumerate().map(part));
    }
    all
}

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mlir");

#[test]
fn programs_come_back_as_they_were() {
    let dir = std::env::var("TANGRAM_MLIR_DIR").unwrap_or(PROGRAMS.to_owned());
    let mut failures = Vec::new();
    for (place, program) in programs(&dir) {
        if let Err(error) = check(&program) {
            failures.push(format!("{place}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Every operation of MLIR's dialects that is defined stands in a program in its own text.
#[test]
fn every_operation_stands_in_a_program() {
    let mut seen = std::collections::HashSet::new();
    for (place, program) in programs(PROGRAMS) {
        let module = parse(&program).unwrap_or_else(|error| panic!("{place}: {error}"));
        for op in walk(&module, module.root(), Order::Pre) {
            seen.insert(module.name_text(op).to_owned());
        }
    }
    let tables = tangram_dialects::mlir::TABLES.into_iter().flatten();
    let missing: Vec<&str> = tables.map(|def| def.name).filter(|&n| !seen.contains(n)).collect();
    assert!(missing.is_empty(), "{missing:?} stand in no program");
    let silent = tangram_dialects::mlir::TABLES.into_iter().flatten();
    let silent: Vec<&str> = silent.filter(|def| def.assembly.is_none()).map(|d| d.name).collect();
    assert!(silent.is_empty(), "{silent:?} have no text");
}

/// Reads `source`, prints it in pretty form, and expects the same program from that text, here and
/// by `mlir-opt`.
fn comes_back(source: &str, options: text::Options) {
    let show = |module: &Module, generic| {
        let mut out = String::new();
        let options = text::Options { generic, ..options };
        text::print_to(&mut out, module, options).expect("a string takes all");
        out
    };
    let module = parse(source).unwrap_or_else(|error| panic!("{error}"));
    let (pretty, generic) = (show(&module, false), show(&module, true));
    let again = parse(&pretty).unwrap_or_else(|error| panic!("{error}\n{pretty}"));
    assert_eq!(show(&again, true), generic, "of\n{pretty}");
    let mut arguments = vec![LENIENT, "--mlir-print-op-generic", "--mlir-print-local-scope"];
    arguments.extend(options.locations.then_some("--mlir-print-debuginfo"));
    let theirs = peer::mlir_opt(&arguments, &pretty);
    let Some(theirs) = theirs else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let theirs = theirs.unwrap_or_else(|error| panic!("{error}\n{pretty}"));
    let theirs = parse(&theirs).unwrap_or_else(|error| panic!("{error}\n{theirs}"));
    assert_eq!(show(&theirs, true), generic, "by mlir-opt, of\n{pretty}");
}

/// A terminator goes without saying only if reading adds the same one.
#[test]
fn terminators_with_attributes_are_printed() {
    let source = "
func.func @f(%c: i1, %n: index, %m: memref<4xf32>, %k: index) {
  scf.if %c {
    \"u.a\"() : () -> ()
    scf.yield {then}
  } else {
    scf.yield {otherwise = 1 : i32}
  }
  scf.for %i = %n to %n step %n {
    scf.yield {step}
  }
  affine.for %i = 0 to 4 {
    affine.yield {inner}
  }
  affine.parallel (%i) = (0) to (4) {
    affine.yield {inner}
  }
  affine.if affine_set<(d0) : (d0 >= 0)>(%n) {
    affine.yield {known}
  }
  scf.index_switch %n
  case 1 {
    scf.yield {one}
  }
  default {
    scf.yield {none}
  }
  memref.alloca_scope {
    memref.alloca_scope.return {scope}
  }
  scf.while : () -> () {
    scf.condition(%c) {test}
  } do {
    scf.yield {work}
  }
  return
}";
    comes_back(source, text::Options::default());
}

/// Where locations are printed, those of arguments and of terminators that would go without saying
/// are among them.
#[test]
fn places_of_arguments_and_terminators_come_back() {
    let source = "
func.func @f(%a: i32 loc(\"a\"), %b: f32 {u.note} loc(#late), %c: i1 loc(unknown)) -> i32 {
  cf.br ^bb1(%a : i32) loc(\"branch\")
^bb1(%x: i32 loc(fused[\"x\", \"y\":1:2])):
  \"u.region\"() ({
  ^bb0(%y: i32 loc(callsite(\"p\" at \"q\")), %z: i32 loc(\"z\")):
    \"u.end\"() : () -> () loc(\"end\")
  }) : () -> () loc(\"region\")
  scf.if %c {
    scf.yield loc(\"yield\")
  } loc(\"if\")
  scf.if %c {
  } loc(#late)
  return %x : i32 loc(\"return\")
} loc(\"function\")
func.func private @g(i32 {u.note}) loc(\"declared\")
#late = loc(\"late\":3:4)";
    let options = text::Options { locations: true, ..text::Options::default() };
    comes_back(source, options);
    let module = parse(source).expect("a module");
    let mut out = String::new();
    text::print_to(&mut out, &module, text::Options { generic: false, ..options }).expect("text");
    for place in ["%arg0: i32 loc(\"a\")", "loc(\"late\":3:4)", "scf.yield loc(\"yield\")"] {
        assert!(out.contains(place), "{place} is missing:\n{out}");
    }
}

/// The text of a loop has no place for where its counters come from: the generic form has, and is
/// printed where that is not the line of the loop.
#[test]
fn places_of_counters_come_back() {
    let source = "
func.func @f(%n: index, %x: f32) {
  \"scf.for\"(%n, %n, %n) ({
  ^bb0(%i: index loc(\"counter\")):
    \"scf.yield\"() : () -> () loc(\"yield\")
  }) : (index, index, index) -> () loc(\"loop\")
  %0 = \"affine.for\"(%x) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = affine_map<() -> (4)>}> ({
  ^bb0(%j: index loc(\"j\"), %c: f32 loc(fused<\"carried\">[\"c\":1:2])):
    \"affine.yield\"(%c) : (f32) -> () loc(\"yield\")
  }) : (f32) -> f32 loc(\"affine\")
  return loc(\"return\")
} loc(\"function\")";
    let options = text::Options { locations: true, ..text::Options::default() };
    comes_back(source, options);
    let plain = "
func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
  }
  return
}";
    let module = parse(plain).expect("a module");
    let mut out = String::new();
    text::print_to(&mut out, &module, text::Options { generic: false, ..options }).expect("text");
    assert!(out.contains(" scf.for %arg1 = "), "{out}");
}

/// Where the text says what a loop is from, its counters, whose places have no room there, are from
/// the same line: the loop stays a loop however often it is read.
#[test]
fn counters_are_from_the_line_of_their_loop() {
    let source = "
func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    affine.for %j = 0 to 4 {
    } loc(#late)
  } loc(\"a.mlir\":7:3)
  return loc(\"return\")
} loc(\"function\")
#late = loc(\"a.mlir\":8:5)";
    let show = |text: &str| {
        let mut out = String::new();
        let options = text::Options { locations: true, generic: false, ..Default::default() };
        let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
        text::print_to(&mut out, &module, options).expect("a string takes all");
        out
    };
    let (once, twice) = (show(source), show(&show(source)));
    assert!(once.contains("scf.for %arg1") && once.contains("affine.for %arg2"), "{once}");
    assert_eq!(once, twice);
}

/// A region of an operation that nobody knows may be a graph, in which order does not matter.
#[test]
fn regions_of_what_is_not_known_need_no_order() {
    let source = "
func.func @f() {
  \"hw.module\"() ({
    %0 = \"hw.register\"(%1) : (i8) -> i8
    %1 = \"hw.sum\"(%0, %0) : (i8, i8) -> i8
    \"hw.output\"(%1) : (i8) -> ()
  }) : () -> ()
  return
}";
    comes_back(source, text::Options::default());
}

/// A place in a buffer whose map does not use an operand, or gets one twice, is written in the
/// generic form: `%b[0]` would leave the operand out.
#[test]
fn operands_that_a_map_does_not_use_come_back() {
    let source = "
func.func @f(%n: index, %m: index, %x: f32, %v: vector<4xf32>, %b: memref<8xf32>, %c: memref<8x8xf32>) {
  %0 = \"affine.load\"(%b, %n) <{map = affine_map<(d0) -> (0)>}> : (memref<8xf32>, index) -> f32
  %1 = \"affine.load\"(%b, %n, %m) <{map = affine_map<(d0)[s0] -> (d0)>}> : (memref<8xf32>, index, index) -> f32
  %2 = \"affine.load\"(%c, %n, %n) <{map = affine_map<(d0, d1) -> (d0, d1)>}> : (memref<8x8xf32>, index, index) -> f32
  %3 = \"affine.load\"(%c, %n, %n) <{map = affine_map<(d0)[s0] -> (d0, s0)>}> : (memref<8x8xf32>, index, index) -> f32
  \"affine.store\"(%x, %b, %n) <{map = affine_map<(d0) -> (3)>}> : (f32, memref<8xf32>, index) -> ()
  %4 = \"affine.vector_load\"(%b, %n) <{map = affine_map<(d0) -> (0)>}> : (memref<8xf32>, index) -> vector<4xf32>
  \"affine.vector_store\"(%v, %b, %n) <{map = affine_map<(d0) -> (0)>}> : (vector<4xf32>, memref<8xf32>, index) -> ()
  \"affine.prefetch\"(%b, %n) <{isDataCache = true, isWrite = false, localityHint = 3 : i32, map = affine_map<(d0) -> (0)>}> : (memref<8xf32>, index) -> ()
  \"affine.for\"(%n, %m) <{lowerBoundMap = affine_map<(d0) -> (0)>, operandSegmentSizes = array<i32: 1, 1, 0>, step = 1 : index, upperBoundMap = affine_map<(d0) -> (8)>}> ({
  ^bb0(%i: index):
    \"affine.yield\"() : () -> ()
  }) : (index, index) -> ()
  \"affine.for\"(%n) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 1, 0>, step = 1 : index, upperBoundMap = affine_map<()[s0] -> (8)>}> ({
  ^bb0(%i: index):
    \"affine.yield\"() : () -> ()
  }) : (index) -> ()
  \"affine.parallel\"(%n, %m) <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<(d0) -> (0)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<(d0) -> (8)>}> ({
  ^bb0(%i: index):
    \"affine.yield\"() : () -> ()
  }) : (index, index) -> ()
  %5 = \"affine.load\"(%c, %n, %m) <{map = affine_map<(d0)[s0] -> (d0, s0)>}> : (memref<8x8xf32>, index, index) -> f32
  return
}";
    let module = parse(source).unwrap_or_else(|error| panic!("{error}"));
    assert!(pretty(&module).contains("%5 = affine.load %arg5[%arg0, symbol(%arg1)]"));
    comes_back(source, text::Options::default());
}

/// A comma may follow the last operand of a transfer, as MLIR reads it.
#[test]
fn a_comma_may_end_the_operands_of_a_transfer() {
    let source = "
func.func @f(%a: memref<4xf32>, %b: memref<4xf32, 2>, %t: memref<1xi32>, %n: index) {
  memref.dma_start %a[%n], %b[%n], %n, %t[%n], : memref<4xf32>, memref<4xf32, 2>, memref<1xi32>
  return
}";
    let plain = source.replace("%t[%n], :", "%t[%n] :");
    let read = |text: &str| pretty(&parse(text).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(read(source), read(&plain));
    if let Some(theirs) = peer::mlir_opt(&[], source) {
        theirs.expect("mlir-opt takes it");
    }
}

/// Sizes of lists that an operation does not have are an attribute like others, and bundles of a
/// call, properties of functions, flags without a word, and all
/// conventions come back.
#[test]
fn what_llvm_notes_comes_back() {
    let source = "
llvm.func @f() attributes {frame_pointer = #llvm.framePointerKind<all>, target_cpu = \"x\"}
llvm.func cc_10 @g(%n: i64, %p: !llvm.ptr) {
  %0 = \"llvm.alloca\"(%n) <{elem_type = i32}> {operandSegmentSizes = array<i32: 0, 0>, in_type = i32} : (i64) -> !llvm.ptr
  \"llvm.call\"() <{CConv = #llvm.cconv<cc_10>, TailCallKind = #llvm.tailcallkind<none>, callee = @f, fastmathFlags = #llvm.fastmath<none>, op_bundle_sizes = array<i32: 0>, op_bundle_tags = [\"tag\"], operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  \"llvm.call\"() <{CConv = #llvm.cconv<cc_11>, TailCallKind = #llvm.tailcallkind<none>, callee = @f, fastmathFlags = #llvm.fastmath<none>, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 0, 0>, no_unwind}> {u.note} : () -> ()
  %1 = \"llvm.getelementptr\"(%p) <{elem_type = i32, noWrapFlags = 7 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
  llvm.return
}";
    comes_back(source, text::Options::default());
}
