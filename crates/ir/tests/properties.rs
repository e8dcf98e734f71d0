//! Random modules come back from their text, and no text makes the parser panic.

mod random;

use proptest::prelude::*;
use random::{Choices, random_module};
use tangram_ir::{Context, LocData, Module, TypeData, ValueDef, text, verify};

fn with_locations(module: &Module) -> String {
    let mut out = String::new();
    let options = text::Options { locations: true, ..text::Options::default() };
    text::print_to(&mut out, module, options).expect("a string takes all");
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The text is the same after a round trip, in a context of its own and in the old one.
    #[test]
    fn modules_come_back(bytes in prop::collection::vec(any::<u8>(), 0..800)) {
        let module = random_module(&mut Choices::new(&bytes));
        let printed = with_locations(&module);
        for context in [Context::new(), module.context_arc().clone()] {
            let again = text::parse(&printed, "t.mlir", context);
            let again = again.map_err(|e| TestCaseError::fail(format!("{e:?}\n{printed}")))?;
            prop_assert_eq!(&with_locations(&again), &printed);
            prop_assert_eq!(verify(&again), Ok(()));
        }
    }

    /// Whatever is cut out, doubled or put in: an error or a module that comes back.
    #[test]
    fn no_text_makes_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        edits in prop::collection::vec((any::<u16>(), any::<u8>(), 0usize..12), 1..4),
    ) {
        const PIECES: [&str; 12] = [
            "", "(", "}", "<", ">", "\"", "-> ", "{-#", "#a = ", "%0", "0x", "^bb1:",
        ];
        let module = random_module(&mut Choices::new(&bytes));
        let mut text = with_locations(&module);
        for (at, length, piece) in edits {
            let mut from = usize::from(at) % (text.len() + 1);
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            let mut to = (from + usize::from(length) % 9).min(text.len());
            while !text.is_char_boundary(to) {
                to += 1;
            }
            text.replace_range(from..to, PIECES[piece]);
        }
        if let Ok(module) = text::parse(&text, "t.mlir", Context::new()) {
            let printed = with_locations(&module);
            let again = text::parse(&printed, "t.mlir", Context::new());
            let again = again.map_err(|e| TestCaseError::fail(format!("{e:?}\n{printed}\n{text}")))?;
            prop_assert_eq!(with_locations(&again), printed);
            let _ = verify(&module);
        }
    }

    /// Bytes without any sense.
    #[test]
    fn nonsense_is_refused(text in "[\\PC\n]{0,60}") {
        if let Err(errors) = text::parse(&text, "t.mlir", Context::new()) {
            prop_assert!(!errors.is_empty());
        }
    }
}

#[test]
fn deep_nesting_is_an_error_or_read_without_recursion() {
    let types = format!(
        "\"x.y\"() {{a = {}i1{}}} : () -> ()",
        "tuple<".repeat(100_000),
        ">".repeat(100_000)
    );
    let errors = text::parse(&types, "t.mlir", Context::new()).err().expect("an error");
    assert!(errors[0].message.contains("inside each other"), "{}", errors[0]);
    let attrs = format!("\"x.y\"() {{a = {}", "[".repeat(100_000));
    assert!(text::parse(&attrs, "t.mlir", Context::new()).is_err());
    for depth in [1_000, 100_000] {
        let text = "\"x.y\"() ({\n".repeat(depth) + &"}) : () -> ()\n".repeat(depth);
        let module = text::parse(&text, "t.mlir", Context::new()).expect("regions nest freely");
        verify(&module).expect("a right module");
        // The text is quadratic in the depth: each level is indented.
        if depth == 1_000 {
            assert_eq!(text::print(&module).matches("x.y").count(), depth);
        }
    }
}

/// Types and attributes of thousands of levels are read, and printed the same.
#[test]
fn thousands_of_levels_are_read() {
    let kinds = [
        ("tuple<", "i1", ">"),
        ("() -> (", "i1", ")"),
        ("[", "1 : i64", "]"),
        ("{a = ", "unit", "}"),
    ];
    for (open, leaf, close) in kinds {
        for depth in [90, 101, 4_000] {
            let attr = open.repeat(depth) + leaf + &close.repeat(depth);
            let source = format!("\"x.y\"() {{a = {attr}}} : () -> ()");
            let module = text::parse(&source, "t.mlir", Context::new()).expect(open);
            let printed = text::print(&module);
            let again = text::parse(&printed, "t.mlir", Context::new()).expect(open);
            assert_eq!(text::print(&again), printed, "{open}");
            assert!(printed.matches(open).count() >= depth, "{open}");
        }
    }
}

/// Types that are deeper than the parser reads are printed all the same.
#[test]
fn deep_types_are_printed() {
    let context = Context::new();
    let mut ty = context.int_type(1);
    for _ in 0..100_000 {
        ty = context.ty(TypeData::Tuple([ty].into()));
    }
    let module = Module::new(context);
    assert_eq!(text::type_text(&module, ty).matches("tuple<").count(), 100_000);
}

/// Operations read from text keep their places when they are fused, and say them when asked.
#[test]
fn places_in_the_text_are_locations() {
    let context = Context::new();
    let source = "\n  \"x.a\"() : () -> ()\n\"x.b\"() : () -> ()\n";
    let module = text::parse(source, "t.mlir", context.clone()).expect("a module");
    let locs: Vec<_> = module.ops(module.body()).map(|op| module.loc(op)).collect();
    let place = |line, column| LocData::File { file: context.str("t.mlir"), line, column };
    assert_eq!(*context.loc_data(locs[0]), place(2, 3));
    assert_eq!(*context.loc_data(locs[1]), place(3, 1));
    let fused = context.fuse([locs[1], locs[0], locs[1]]);
    assert_eq!(
        *context.loc_data(fused),
        LocData::Fused { parts: [locs[0], locs[1]].into(), metadata: None }
    );
    // A second text has places of its own.
    let second = text::parse("\"x.c\"() : () -> ()", "u.mlir", context.clone()).expect("a module");
    let op = second.first_op(second.body()).expect("an operation");
    let expected = LocData::File { file: context.str("u.mlir"), line: 1, column: 1 };
    assert_eq!(*context.loc_data(second.loc(op)), expected);
    assert_eq!(*context.loc_data(locs[1]), place(3, 1));
}

/// Text in MLIR's custom form is refused with the way out.
#[test]
fn the_custom_form_is_refused_with_a_hint() {
    let errors = text::parse("func.func @f()", "t.mlir", Context::new()).err().expect("errors");
    assert!(errors[0].hint.as_deref().is_some_and(|hint| hint.contains("--mlir-print-op-generic")));
}

/// An operation that uses one value very often takes time in proportion.
#[test]
fn many_uses_of_one_value() {
    const USES: usize = 100_000;
    let uses = vec!["%0"; USES].join(", ");
    let types = vec!["i1"; USES].join(", ");
    let source = format!("%0 = \"x.a\"() : () -> i1\n\"x.b\"({uses}) : ({types}) -> ()");
    let module = text::parse(&source, "t.mlir", Context::new()).expect("a module");
    verify(&module).expect("a right module");
    assert_eq!(text::print(&module).matches("%0").count(), USES + 1);
}

#[test]
fn what_is_left_out_is_marked_and_can_be_read_again() {
    let long: String = (0..1000).map(|i| format!("{i:08X}")).collect();
    let many = vec!["7"; 500].join(", ");
    let source = format!(
        "\"x.y\"() {{a = dense<\"0x{long}\"> : tensor<1000xf32>, b = array<i64: {many}>, \
         c = dense_resource<w> : tensor<1000xf32>, d = dense<1.0> : tensor<1000xf32>, \
         e = [{many}], f = \"{long}\", g = array<i32: {many}>, h = dense_resource<v> : tensor<1xf32>}} : () -> ()\n\
         {{-# dialect_resources: {{builtin: {{w: \"0x08000000{long}\", v: \"0x0800000000000000\"}}}} #-}}\n"
    );
    let module = text::parse(&source, "t.mlir", Context::new()).expect("a right module");
    assert!(text::print(&module).len() > 20_000);
    let brief = text::print_elided(&module);
    assert!(brief.len() < 1200, "{brief}");
    assert!(brief.contains("d = dense<1.000000e+00>") && brief.contains("v: \"0x08"), "{brief}");
    assert!(brief.contains("g = dense_resource<__elided__> : tensor<500xi32>"), "{brief}");
    assert!(brief.contains("a = dense_resource<__elided__> : tensor<1000xf32>"), "{brief}");
    assert!(brief.ends_with("// resources left out: 1, 4000 bytes\n"), "{brief}");
    let again = text::parse(&brief, "t.mlir", Context::new()).expect("it can be read");
    assert_eq!(text::print(&again), brief[..brief.find("\n//").expect("the comment")].to_owned());
}

/// The attributes `a0`, `a1`... of the operation in `text`, as they are printed.
fn attributes(text: &str) -> Vec<String> {
    let module = text::parse(text, "t.mlir", Context::new());
    let module = module.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let op = module.last_op(module.body()).expect("an operation");
    (0..)
        .map_while(|i| module.attr(op, &format!("a{i}")))
        .map(|attr| text::attr_text(&module, attr))
        .collect()
}

fn holder(attrs: &[&str]) -> String {
    let entry = |(i, attr): (usize, &&str)| format!("a{i} = {attr}");
    let entries: Vec<String> = attrs.iter().enumerate().map(entry).collect();
    format!("\"x.y\"() {{{}}} : () -> ()", entries.join(", "))
}

/// A text says the same the second time, wherever it stands and whatever was read before.
#[test]
fn what_is_spelled_again_says_the_same() {
    let long_map = format!("affine_map<(d0) -> ({})>", vec!["d0 mod 3"; 40].join(", "));
    let attrs = [
        "i3",
        "i32",
        "si32",
        "index",
        "f32",
        "tensor<2xf32>",
        "tensor<2xf64>",
        "tensor<2x3xf32>",
        "tensor<?xf32, [\"N > 1\"]>",
        "tensor<?xf32, [\"N\"]>",
        "tensor<2x // > \n 3xf32>",
        "memref<4xf32>",
        "memref<4xf32, affine_map<(d0) -> (d0 + 1)>>",
        "memref<4xf32, affine_map<(d0) -> (d0 + 2)>>",
        "memref<4xf32, strided<[2], offset: 1>>",
        "tuple<i32, (i32) -> f32>",
        "tuple<i32, (i32) -> f64>",
        "vector<[4]x3xi32>",
        "strided<[2], offset: 1>",
        "strided<[2], offset: ?>",
        "strided<[2]>",
        "array<i32: 1>",
        "array<i8: 1>",
        "array<i32: 1, 2>",
        "array<i32>",
        "affine_map<(i) -> (i)>",
        "affine_map<(i)[j] -> (i)>",
        "affine_map<(i, j) -> (i)>",
        "affine_set<(i) : (i >= 0, i - 4 == 0)>",
        "affine_set<(i) : (i - 4 >= 0)>",
        "0",
        "-0",
        "1",
        "-1",
        "1 : i8",
        "-1 : i8",
        "255 : i8",
        "1 : index",
        "0x1",
        "1 : i1",
        "-1 : i1",
        "1.0 : f32",
        "1.0",
        "999999999999999999",
        "9999999999999999999 : i64",
        "9223372036854775808 : i64",
        "{i32}",
        "{i32 = 1}",
        "[]",
        "[1]",
        "[1, 2]",
        "[[1], [2]]",
        "@a",
        "@a::@b",
        &long_map,
    ];
    let alone: Vec<String> = attrs.iter().flat_map(|attr| attributes(&holder(&[attr]))).collect();
    assert_eq!(alone.len(), attrs.len());
    // Each after each other one.
    for step in 1..attrs.len() {
        let order: Vec<usize> = (0..2 * attrs.len()).map(|i| i * step % attrs.len()).collect();
        let texts: Vec<&str> = order.iter().map(|&i| attrs[i]).collect();
        let expected: Vec<&String> = order.iter().map(|&i| &alone[i]).collect();
        let found = attributes(&holder(&texts));
        assert_eq!(found.iter().collect::<Vec<_>>(), expected);
    }
}

/// What an alias stands for is what was said last.
#[test]
fn an_alias_that_changes_changes_what_it_is_part_of() {
    let use_it = holder(&["tuple<!t>", "memref<4xf32, #a>", "tuple<!t>", "memref<4xf32, #a>"]);
    let map = |n: u32| format!("#a = affine_map<(d0) -> (d0 + {n})>\n");
    let first = format!("!t = i32\n{}{use_it}", map(1));
    let second = format!("!t = f32\n{}{use_it}", map(2));
    let both = attributes(&format!("{first}\n{second}"));
    assert_eq!(both, attributes(&second));
    assert_ne!(both, attributes(&first));
    assert_eq!(both[..2], both[2..]);
}

/// Names are told apart by all that they say, to the end of the text.
#[test]
fn names_of_any_length_are_different_names() {
    let names: Vec<String> =
        (0..40).flat_map(|n| ["a", "b"].map(|end| "v".repeat(n) + end)).collect();
    for (last, number) in [("%va", 2), ("%vb", 3), ("%a", 0)] {
        let mut source = String::new();
        for (i, name) in names.iter().enumerate() {
            source += &format!("%{name} = \"x.a\"() {{n = {i}}} : () -> i1\n");
        }
        let uses: Vec<String> = names.iter().map(|name| format!("%{name}")).collect();
        let types = vec!["i1"; uses.len()].join(", ");
        source += &format!("\"x.b\"({}):({types})->()\n\"x.b\"({last}):(i1)->()", uses.join(", "));
        let module = text::parse(&source, "t.mlir", Context::new()).expect("a module");
        let made_by = |value| {
            let ValueDef::Result(maker, 0) = module.value_def(value) else { return None };
            module.context().as_i64(module.attr(maker, "n")?)
        };
        let ops: Vec<_> = module.ops(module.body()).skip(names.len()).collect();
        let all: Vec<_> = module.operands(ops[0]).map(made_by).collect();
        assert_eq!(all, (0..names.len() as i64).map(Some).collect::<Vec<_>>());
        assert_eq!(module.operands(ops[1]).map(made_by).collect::<Vec<_>>(), [Some(number)]);
    }
}
