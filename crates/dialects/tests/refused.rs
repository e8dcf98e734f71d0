//! Kernels, launches, parts of vectors and extremes that are not what they should be are refused,
//! here as by `mlir-opt` 22.

#[path = "../../ir/tests/peer/mod.rs"]
mod peer;

use tangram_ir::{text, verify};

/// What the verifier, or the reader, says of `source`.
fn refused(source: &str) -> Option<String> {
    let context = tangram_dialects::context();
    match text::parse(source, "test.mlir", context) {
        Ok(module) => verify(&module).err().map(|errors| errors[0].message.clone()),
        Err(errors) => Some(errors[0].message.clone()),
    }
}

/// Puts `inside` into a kernel with a few values.
fn kernel(inside: &str) -> String {
    format!(
        "gpu.module @m {{\ngpu.func @k(%x: f32, %i: i32, %v: vector<4xf32>) kernel {{\n{inside}\n\
         gpu.return\n}}\n}}"
    )
}

/// Puts `inside` into a function of a host with a few values.
fn host(inside: &str) -> String {
    format!(
        "module attributes {{gpu.container_module}} {{\nfunc.func @h(%n: index, %w: i64, %x: f32, \
         %a: memref<4x?xf32>, %b: memref<4x5xf32>, %c: memref<4x5xi32>, %d: memref<5x5xf32>) \
         {{\n{inside}\nreturn\n}}\n}}"
    )
}

/// Checks that `source` is refused by both with a reason that contains `reason`.
fn expect(source: &str, reason: &str) {
    let found = refused(source).unwrap_or_else(|| panic!("accepted:\n{source}"));
    assert!(found.contains(reason), "{found}, not {reason}\n{source}");
    match peer::mlir_opt(&["--allow-unregistered-dialect"], source) {
        Some(Ok(_)) => panic!("mlir-opt accepts:\n{source}"),
        Some(Err(_)) => {}
        None => println!("skipped: needs mlir-opt-22"),
    }
}

#[test]
fn what_threads_combine_has_a_kind_and_a_type() {
    let wrong = [
        ("%0 = gpu.all_reduce minnumf %i {} : (i32) -> i32", "a type that `minnumf` combines"),
        ("%0 = gpu.all_reduce and %x {} : (f32) -> f32", "a type that `and` combines"),
        ("%0 = \"gpu.all_reduce\"(%x) ({}) : (f32) -> f32", "a function by name, or a region"),
        (
            "%0 = gpu.all_reduce add %x {\n^bb0(%a: f32, %b: f32):\n  gpu.yield %a : f32\n} : (f32) -> f32",
            "a function by name, or a region",
        ),
        (
            "%0 = gpu.all_reduce %x {\n^bb0(%a: f32):\n  gpu.yield %a : f32\n} : (f32) -> f32",
            "block arguments",
        ),
        (
            "%0 = gpu.all_reduce %x {\n^bb0(%a: f32, %b: f32):\n  gpu.yield %i : i32\n} : (f32) -> f32",
            "",
        ),
        ("%0 = gpu.subgroup_reduce xor %v : (vector<4xf32>) -> vector<4xf32>", "`xor` combines"),
        ("%0 = gpu.subgroup_reduce add %x cluster(size = 5) : (f32) -> f32", "a power of two"),
        (
            "%0 = gpu.subgroup_reduce add %x cluster(size = 4, stride = 3) : (f32) -> f32",
            "a power of two",
        ),
        (
            "%0 = \"gpu.subgroup_reduce\"(%x) <{op = #gpu<all_reduce_op add>, cluster_stride = 2 : i32}> : (f32) -> f32",
            "`cluster_size`",
        ),
        ("%0, %1 = gpu.rotate %x, 16, 16 : f32", "an offset below 16"),
        ("%0, %1 = gpu.rotate %x, 3, 12 : f32", "a power of two"),
        ("%0 = gpu.subgroup_broadcast %x, specific_lane : f32", "the number of a thread"),
        ("%0 = gpu.subgroup_broadcast %x, first_active_lane %i : f32", "the number of a thread"),
    ];
    for (inside, reason) in wrong {
        expect(&kernel(inside), reason);
    }
    assert_eq!(refused(&kernel("%0 = gpu.all_reduce add %x {} : (f32) -> f32")), None);
}

#[test]
fn launches_have_counters_sizes_and_kernels() {
    let sizes = "blocks in (%n, %n, %n) threads in (%n, %n, %n)";
    let launch = format!("gpu.launch_func @m::@k {sizes}");
    assert_eq!(refused(&host(&launch)), None);
    expect(
        &host(&launch).replace(" attributes {gpu.container_module}", ""),
        "`gpu.container_module`",
    );
    let mixed = "\"gpu.launch_func\"(%n, %n, %n, %n, %n, %w) <{kernel = @m::@k, \
                 operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>}> : \
                 (index, index, index, index, index, i64) -> ()";
    expect(&host(mixed), "one type of sizes");
    let args: Vec<String> = (0..12).map(|i| format!("%t{i}: index")).collect();
    let region = |args: &[String], end: &str| {
        host(&format!(
            "\"gpu.launch\"(%n, %n, %n, %n, %n, %n) <{{operandSegmentSizes = array<i32: 0, 1, 1, \
             1, 1, 1, 1, 0, 0, 0, 0>}}> ({{\n^bb0({}):\n  {end}\n}}) {{workgroup_attributions = 0 \
             : i64}} : (index, index, index, index, index, index) -> ()",
            args.join(", ")
        ))
    };
    assert_eq!(refused(&region(&args, "gpu.terminator")), None);
    expect(&region(&args[1..], "gpu.terminator"), "block arguments");
    expect(&region(&args, "gpu.yield"), "`gpu.terminator`");
    expect(&host("scf.execute_region {\n  gpu.terminator\n}"), "`gpu.launch` around it");
}

#[test]
fn functions_of_a_device_keep_their_signature() {
    let module = |inside: &str| format!("gpu.module @m {{\n{inside}\n}}");
    let wrong = [
        (
            "gpu.func @k() -> f32 kernel {\n%0 = \"u.x\"() : () -> f32\ngpu.return %0 : f32\n}",
            "no results of a kernel",
        ),
        ("gpu.func @f() -> f32 {\ngpu.return\n}", "operands of types"),
        ("gpu.func @f(%i: i32) -> f32 {\ngpu.return %i : i32\n}", "operands of types"),
        ("gpu.func @f() workgroup(%w : i32) {\ngpu.return\n}", "expected a buffer"),
        (
            "gpu.func @f() private(%p : memref<4xf32, #gpu.address_space<workgroup>>) {\ngpu.return\n}",
            "memory space `private`",
        ),
        (
            "\"gpu.func\"() <{function_type = (f32) -> ()}> ({\n^bb0(%a: i32):\n  \"gpu.return\"() : \
             () -> ()\n}) {sym_name = \"f\", workgroup_attributions = 0 : i64} : () -> ()",
            "block arguments",
        ),
        (
            "\"gpu.func\"() <{function_type = (f32) -> ()}> ({\n^bb0(%a: f32):\n  \"gpu.return\"() : \
             () -> ()\n}) {sym_name = \"f\", workgroup_attributions = 1 : i64} : () -> ()",
            "1 buffers",
        ),
    ];
    for (inside, reason) in wrong {
        expect(&module(inside), reason);
    }
    expect("gpu.func @f() {\n  gpu.return\n}", "`gpu.module` around it");
}

#[test]
fn buffers_of_a_device_fit() {
    let wrong = [
        ("%0 = gpu.alloc () : memref<?xf32>", "expected 1 extents, found 0"),
        ("%0 = gpu.alloc (%n) : memref<4xf32>", "expected 0 extents, found 1"),
        ("gpu.memcpy %b, %c : memref<4x5xf32>, memref<4x5xi32>", "buffers that fit"),
        ("gpu.memcpy %b, %d : memref<4x5xf32>, memref<5x5xf32>", "buffers that fit"),
        ("gpu.memset %c, %x : memref<4x5xi32>, f32", "an element of it"),
    ];
    for (inside, reason) in wrong {
        expect(&host(inside), reason);
    }
    let right = "gpu.memcpy %a, %b : memref<4x?xf32>, memref<4x5xf32>";
    assert_eq!(refused(&host(right)), None);
}

#[test]
fn parts_of_vectors_lie_inside() {
    let take = |attrs: &str, to: &str| {
        format!(
            "func.func @f(%v: vector<4x8xf32>) {{\n%0 = \"vector.extract_strided_slice\"(%v) {{{attrs}}} \
             : (vector<4x8xf32>) -> vector<{to}xf32>\nreturn\n}}"
        )
    };
    let put = |part: &str, attrs: &str| {
        format!(
            "func.func @f(%p: vector<{part}xf32>, %v: vector<4x8xf32>) {{\n\
             %0 = \"vector.insert_strided_slice\"(%p, %v) {{{attrs}}} \
             : (vector<{part}xf32>, vector<4x8xf32>) -> vector<4x8xf32>\nreturn\n}}"
        )
    };
    assert_eq!(refused(&take("offsets = [2], sizes = [2], strides = [1]", "2x8")), None);
    assert_eq!(refused(&put("8", "offsets = [3, 0], strides = [1]")), None);
    let wrong = [
        (take("offsets = [4], sizes = [1], strides = [1]", "1x8"), "a part of 4"),
        (take("offsets = [-1], sizes = [2], strides = [1]", "2x8"), "a part of 4"),
        (take("offsets = [1], sizes = [0], strides = [1]", "0x8"), "0"),
        (
            take(
                "offsets = [9223372036854775807], sizes = [9223372036854775807], strides = [1]",
                "4x8",
            ),
            "a part of 4",
        ),
        (take("offsets = [0], sizes = [2], strides = [2]", "2x8"), "strides of 1"),
        (take("offsets = [0], sizes = [2], strides = [1, 1]", "2x8"), "strides"),
        (take("offsets = [0], sizes = [2], strides = [1]", "3x8"), "extents"),
        (take("offsets = [0, 0, 0], sizes = [1, 1, 1], strides = [1, 1, 1]", "1x1"), "offsets"),
        (put("8", "offsets = [4, 0], strides = [1]"), "a part of 4"),
        (put("8", "offsets = [0], strides = [1]"), "offsets"),
        (put("2x8", "offsets = [3, 0], strides = [1, 1]"), "a part of 4"),
        (put("2x2x8", "offsets = [0, 0, 0], strides = [1, 1, 1]"), "rank"),
    ];
    for (source, reason) in &wrong {
        expect(source, reason);
    }
}

#[test]
fn there_is_no_extreme_of_nothing() {
    let wrong = [
        ("%0 = affine.max affine_map<() -> ()>()", "a map with results"),
        ("%0 = affine.min affine_map<(d0) -> ()>(%n)", "a map with results"),
        ("affine.for %i = max affine_map<() -> ()>() to 4 {\n}", "results of `lowerBoundMap`"),
        ("affine.for %i = 0 to min affine_map<() -> ()>() {\n}", "results of `upperBoundMap`"),
        ("affine.parallel (%i) = (max()) to (4) {\n}", "no extreme of none"),
    ];
    for (inside, reason) in wrong {
        expect(&host(inside), reason);
    }
}

/// A terminator has as many successors as its operation passes operands to.
#[test]
fn a_terminator_has_its_number_of_successors() {
    let function = |end: &str| {
        format!(
            "\"func.func\"() <{{sym_name = \"f\", function_type = (i1, i32) -> ()}}> ({{\n^bb0(%c: i1, \
             %n: i32):\n  {end}\n^bb1:\n  \"func.return\"() : () -> ()\n}}) : () -> ()"
        )
    };
    const PLAIN: &str = "<{operandSegmentSizes = array<i32: 1, 0, 0>}>";
    let wrong = [
        ("\"cf.br\"() : () -> ()".to_owned(), "expected 1 successor, found 0"),
        ("\"cf.br\"()[^bb1, ^bb1] : () -> ()".to_owned(), "expected 1 successor, found 2"),
        (
            format!("\"cf.cond_br\"(%c)[^bb1] {PLAIN} : (i1) -> ()"),
            "expected 2 successors, found 1",
        ),
        (format!("\"cf.cond_br\"(%c) {PLAIN} : (i1) -> ()"), "expected 2 successors, found 0"),
        (
            "\"cf.switch\"(%n) <{operandSegmentSizes = array<i32: 1, 0, 0>, \
             case_operand_segments = array<i32>}> : (i32) -> ()"
                .to_owned(),
            "expected at least 1 successor, found 0",
        ),
        ("\"func.return\"()[^bb1] : () -> ()".to_owned(), "expected no successors, found 1"),
        ("\"llvm.br\"() : () -> ()".to_owned(), "expected 1 successor, found 0"),
        ("\"llvm.unreachable\"()[^bb1] : () -> ()".to_owned(), "expected no successors, found 1"),
    ];
    for (end, reason) in &wrong {
        expect(&function(end), reason);
    }
}
