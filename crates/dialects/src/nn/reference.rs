//! The reference documentation of the dialect, written from its definitions.

use std::fmt::Write;

use tangram_ir::{Arity, AttrDef, OpDef, Traits};

use super::{FAMILIES, NnOp};

/// The reference of every operation, as Markdown.
pub fn reference() -> String {
    let mut out = String::from(
        "# Operations of the nn dialect\n\n\
         Written from the definitions in `crates/dialects/src/nn`; run the tests with `BLESS=1` \
         to write it anew. `x?` may be absent, `x...` is any number. Operations marked \
         *evaluated* are computed when their operands are constant, those marked *structured* have \
         a definition as loops.\n\n\
         ## The order of sums\n\n\
         Compiled code with `--exact` combines the terms of each sum, product, maximum and minimum one \
         after the other, in the order of the operation's loops, whatever stands around it:\n\n\
         - reductions, norms, softmax and pools: the reduced dimensions or places of the window in \
         row-major order, the last fastest;\n\
         - products of matrices and attention: the inner dimension, upwards;\n\
         - convolutions: the places of the window in row-major order and, for each, the channels of \
         the group, upwards; transposed ones: the channels and, for each, the places;\n\
         - `nn.einsum`: the summed letters in the order in which the equation has them.\n\n\
         `tangram compile --exact --print-after import` shows it as the attribute `order` of each nest. \
         The reference kernels sum in blocks, in `f64` or in this order: they differ by roundings.\n",
    );
    for (title, family) in FAMILIES {
        write_family(&mut out, title, family).expect("a string takes all text");
    }
    out
}

fn write_family(out: &mut String, title: &str, family: &[NnOp]) -> std::fmt::Result {
    writeln!(out, "\n## {title}")?;
    for op in family {
        write_op(out, op)?;
    }
    Ok(())
}

fn write_op(out: &mut String, op: &NnOp) -> std::fmt::Result {
    writeln!(out, "\n### {}\n\n{}", op.def.name, describe(&op.def))
}

/// What `def` says of an operation, as Markdown: what it computes, its operands, results and
/// attributes, and its properties. Of any dialect.
pub fn describe(def: &OpDef) -> String {
    let mut out = format!("{}\n\n`{}`", sentence(def.summary), signature(def));
    let values = def.operands.iter().map(|o| (o.name, o.doc));
    let values = values.chain(def.results.iter().map(|r| (r.name, r.doc)));
    let mut lines: Vec<String> = values.map(|(name, doc)| format!("- `{name}`: {doc}")).collect();
    lines.extend(def.attrs.iter().map(|attr| format!("- {}", describe_attribute(attr))));
    if !lines.is_empty() {
        out += &format!("\n\n{}", lines.join("\n"));
    }
    let notes = notes(def);
    if notes.is_empty() { out } else { out + &format!("\n\n*{}*", notes.join(", ")) }
}

fn sentence(summary: &str) -> String {
    format!("{summary}.")
}

fn mark(name: &str, arity: Arity) -> String {
    match arity {
        Arity::One => name.to_owned(),
        Arity::Optional => format!("{name}?"),
        Arity::Variadic => format!("{name}..."),
    }
}

fn signature(def: &OpDef) -> String {
    let operands: Vec<String> = def.operands.iter().map(|o| mark(o.name, o.arity)).collect();
    let results: Vec<String> = def.results.iter().map(|r| mark(r.name, r.arity)).collect();
    let regions = match def.regions {
        Some(0) | None => String::new(),
        Some(1) => ", 1 region".to_owned(),
        Some(n) => format!(", {n} regions"),
    };
    format!("({}) -> ({}){regions}", operands.join(", "), results.join(", "))
}

/// What an attribute takes and means, as Markdown.
pub fn describe_attribute(attr: &AttrDef) -> String {
    let mark = if attr.required { "" } else { "?" };
    format!("`{{{}{mark}}}` {}: {}", attr.name, attr.kind, attr.doc)
}

fn notes(def: &OpDef) -> Vec<&'static str> {
    let named = [
        (Traits::ELEMENTWISE, "elementwise"),
        (Traits::BROADCASTING, "broadcasting"),
        (Traits::COMMUTATIVE, "commutative"),
        (Traits::ASSOCIATIVE, "associative"),
        (Traits::IDEMPOTENT, "idempotent"),
        (Traits::INVOLUTION, "an involution"),
        (Traits::RANDOM, "random"),
        (Traits::TERMINATOR, "a terminator"),
    ];
    let held = named.into_iter().filter(|(flag, _)| def.traits.contains(*flag));
    let nn = super::ops().find(|op| op.def.name == def.name);
    let evaluated = nn.and_then(|op| op.eval).map(|_| "evaluated");
    let structured = nn.and_then(|op| op.structured).map(|_| "structured");
    held.map(|(_, name)| name).chain(evaluated).chain(structured).collect()
}
