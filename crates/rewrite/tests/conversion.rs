//! The conversion driver: modes, legality, costs, types, rollback and recursion.

mod common;

use std::sync::Arc;

use common::{context, frozen, names, parse, rule, show};
use tangram_ir::{Context, Module, OpState, Point, Value, text};
use tangram_rewrite::conversion::{
    ConversionConfig, ConversionPattern, ConversionReport, ConversionTarget, Mode, TypeConversion,
    TypeConverter, convert,
};
use tangram_rewrite::{FnPattern, FrozenPatternSet, PatternSet, Roots, Silent};

/// A pattern that turns `from` into `to` with the same operands and result types.
fn rename(context: &Context, from: &str, to: &'static str) -> FnPattern {
    let name = format!("{from}-to-{to}");
    rule(context, &name, from, move |rewriter, op| {
        let module = rewriter.module();
        let mut state = OpState::new(module.context().name(to), module.loc(op));
        state.operands.extend(module.operands(op));
        state.results.extend(module.results(op).map(|v| module.value_type(v)));
        rewriter
            .replace_with(op, state)
            .map_err(|e| tangram_rewrite::NoMatch::because(e.message))?;
        Ok(())
    })
    .with_generated([context.name(to)])
}

fn target(context: &Context, legal: &[&str], illegal: &[&str]) -> ConversionTarget {
    let mut target = ConversionTarget::new();
    for name in legal {
        target.legal(context.name(name));
    }
    for name in illegal {
        target.illegal(context.name(name));
    }
    target
}

fn run(
    module: &mut Module,
    target: &ConversionTarget,
    set: &FrozenPatternSet,
    mode: Mode,
) -> Result<ConversionReport, String> {
    let before = text::print(module);
    let root = module.root();
    let config = ConversionConfig { mode, ..ConversionConfig::default() };
    let result = convert(module, root, target, set, &config, &mut Silent);
    if result.is_err() || mode == Mode::Analysis {
        assert_eq!(text::print(module), before, "everything is taken back");
    }
    result.map_err(|errors| {
        let lines = errors.iter().map(|e| format!("{} {:?}", e.message, e.notes));
        lines.collect::<Vec<_>>().join("\n")
    })
}

const CHAIN: &str = "%0 = \"x.a\"() : () -> i64\n\"x.use\"(%0) : (i64) -> ()";

#[test]
fn what_a_pattern_makes_is_converted_until_it_is_legal() {
    let context = context();
    let mut module = parse(&context, CHAIN);
    let set = frozen([rename(&context, "x.a", "x.b"), rename(&context, "x.b", "x.c")]);
    let target = target(&context, &["x.c"], &["x.a", "x.b"]);
    let report = run(&mut module, &target, &set, Mode::Partial).expect("a way");
    assert_eq!(names(&module), ["x.c", "x.use"]);
    assert_eq!((report.converted, report.operations.len()), (2, 1));
}

#[test]
fn the_shorter_way_is_taken_and_the_greater_benefit_among_equals() {
    let context = context();
    let target = target(&context, &["x.c", "x.d"], &["x.a", "x.b"]);
    let mut module = parse(&context, CHAIN);
    let long = rename(&context, "x.a", "x.b").with_benefit(9);
    let set = frozen([long, rename(&context, "x.b", "x.c"), rename(&context, "x.a", "x.d")]);
    run(&mut module, &target, &set, Mode::Partial).expect("a way");
    assert_eq!(names(&module), ["x.d", "x.use"]);
    let mut module = parse(&context, CHAIN);
    let better = rename(&context, "x.a", "x.c").with_benefit(2);
    let set = frozen([rename(&context, "x.a", "x.d"), better]);
    run(&mut module, &target, &set, Mode::Partial).expect("a way");
    assert_eq!(names(&module), ["x.c", "x.use"]);
}

#[test]
fn a_way_that_ends_in_nothing_is_taken_back_and_another_one_found() {
    let context = context();
    let target = target(&context, &["x.c"], &["x.a", "x.dead"]);
    let mut module = parse(&context, CHAIN);
    // It does not say what it makes, so the cost model cannot know.
    let blind = rule(&context, "blind", "x.a", |rewriter, op| {
        let module = rewriter.module();
        let mut state = OpState::new(module.context().name("x.dead"), module.loc(op));
        state.results.push(module.context().int_type(64));
        rewriter.replace_with(op, state).expect("one result");
        Ok(())
    })
    .with_benefit(5);
    let set = frozen([blind, rename(&context, "x.a", "x.c")]);
    let report = run(&mut module, &target, &set, Mode::Partial).expect("a way");
    assert_eq!((names(&module), report.undone), (vec!["x.c".into(), "x.use".into()], 1));
}

#[test]
fn modes_differ_in_what_has_to_be_legal() {
    let context = context();
    let set = || frozen([rename(&context, "x.a", "x.c")]);
    let target = target(&context, &["x.c"], &["x.a"]);
    let mut module = parse(&context, CHAIN);
    let error = run(&mut module, &target, &set(), Mode::Full).expect_err("x.use is unknown");
    assert_eq!(error, "failed to legalize operation 'x.use' []");
    let report = run(&mut module, &target, &set(), Mode::Analysis).expect("analysis never fails");
    let names = report.operations.iter().map(|&op| module.name_text(op));
    assert_eq!(names.collect::<Vec<_>>(), ["x.a"]);
    let error = run(&mut module, &target, &frozen([]), Mode::Partial).expect_err("no pattern");
    assert!(error.starts_with("failed to legalize operation 'x.a' that was explicitly marked"));
}

#[test]
fn recursion_that_is_not_declared_is_refused_by_name() {
    let context = context();
    let source = "\"x.peel\"() {n = 3 : i64} : () -> ()";
    let peel = || {
        rule(&context, "peel", "x.peel", |rewriter, op| {
            let module = rewriter.module();
            let context = module.context_arc().clone();
            let n = module.attr(op, "n").and_then(|n| context.as_i64(n)).unwrap_or(0);
            let name = if n == 0 { "x.done" } else { "x.peel" };
            let mut state = OpState::new(context.name(name), module.loc(op));
            state.attrs = context.dict([(context.str("n"), context.i64_attr(n - 1))]);
            rewriter.replace_with(op, state).expect("no result");
            Ok(())
        })
    };
    let target = target(&context, &["x.done"], &["x.peel"]);
    let mut module = parse(&context, source);
    let error = run(&mut module, &target, &frozen([peel()]), Mode::Partial).expect_err("refused");
    assert!(error.contains("pattern `peel` would be applied to its own result"), "{error}");
    run(&mut module, &target, &frozen([peel().with_bounded_recursion()]), Mode::Partial)
        .expect("declared");
    assert_eq!(names(&module), ["x.done"]);
    let endless = source.replace('3', "-1");
    let mut module = parse(&context, &endless);
    let set = frozen([peel().with_bounded_recursion()]);
    let error = run(&mut module, &target, &set, Mode::Partial).expect_err("endless");
    assert!(error.contains("follows 128 other rewrites"), "{error}");
}

#[test]
fn legality_may_depend_on_the_operation_and_hold_for_what_is_inside() {
    let context = context();
    let source = r#"
"x.if"() ({ "x.a"() : () -> () }) {keep} : () -> ()
"x.if"() ({ "x.a"() : () -> () }) : () -> ()"#;
    let mut module = parse(&context, source);
    let mut target = target(&context, &["x.c"], &["x.a"]);
    target.dynamic(context.name("x.if"), |_, _| Some(true));
    target.recursively_legal_if(context.name("x.if"), |module, op| {
        Some(module.attr(op, "keep").is_some())
    });
    run(&mut module, &target, &frozen([rename(&context, "x.a", "x.c")]), Mode::Full)
        .expect("legal");
    let text = show(&module);
    assert_eq!((text.matches("x.a").count(), text.matches("x.c").count()), (1, 1));
    // What is said of an operation beats what is said of its dialect.
    target.illegal_dialect(&context, "x");
    run(&mut module, &target, &frozen([]), Mode::Partial).expect("still legal");
    let mut module = parse(&context, "\"x.other\"() : () -> ()");
    let error = run(&mut module, &target, &frozen([]), Mode::Partial).expect_err("the dialect");
    assert!(error.contains("'x.other' that was explicitly marked illegal"), "{error}");
}

/// `i64` becomes `i32`, `i8` two `i4`, `i1` nothing.
fn converter() -> TypeConverter {
    let mut types = TypeConverter::new();
    types.add(|_, ty| TypeConversion::one(ty));
    types.add(|context, ty| match ty {
        _ if ty == context.int_type(64) => TypeConversion::one(context.int_type(32)),
        _ if ty == context.int_type(8) => {
            TypeConversion::To([context.int_type(4); 2].into_iter().collect())
        }
        _ if ty == context.int_type(1) => TypeConversion::To(Default::default()),
        _ => TypeConversion::Skip,
    });
    types
}

/// Gives every operation named `x.*` the new types, and its blocks the new arguments.
fn retype(context: &Context, types: &Arc<TypeConverter>, names: &[&str]) -> FrozenPatternSet {
    let roots = Roots::Names(names.iter().map(|name| context.name(name)).collect());
    let pattern =
        ConversionPattern::new("retype", roots, types, |rewriter, types, op, operands| {
            let module = rewriter.module();
            let context = module.context_arc().clone();
            let mut state = OpState::new(module.name(op), module.loc(op));
            state.operands.extend(operands.all());
            state.regions = module.regions(op).len() as u32;
            let mut lengths = Vec::new();
            for value in module.results(op) {
                let new = types.convert(&context, module.value_type(value)).expect("a type");
                lengths.push(new.len());
                state.results.extend(new);
            }
            let new = rewriter.create(Point::Before(op), state);
            for i in 0..rewriter.module().regions(op).len() {
                let (from, to) =
                    (rewriter.module().region(op, i), rewriter.module().region(new, i));
                rewriter.inline_region(from, to, None);
            }
            types.convert_regions(rewriter, new).expect("types for all arguments");
            let mut results = rewriter.module().results(new);
            let values: Vec<Vec<Value>> =
                lengths.iter().map(|&n| results.by_ref().take(n).collect()).collect();
            types.replace(rewriter, op, &values).expect("a list for each result");
            Ok(())
        });
    let mut set = PatternSet::new();
    set.add(pattern);
    set.freeze()
}

const TYPED: &str = r#"
%a, %b, %c = "x.make"() : () -> (i64, i8, i1)
"x.if"() ({
^bb0(%x: i8, %y: i64):
  "x.use"(%x, %y, %b) : (i8, i64, i8) -> ()
}) : () -> ()
"x.use"(%a, %b, %c) : (i64, i8, i1) -> ()"#;

fn typed_target(types: &Arc<TypeConverter>) -> ConversionTarget {
    let mut target = ConversionTarget::new();
    let types = types.clone();
    target.unknown(move |module, op| Some(types.is_legal_op(module, op)));
    target
}

#[test]
fn values_become_none_one_or_several_and_no_cast_is_left() {
    let context = context();
    let types = Arc::new(converter());
    let mut module = parse(&context, TYPED);
    let set = retype(&context, &types, &["x.make", "x.use", "x.if"]);
    run(&mut module, &typed_target(&types), &set, Mode::Full).expect("types for all");
    let text = show(&module);
    assert!(!text.contains("cast"), "{text}");
    assert!(text.contains("\"x.make\"() : () -> (i32, i4, i4)"), "{text}");
    assert!(text.contains("(i4, i4, i32, i4, i4) -> ()"), "{text}");
    assert!(text.contains("(i32, i4, i4) -> ()"), "{text}");
}

#[test]
fn a_cast_that_stays_in_use_is_materialized_or_named() {
    let context = context();
    let source = "%a = \"x.make\"() : () -> i64\n\"y.use\"(%a) : (i64) -> ()";
    let convert_with = |types: TypeConverter| {
        let types = Arc::new(types);
        let mut module = parse(&context, source);
        let mut target = typed_target(&types);
        target.legal(context.name("y.use")).legal(context.name("x.widen"));
        let set = retype(&context, &types, &["x.make"]);
        let config = ConversionConfig { types: Some(&types), ..ConversionConfig::default() };
        let root = module.root();
        let result = convert(&mut module, root, &target, &set, &config, &mut Silent);
        (result.map_err(|errors| errors[0].clone()), show(&module))
    };
    let (result, text) = convert_with(converter());
    let error = result.expect_err("nothing makes an i64 of an i32");
    assert_eq!(
        error.message,
        "failed to legalize unresolved materialization from (i32) to (i64) that remained live \
         after conversion"
    );
    assert_eq!(
        (error.notes.as_slice(), text.contains("i32")),
        (&["used by `y.use`".into()][..], false)
    );
    let mut types = converter();
    types.add_source_materialization(|rewriter, point, ty, values, loc| {
        let mut state = OpState::new(rewriter.module().context().name("x.widen"), loc);
        state.operands.extend_from_slice(values);
        state.results.push(ty);
        let op = rewriter.create(point, state);
        Some(rewriter.module().result(op, 0))
    });
    let (result, text) = convert_with(types);
    result.expect("a materialization");
    assert!(text.contains("%1 = \"x.widen\"(%0) : (i32) -> i64"), "{text}");
}

#[test]
fn attributes_with_types_are_converted() {
    let context = context();
    let types = converter();
    let attr = |source: &str| {
        let module = parse(&context, &format!("\"x.a\"() {{t = {source}}} : () -> ()"));
        let op = module.first_op(module.body()).expect("one");
        module.attr(op, "t").expect("the attribute")
    };
    let new = types.convert_attr(&context, attr("[(i64, i8) -> i1, {a = i64}, 3 : i32]"));
    assert_eq!(new, Some(attr("[(i32, i4, i4) -> (), {a = i32}, 3 : i32]")));
    assert_eq!(types.convert_attr(&context, attr("i8")), None);
}
