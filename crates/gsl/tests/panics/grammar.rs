//! Rules by grammar: one operation, with attributes of any value that their kind allows.

use tangram_ir::{Arity, AttrDef, AttrKind, OpDef};

/// Draws a number below the given one: at random in tests, from bytes when fuzzing.
pub type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

fn one_of<T: Copy>(draw: Draw, all: &[T]) -> T {
    all[draw(all.len())]
}

/// A value of a kind, as it is written.
fn value(kind: AttrKind, draw: Draw) -> Option<String> {
    const INTEGERS: [i64; 10] = [0, 1, 2, 3, -1, -2, 7, 64, i64::MAX, i64::MIN + 1];
    let integer = |draw: Draw| one_of(draw, &INTEGERS).to_string();
    Some(match kind {
        AttrKind::Int | AttrKind::Any => integer(draw),
        AttrKind::Ints => {
            let list: Vec<String> = (0..draw(5)).map(|_| integer(draw)).collect();
            format!("[{}]", list.join(", "))
        }
        AttrKind::Float => one_of(draw, &["0.0", "-1.5", "1e-5", "3.0e38", "inf", "nan"]).into(),
        AttrKind::Floats => one_of(draw, &["[]", "[0.5]", "[inf, -2.0, 0.0]"]).into(),
        AttrKind::Bool => (draw(2) == 0).to_string(),
        AttrKind::Enum(names) | AttrKind::IntsOr(names) => format!("\"{}\"", one_of(draw, names)),
        AttrKind::Str => one_of(draw, &["\"\"", "\"ij,jk->ik\"", "\"->\"", "\"...,i\""]).into(),
        AttrKind::DType => format!("\"{}\"", one_of(draw, &["int8", "float16", "uint64", "bool"])),
        _ => return None,
    })
}

fn attributes(def: &OpDef, draw: Draw) -> String {
    let mut given = |attr: &AttrDef| {
        let chosen = draw(3) == 0;
        let value = value(attr.kind, draw).filter(|_| chosen)?;
        Some(format!("{} = {value}", attr.name))
    };
    def.attrs.iter().filter_map(&mut given).collect::<Vec<_>>().join(", ")
}

/// A rule that calls the operation, and rewrites it to itself, to an operand or to others.
pub fn rule(def: &OpDef, draw: Draw) -> String {
    let operands = def.operands.iter().filter(|o| o.arity != Arity::Optional || draw(2) == 0);
    let count: usize = operands.map(|o| if o.arity == Arity::Variadic { 2 } else { 1 }).sum();
    let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
    let leaf = |draw: Draw| match draw(6) {
        0 => format!("const {{ ndim = {} }}", draw(4)),
        1 => "const".to_owned(),
        2 => "variable".to_owned(),
        _ => "*".to_owned(),
    };
    let lets: String = names.iter().map(|name| format!("let {name} = {}; ", leaf(draw))).collect();
    let conditions: Vec<String> = names
        .iter()
        .filter_map(|name| match draw(6) {
            0 => Some(format!("{name}.ndim == {}", draw(6))),
            1 => Some(format!("{name}.ndim <= {}", draw(4))),
            2 => Some(format!("{name}.shape == []")),
            3 => Some(format!("{name}.dtype == \"{}\"", one_of(draw, &["uint64", "bool", "int8"]))),
            _ => None,
        })
        .collect();
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!("where {};", conditions.join(", ")),
    };
    let (op, args) = (def.name, names.join(", "));
    let result = if def.results.len() == 1 { "" } else { "[0]" };
    let attrs = attributes(def, draw);
    let target = match draw(3) {
        0 => names.first().cloned().unwrap_or_else(|| "const(1.0)".to_owned()),
        1 => format!("{op}({args}) {{ ..e }}{result}"),
        _ => format!("identity({op}({args}) {{ {}{}..e }}{result})", attributes(def, draw), ", "),
    };
    let target = target.replace("{ , ..e", "{ ..e");
    format!(
        "rule r alias {{ {lets} let e = {op}({args}) {{ {attrs} }}; match e{result}; {conditions} \
         rewrite {target}; }}"
    )
}
