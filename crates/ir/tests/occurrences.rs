//! Where the names of a text stand: each use leads to its definition, by MLIR's scopes.

use tangram_ir::text::{Occurrences, parse_with_occurrences};
use tangram_ir::{Context, OpDef, Traits};

static MODULE: OpDef = OpDef {
    regions: Some(1),
    traits: Traits::SYMBOL_TABLE.union(Traits::ISOLATED),
    ..OpDef::new("t.module", "a table of symbols")
};
static FUNC: OpDef = OpDef {
    regions: Some(1),
    traits: Traits::SYMBOL.union(Traits::ISOLATED),
    ..OpDef::new("t.func", "a symbol")
};

fn read(text: &str) -> (bool, Occurrences) {
    let context = Context::new();
    context.register([&MODULE, &FUNC]);
    let (read, names) = parse_with_occurrences(text, "a.mlir", context);
    (read.is_ok(), names)
}

/// Each `<use>` of `text` is defined at the `[n]` of its number; both marks are taken out first.
fn check(marked: &str, is_right: bool) {
    let (mut text, mut marks) = (String::new(), Vec::new());
    let mut rest = marked;
    while let Some(at) = rest.find('\u{ab}') {
        text += &rest[..at];
        let (mark, behind) = rest[at + 2..].split_once('\u{bb}').expect("a closed mark");
        marks.push((mark, text.len() as u32));
        rest = behind;
    }
    text += rest;
    let (read, names) = read(&text);
    assert_eq!(read, is_right, "{text}");
    for (mark, at) in &marks {
        let Some(number) = mark.strip_prefix("use ") else { continue };
        let define = |other: &&(&str, u32)| other.0.strip_prefix("def ") == Some(number);
        let expected = marks.iter().find(define).map(|mark| mark.1);
        let found = names.definition(*at).map(|place| place.start);
        assert_eq!(found, expected, "`{mark}` at {at} of\n{text}");
    }
}

#[test]
fn values_lead_to_the_innermost_definition_in_scope() {
    check(
        "«def a»%x:2 = \"t.make\"() : () -> (i1, i2)\n\
         \"t.use\"(«use a»%x#1, «use b»%late) : (i2, i8) -> ()\n\
         «def b»%late = \"t.make\"() : () -> i8\n\
         \"t.func\"() ({\n^bb0(«def c»%x: i4):\n  \"t.use\"(«use c»%x) : (i4) -> ()\n}) : () -> ()\n\
         \"t.loop\"() ({\n  \"t.use\"(«use a»%x#0) : (i1) -> ()\n}) : () -> ()\n",
        true,
    );
}

#[test]
fn symbols_lead_to_their_table() {
    check(
        "\"t.func\"() <{sym_name = «def a»\"f\"}> ({}) : () -> ()\n\
         \"t.module\"() <{sym_name = «def m»\"m\"}> ({\n  \
           \"t.func\"() <{sym_name = «def b»\"f\"}> ({}) : () -> ()\n  \
           \"t.call\"() {callee = «use b»@f, other = «use none»@g} : () -> ()\n\
         }) : () -> ()\n\
         \"t.call\"() {callee = «use a»@f, path = «use m»@m::«use b»@f} : () -> ()\n",
        true,
    );
}

#[test]
fn what_is_right_is_known_beside_errors() {
    check(
        "«def a»%x = \"t.make\"() : () -> i1\n\
         \"t.broken\"(%x : i1\n\
         \"t.use\"(«use a»%x) : (i1) -> ()\n",
        false,
    );
    let (_, names) = read("%x:2 = \"t.make\"() : () -> (i1, i2)\n\"t.use\"(%x#1) : (i2) -> ()\n");
    let (value, index) = names.value(44).expect("the use");
    assert_eq!((value.types.len(), index), (2, Some(1)));
    assert_eq!(names.operations.len(), 2);
}
