//! Tiles whose rows or columns have sums of their own lengths, as C.
//!
//! What all elements have runs in registers; the ends run one by one on the same panels, so that
//! every element takes its iterations in their order.

use std::fmt::Write;

use crate::body::{Op, Role};
use crate::c::{Strength, Writer, bracketed};
use crate::program::Program;
use crate::steps::StepError;
use crate::tile::Element;

/// What a function takes for the ends of sums, and passes on.
const ROWS: [&str; 2] = ["const int *first, const int *end", "first, end"];
const COLUMNS: [&str; 2] = [
    "const int *first, const int *end, const int *first_column, const int *end_column",
    "first, end, first_column, end_column",
];

impl Program {
    /// Writes functions that update a tile whose sums have lengths of their own: `name`, and
    /// `name_edge` for a part of one.
    ///
    /// ```text
    /// static void name(long depth, operands.., T *const *c, const int *first, const int *end);
    /// static void name_edge(long depth, operands.., T *const *c,
    ///                       int rows, const int *from, const int *to,
    ///                       const int *first, const int *end);
    /// ```
    ///
    /// Row `r` has the iterations from `first[r]` up to `end[r]`, exclusive, of `depth`; both may
    /// be out of that range. If they also depend on columns (`by_columns`), these come behind them
    /// in the same way: `const int *first_column, const int *end_column`. All else is as in
    /// [`to_c`](Self::to_c).
    ///
    /// # Errors
    /// As [`to_packed_ir`](Self::to_packed_ir).
    pub fn to_c_ragged(
        &self,
        name: &str,
        element: Element,
        by_columns: bool,
    ) -> Result<String, StepError> {
        let kernel = format!("{name}_run");
        let writer = Writer::new(self, &kernel, element);
        let mut text = writer.kernel()?;
        let [parameters, arguments] = if by_columns { COLUMNS } else { ROWS };
        let parameters = &format!("{}{parameters}", " ".repeat(name.len() + 13));
        let writer = Writer { name, vector_of: Some(&kernel), ..writer };
        text.push_str(&writer.ends(by_columns, parameters));
        text.push_str(&writer.whole(by_columns, parameters, arguments));
        text.push_str(&writer.edge([&format!(",\n{parameters}"), &format!(", {arguments}")]));
        Ok(text)
    }
}

impl Writer<'_> {
    /// Updates elements in some iterations, as far as these are theirs: row by row, a row in
    /// registers, or element by element where columns have ends of their own.
    fn ends(&self, by_columns: bool, parameters: &str) -> String {
        let Self { program, name, .. } = self;
        let (ty, rows, columns) = (self.element.c_type(), program.rows, program.columns);
        let mut text = format!(
            "/* Updates a tile in iterations from up to to, each row as far as it has them. */\n\
             static void {name}_ends(long from, long to, {}{ty} *const *restrict c,\n{parameters})\n{{\n",
            self.operands(),
        );
        if by_columns {
            let _ = write!(
                text,
                "    long low = to, high = from;\n    \
                 for (int j = 0; j < {columns}; j++) {{\n        \
                 low = first_column[j] < low ? first_column[j] : low;\n        \
                 high = end_column[j] > high ? end_column[j] : high;\n    }}\n    \
                 from = low > from ? low : from;\n    \
                 to = high < to ? high : to;\n"
            );
        }
        let _ = write!(
            text,
            "    for (int r = 0; r < {rows}; r++) {{\n        \
             const int begin = first[r] > from ? first[r] : from;\n        \
             const int stop = end[r] < to ? end[r] : to;\n        \
             if (begin >= stop)\n            \
             continue;\n"
        );
        let inside = if by_columns { self.masked_row() } else { self.plain_row() };
        text.push_str(&inside);
        text.push_str("    }\n}\n\n");
        text
    }

    /// Updates a row in registers.
    fn plain_row(&self) -> String {
        let (vector, width) = (self.vector(), self.program.width);
        let starts = (0..self.program.columns).step_by(width);
        let place = |at: usize| match width {
            1 => format!("c[r][{at}]"),
            _ => format!("*({vector} *)(c[r] + {at})"),
        };
        let mut text = String::new();
        for at in starts.clone() {
            let _ = writeln!(text, "        {vector} x{at} = {};", place(at));
        }
        text.push_str("        for (int p = begin; p < stop; p++) {\n");
        for at in starts.clone() {
            let updated = self.updated(&format!("x{at}"), &at.to_string(), width);
            let _ = writeln!(text, "            x{at} = {updated};");
        }
        text.push_str("        }\n");
        for at in starts {
            let _ = writeln!(text, "        {} = x{at};", place(at));
        }
        text
    }

    /// Updates those elements of a row that have an iteration, which compilers make vectors of.
    fn masked_row(&self) -> String {
        let columns = self.program.columns;
        format!(
            "        for (int p = begin; p < stop; p++)\n            \
             for (int j = 0; j < {columns}; j++)\n                \
             c[r][j] = first_column[j] <= p && p < end_column[j]\n                    \
             ? {} : c[r][j];\n",
            self.updated("c[r][j]", "j", 1),
        )
    }

    /// Updates all of a tile.
    fn whole(&self, by_columns: bool, parameters: &str, arguments: &str) -> String {
        let Self { program, name, .. } = self;
        let (ty, rows, columns) = (self.element.c_type(), program.rows, program.columns);
        let mut text = format!(
            "/* Updates a tile: what all rows have in registers, what some have one by one. */\n\
             static void {name}(long depth, {}{ty} *const *restrict c,\n{parameters})\n{{\n    \
             long from = 0, to = depth;\n",
            self.operands(),
        );
        let mut narrow = |count: usize, [first, end]: [&str; 2]| {
            let _ = writeln!(
                text,
                "    for (int r = 0; r < {count}; r++) {{\n        \
                     from = {first}[r] > from ? {first}[r] : from;\n        \
                     to = {end}[r] < to ? {end}[r] : to;\n    }}"
            );
        };
        narrow(rows, ["first", "end"]);
        if by_columns {
            narrow(columns, ["first_column", "end_column"]);
        }
        let mut inside = String::new();
        for (at, role) in program.body.roles().iter().enumerate() {
            let _ = match role {
                Role::Row => write!(inside, "a{at} + from * {rows}, "),
                Role::Column => write!(inside, "b{at} + from * {columns}, "),
                Role::Scalar => write!(inside, "s{at}, "),
            };
        }
        let outside = self.arguments();
        let _ = write!(
            text,
            "    from = from < depth ? from : depth;\n    \
             to = to > from ? to : from;\n    \
             {name}_ends(0, from, {outside}c, {arguments});\n    \
             {name}_run(to - from, {inside}c);\n    \
             {name}_ends(to, depth, {outside}c, {arguments});\n}}\n\n"
        );
        text
    }

    /// What elements of row `r` from `column` on become in an iteration `p`: an expression of the
    /// form of the source's.
    fn updated(&self, target: &str, column: &str, width: usize) -> String {
        let Self { program, .. } = self;
        let (body, vector) = (&program.body, self.vector());
        // Less zero is every number itself, also a negative zero.
        let splat = |scalar: String| match width {
            1 => (scalar, Strength::Atom),
            _ => (format!("{scalar} - ({vector}){{0}}"), Strength::Sum),
        };
        let mut values: Vec<(String, Strength)> = Vec::new();
        for op in body.ops() {
            let value = match *op {
                Op::Operand(at) => match body.roles()[at] {
                    Role::Row => splat(format!("a{at}[p * {} + r]", program.rows)),
                    Role::Scalar => splat(format!("s{at}")),
                    Role::Column => {
                        let element = format!("b{at}[p * {} + {column}]", program.columns);
                        let text = match width {
                            1 => element,
                            _ => format!("*(const {vector} *)&{element}"),
                        };
                        (text, Strength::Atom)
                    }
                },
                Op::Neg => {
                    let of = values.pop().unwrap_or_default();
                    (format!("-{}", bracketed(of, Strength::Atom)), Strength::Product)
                }
                Op::Add | Op::Sub | Op::Mul | Op::Div => {
                    let right = values.pop().unwrap_or_default();
                    let left = values.pop().unwrap_or_default();
                    op.joined(left, right)
                }
            };
            values.push(value);
        }
        let op = if body.subtracts() { Op::Sub } else { Op::Add };
        let target = (target.to_owned(), Strength::Atom);
        op.joined(target, values.pop().unwrap_or_default()).0
    }
}
