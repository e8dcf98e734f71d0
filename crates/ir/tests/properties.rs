//! Random modules come back from their text, and no text makes the parser panic.

mod random;

use proptest::prelude::*;
use random::{Choices, random_module};
use tangram_ir::{Context, LocData, Module, TypeData, text, verify};

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
    assert_eq!(*context.loc_data(fused), LocData::Fused([locs[0], locs[1]].into()));
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
