//! What `--debug-only` shows of each driver.

mod common;

use common::{context, frozen, parse, rule};
use tangram_ir::{Context, OpState};
use tangram_rewrite::conversion::{ConversionConfig, ConversionTarget, convert};
use tangram_rewrite::{DebugKind, DebugLog, FnPattern, GreedyConfig, greedy, walk_and_apply};

const SOURCE: &str = "\"x.a\"() : () -> ()";

fn patterns(context: &Context) -> [FnPattern; 2] {
    let never = rule(context, "never", "x.a", |rewriter, _| {
        Err(rewriter.no_match(|| "it is not to be".to_owned()))
    });
    let always = rule(context, "always", "x.a", |rewriter, op| {
        let module = rewriter.module();
        let state = OpState::new(module.context().name("x.b"), module.loc(op));
        rewriter.replace_with(op, state).expect("no results");
        Ok(())
    });
    [never.with_benefit(2), always.with_generated([context.name("x.b")])]
}

const TRIED: &str = r#"  "x.a"() : () -> ()

  * Pattern never : 'x.a -> ()' {
    ** Match Failure : it is not to be
  } -> failure : pattern failed to match

  * Pattern always : 'x.a -> (x.b)' {
    ** Insert  : 'x.b'(0x3)
    ** Replace : 'x.a'(0x1)
    ** Erase   : 'x.a'(0x1)
  } -> success : pattern applied successfully
"#;

#[test]
fn the_greedy_driver_shows_a_tree_of_attempts() {
    let context = context();
    let mut module = parse(&context, SOURCE);
    let (root, set) = (module.root(), frozen(patterns(&context)));
    let mut out = String::new();
    let mut log = DebugLog::new(&mut out, DebugKind::Greedy);
    greedy::apply_with_listener(&mut module, root, &set, &GreedyConfig::default(), &mut log);
    let line = "//===-------------------------------------------===//\n";
    let first = out.split(line).nth(1).expect("one operation");
    assert_eq!(
        anonymous(first),
        anonymous(&format!(
            "Processing operation : 'x.a'(0x1) {{\n{TRIED}}} -> success : pattern matched\n"
        ))
    );
    let second = out.split(line).nth(3).expect("the new operation");
    assert!(second.ends_with("} -> failure : pattern failed to match\n"), "{second}");
}

/// The text without numbers of handles, which are no promise.
fn anonymous(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split("(0x").enumerate() {
        let part = if i == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
        out.push_str(part);
    }
    out
}

#[test]
fn the_walk_driver_shows_visits_and_hits() {
    let context = context();
    let region = "\"x.c\"() ({ \"x.d\"() : () -> () }, {}) : () -> ()";
    let mut module = parse(&context, &format!("{SOURCE}\n{region}"));
    let (root, set) = (module.root(), frozen(patterns(&context)));
    let mut out = String::new();
    walk_and_apply(&mut module, root, &set, &mut DebugLog::new(&mut out, DebugKind::Walk));
    assert_eq!(
        out,
        "Visiting op: \"x.a\"() : () -> ()\n\tOp matched and rewritten\n\
         Visiting op: \"x.d\"() : () -> ()\n\
         Visiting op: \"x.c\"() ({...}, {...}) : () -> ()\n"
    );
}

#[test]
fn conversion_shows_what_is_made_legal_because_of_what() {
    let context = context();
    let mut module = parse(&context, SOURCE);
    let (root, set) = (module.root(), frozen(patterns(&context)));
    let mut target = ConversionTarget::new();
    target.illegal(context.name("x.a")).legal(context.name("x.b"));
    let mut out = String::new();
    let mut log = DebugLog::new(&mut out, DebugKind::Conversion);
    convert(&mut module, root, &target, &set, &ConversionConfig::default(), &mut log)
        .expect("a way");
    let tried = TRIED
        .replace("success", "SUCCESS")
        .replace("SUCCESSfully", "successfully")
        .replace("failure", "FAILURE")
        .replace("Match Failure", "Failure")
        .replacen("  * Pattern", "  * Fold {\n  } -> FAILURE : unable to fold\n\n  * Pattern", 1);
    let wanted = format!(
        "Legalizing operation : 'x.a'(0x1) {{\n{tried}  Legalizing operation : 'x.b'(0x3) {{\n    \
         \"x.b\"() : () -> ()\n\n  }} -> SUCCESS : operation marked legal by the target\n}} -> \
         SUCCESS\n"
    );
    assert_eq!(
        anonymous(out.split("===//\n").nth(1).unwrap_or(""))
            .replace("//===-------------------------------------------", ""),
        anonymous(&wanted)
    );
    assert_eq!(DebugKind::of_flag("dialect-conversion"), Some(DebugKind::Conversion));
    assert_eq!(DebugKind::of_flag("everything"), None);
}
