//! What follows the sums of a row of a tile.
//!
//! ```text
//! y[c] = (uint8)clamp(round(sum[c] * scale + bias[c] + x[c]))      x of bytes
//!
//! for c: wide[c] = x[c];                     bytes to integers of 32 bits
//! for c: tile[c] = clamp(round(...));        everything else, on numbers of 32 bits
//! for c: y[c] = tile[c];                     integers of 32 bits to bytes
//! ```
//!
//! A row has few columns. Compilers choose the vectors of a loop for its narrowest type, so that one
//! with bytes and floats would compute with half vectors or none: tiles of integers, whose results
//! are bytes as a rule, convert in loops of their own. What is the same for all columns, such as a
//! zero point, is computed in front of them.

use std::fmt::Write;

use tangram_dialects::structured::{Body, Scalar, ScalarId};
use tangram_tensor::DType;

use super::body::{Scalars, c_type, is_short, is_within};
use crate::contraction::Product;

/// The text for one row, whose number is `r` and whose first column is `first_column`.
pub(super) struct Row {
    /// In front of the loops over columns.
    pub before: String,
    /// The iterator of columns.
    column: usize,
    /// Arrays of so many elements, and what they are filled with.
    widened: Vec<(String, String)>,
    capacity: usize,
    /// What is computed for a column.
    inside: Vec<String>,
    /// What is stored behind that, in a loop of its own.
    narrowed: Option<String>,
}

/// What becomes of the sums of a row: `sum` is the one of column `c`.
pub(super) fn row(
    mut scalars: Scalars<'_>,
    sum: String,
    product: &Product,
    capacity: usize,
) -> Row {
    let column = product.column;
    let mut row = Row {
        before: String::new(),
        column,
        widened: Vec::new(),
        capacity,
        inside: Vec::new(),
        narrowed: None,
    };
    let Some(finish) = scalars.nest.finish.clone() else {
        row.inside = scalars.stored(sum);
        return row;
    };
    let is_integer = product.element.is_pair();
    scalars.known.push((finish.combined, sum));
    let varies = varies(&scalars, &finish.body, finish.combined, column);
    if is_integer {
        widen(&mut scalars, &finish.body, &varies, &mut row);
    }
    for (at, line) in scalars.declarations(&finish.body) {
        match varies[at] {
            true => row.inside.push(line),
            false => row.before.push_str(&format!("        {line}\n")),
        }
    }
    let element = scalars.tensors[scalars.nest.output].element;
    let value = finish.body.value().unwrap_or(ScalarId(0));
    match is_integer && is_short(element) {
        false => row.inside.push(format!("{} = t{};", scalars.target(), value.0)),
        true => {
            let value = unconverted(&finish.body, &scalars.types(&finish.body), value);
            row.inside.push(format!("tile[r * {capacity} + c] = (uint32_t)(int32_t){value};"));
            let sum = format!("(int32_t)tile[r * {capacity} + c]");
            row.narrowed = Some(format!("{} = ({}){sum};", scalars.target(), c_type(element)));
        }
    }
    row
}

/// Reads short integers through arrays of longer ones.
fn widen(scalars: &mut Scalars<'_>, body: &Body, varies: &[bool], row: &mut Row) {
    let mut seen = Vec::new();
    for (scalar, _) in body.scalars().iter().zip(varies).filter(|(_, varies)| **varies) {
        let Scalar::Input(at) = *scalar else { continue };
        let is_known = scalars.known.iter().any(|(known, _)| *known == at);
        let element = scalars.tensors[scalars.nest.inputs[at]].element;
        let padded = scalars.nest.generic.inputs[at].outside.is_some();
        if !is_short(element) || is_known || padded || seen.contains(&at) {
            continue;
        }
        row.widened.push((format!("wide{at}"), scalars.source(at)));
        seen.push(at);
    }
    scalars.known.extend(seen.into_iter().map(|at| (at, format!("wide{at}[c]"))));
}

/// Which scalars are not the same for all columns.
fn varies(scalars: &Scalars<'_>, body: &Body, combined: usize, column: usize) -> Vec<bool> {
    let inputs = &scalars.nest.generic.inputs;
    let reads = |at: usize| at == combined || inputs[at].map.used().0[column];
    let mut varies: Vec<bool> = Vec::new();
    for scalar in body.scalars() {
        let of = |id: &ScalarId| varies[id.0 as usize];
        varies.push(match scalar {
            Scalar::Input(at) | Scalar::Inside(at) => reads(*at),
            Scalar::Index(at) => *at == column,
            Scalar::Symbol(_) | Scalar::Constant(_) => false,
            Scalar::Unary(_, a) | Scalar::Cast(_, a) => of(a),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => of(a) || of(b),
            Scalar::Select(test, a, b) => of(test) || of(a) || of(b),
            Scalar::Lookup(..) => true,
        });
    }
    varies
}

/// A value that is stored in a short type, before it is converted to that.
fn unconverted(body: &Body, types: &[DType], value: ScalarId) -> String {
    match body.scalars()[value.0 as usize] {
        Scalar::Cast(to, from)
            if types[from.0 as usize] == DType::I32 && !is_within(body, from, to) =>
        {
            format!("t{}", from.0)
        }
        _ => format!("t{}", value.0),
    }
}

impl Row {
    /// The loops over `count` columns.
    pub fn loops(&self, count: &str) -> String {
        let Row { column, capacity, .. } = self;
        let mut text = String::new();
        let mut add = |lines: &[String]| {
            let _ = writeln!(
                text,
                "            TANGRAM_SIMD\n            \
                 for (int64_t c = 0; c < {count}; c++) {{\n                \
                 const int64_t i{column} = first_column + c;"
            );
            for line in lines {
                let _ = writeln!(text, "                {line}");
            }
            text.push_str("            }\n");
        };
        let mut arrays = String::new();
        for (name, source) in &self.widened {
            let _ = writeln!(arrays, "            int32_t {name}[{capacity}];");
            add(&[format!("{name}[c] = {source};")]);
        }
        add(&self.inside);
        if let Some(narrowed) = &self.narrowed {
            add(std::slice::from_ref(narrowed));
        }
        match arrays.is_empty() {
            true => text,
            false => format!("            {{\n{arrays}{text}            }}\n"),
        }
    }
}
