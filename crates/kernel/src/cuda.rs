//! Programs as functions of a thread in CUDA.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::body::Role;
use crate::c::{Strength, Text, Writer, bracketed};
use crate::program::{Inst, Program, Register};
use crate::tile::Element;

/// What bounds sums.
const SIDES: [&str; 2] = ["row", "column"];

/// How the threads of a block share a tile of the target, and how its operands lie.
///
/// Rows and columns are dealt out in turn: thread `t` of `n` has `t`, `t + n`, `t + 2 n`.. So
/// neighbouring threads read neighbouring elements, which takes a step of shared memory for all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Threads {
    /// Threads along rows and along columns.
    pub counts: [usize; 2],
    /// Elements from an iteration to the next in the panel of a row operand, and of a column operand.
    pub pitch: [usize; 2],
    /// Whether rows, and columns, have sums that begin and end at iterations of their own.
    pub ragged: [bool; 2],
}

impl Program {
    /// Writes a function that updates what a thread has of a tile, in registers.
    ///
    /// ```text
    /// static __device__ __forceinline__ void name(int depth, operands.., T (*c)[columns]);
    /// ```
    ///
    /// An operand is a pointer to the thread's first row or column in a panel that has all rows, or
    /// all columns, of an iteration side by side ([`Threads::pitch`]); a scalar its value. Sums take
    /// the iterations in their order, each update one expression of the source's form.
    ///
    /// Where sums of rows have ends of their own, `const int *first_row, const int *end_row` come
    /// behind `depth`, the first iteration of each and the one behind its last,
    /// which may be out of range; those of columns, `first_column` and `end_column`, likewise.
    pub fn to_cuda(&self, name: &str, element: Element, threads: &Threads) -> String {
        let writer = Writer::new(self, name, element);
        let mut lines = Lines {
            program: self,
            ty: element.c_type(),
            apart: threads.counts,
            pending: FxHashMap::default(),
        };
        let ty = element.c_type();
        let counts = [self.rows, self.columns];
        let sides: Vec<usize> = (0..2).filter(|side| threads.ragged[*side]).collect();
        let ends: String = sides
            .iter()
            .map(|side| {
                let name = SIDES[*side];
                format!("const int *first_{name}, const int *end_{name}, ")
            })
            .collect();
        let mut text = format!(
            "static __device__ __forceinline__ void {name}(int depth, {ends}{}{ty} (*c)[{}])\n{{\n",
            writer.operands().replace("*restrict ", "*"),
            self.columns,
        );
        let mut places = FxHashMap::default();
        for inst in &self.before {
            text.extend(lines.of(inst).map(|line| format!("    {line}\n")));
            if let Inst::LoadTarget { to, row, column } = *inst {
                places.insert(to, [row, column]);
            }
        }
        text.push_str("    for (int p = 0; p < depth; p++) {\n");
        for (side, at) in sides.iter().flat_map(|side| (0..counts[*side]).map(|at| (*side, at))) {
            let name = SIDES[side];
            let _ = writeln!(
                text,
                "        const bool {name}{at} = first_{name}[{at}] <= p && p < end_{name}[{at}];"
            );
        }
        for inst in &self.step {
            let Some(line) = lines.of(inst) else { continue };
            let place = inst.target().and_then(|to| places.get(&to));
            let tests: Vec<String> = place
                .into_iter()
                .flat_map(|place| {
                    sides.iter().map(|side| format!("{}{}", SIDES[*side], place[*side]))
                })
                .collect();
            let test = match tests.is_empty() {
                true => String::new(),
                false => format!("if ({}) ", tests.join(" && ")),
            };
            let _ = writeln!(text, "        {test}{line}");
        }
        for (at, role) in self.body.roles().iter().enumerate() {
            let _ = match role {
                Role::Row => writeln!(text, "        a{at} += {};", threads.pitch[0]),
                Role::Column => writeln!(text, "        b{at} += {};", threads.pitch[1]),
                Role::Scalar => Ok(()),
            };
        }
        text.push_str("    }\n");
        for inst in &self.after {
            text.extend(lines.of(inst).map(|line| format!("    {line}\n")));
        }
        text.push_str("}\n\n");
        text
    }
}

/// Statements of a thread, whose registers have one element each.
struct Lines<'a> {
    program: &'a Program,
    ty: &'a str,
    /// How many elements lie from a row to the next in a panel, and from a column to the next.
    apart: [usize; 2],
    /// What becomes a part of the expressions that read it.
    pending: FxHashMap<Register, Text>,
}

impl Lines<'_> {
    /// The statement of an instruction. What is neither loaded nor a sum has none: compilers fuse the same
    /// operations as in the source within an expression.
    fn of(&mut self, inst: &Inst) -> Option<String> {
        if let Inst::StoreTarget { from, row, column } = *inst {
            return Some(format!("c[{row}][{column}] = r{};", from.0));
        }
        let to = inst.target()?;
        let updates = inst.sources().any(|source| source == to);
        let value = self.value(inst);
        if !updates && !matches!(inst, Inst::Load { .. } | Inst::LoadTarget { .. }) {
            self.pending.insert(to, value);
            return None;
        }
        let declared = if updates { String::new() } else { format!("{} ", self.ty) };
        Some(format!("{declared}r{} = {};", to.0, value.0))
    }

    fn value(&self, inst: &Inst) -> Text {
        let operand = |register: Register| match self.pending.get(&register) {
            Some(text) => text.clone(),
            None => (format!("r{}", register.0), Strength::Atom),
        };
        let atom = |text: String| (text, Strength::Atom);
        match *inst {
            Inst::LoadTarget { row, column, .. } => atom(format!("c[{row}][{column}]")),
            Inst::Load { operand, at, .. } => atom(match self.program.body.roles()[operand] {
                Role::Row => format!("a{operand}[{}]", at * self.apart[0]),
                Role::Column => format!("b{operand}[{}]", at * self.apart[1]),
                Role::Scalar => format!("s{operand}"),
            }),
            Inst::Negate { of, .. } => {
                (format!("-{}", bracketed(operand(of), Strength::Atom)), Strength::Product)
            }
            Inst::Binary { op, left, right, .. } => op.joined(operand(left), operand(right)),
            Inst::StoreTarget { .. } => atom(String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, RegisterTile};

    #[test]
    fn threads_read_rows_and_columns_in_turn() {
        let tile = RegisterTile { rows: 2, vectors: 3, width: 1 };
        let program = Program::for_tile(&Body::product(), &tile).expect("a program");
        let threads = Threads { counts: [16, 8], pitch: [33, 25], ragged: [false, true] };
        let text = program.to_cuda("update", Element::F32, &threads);
        assert!(text.contains("a0[16];") && text.contains("b1[16];"), "{text}");
        assert!(text.contains("a0 += 33;") && text.contains("b1 += 25;"), "{text}");
        assert!(text.contains("float (*c)[3])"), "{text}");
        assert!(!text.contains("restrict"), "{text}");
        let bool = "const bool column2 = first_column[2] <= p && p < end_column[2];";
        assert!(text.contains(bool) && text.contains("if (column2) r"), "{text}");
    }
}
