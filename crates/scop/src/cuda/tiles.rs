//! Tiles of contractions as CUDA: what the threads of a block do together.
//!
//! ```cuda
//! #pragma unroll
//! for (int r = 0; r < 4; r++) {                           // fetch: neighbours read neighbours
//!     const int e = t1 * 16 + t0 + r * 256;
//!     const int p = e % 16, q = e / 16;
//!     const long long i = c2 + q;
//!     const long long k = c4 + p;
//!     v0[r] = p < depth && i <= n - 1 ? A[i * n + k] : 0;
//! }
//! __syncthreads();                                        // all have read the last panel
//! for (..) x0[p * 65 + q] = v0[r];
//! ```

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use tangram_kernel::{Program, Role, Threads};
use tangram_polyhedral::contraction::{BlockTiles, Copied, LoopKind, TileDim};

use super::text::{Form, flat};
use crate::Part;
use crate::c_tokens::words;
use crate::contraction::{Operands, Values, along, bounds, operand};
use crate::names::Root;

/// A contraction of a part, ready to be written for a device.
pub(super) struct BlockCode<'a> {
    tiles: &'a BlockTiles,
    operands: &'a Operands,
    /// How statements write arrays.
    forms: &'a HashMap<String, Form>,
    /// Names of the variables of its loops.
    loops: &'a [String],
    /// What stands for the parameters of its bounds.
    params: Vec<String>,
    /// The function that updates what a thread has.
    update: String,
    /// The threads' places along columns and along rows.
    units: [String; 2],
    root: &'a Root,
    /// What is behind local names where the source has these.
    suffix: String,
}

/// The names of its variables.
const LOCALS: [&str; 11] =
    ["c", "e", "p", "q", "r", "s", "depth", "first_row", "end_row", "first_column", "end_column"];

/// What all computes with.
const INDEX: &str = "long long";

impl<'a> BlockCode<'a> {
    /// Prepares a contraction; nothing if its statement was not read as one.
    pub fn new(
        tiles: &'a BlockTiles,
        part: &'a Part,
        forms: &'a HashMap<String, Form>,
        (kernel, units): (&str, [String; 2]),
        (used, root): (&HashSet<&str>, &'a Root),
    ) -> Option<Self> {
        let contraction = &tiles.contraction;
        let operands = part.operands.get(contraction.statement)?.as_ref()?;
        let space = part.scop.statements[contraction.statement].domain.space();
        let mut suffix = String::new();
        let locals = |suffix: &str| {
            let panels = (0..operands.texts.len())
                .flat_map(|at| ["x", "v"].map(|letter| format!("{letter}{at}{suffix}")));
            let all = LOCALS.map(|name| format!("{name}{suffix}"));
            panels.chain(all).any(|name| used.contains(name.as_str()))
        };
        while locals(&suffix) {
            suffix.push('_');
        }
        Some(Self {
            tiles,
            operands,
            forms,
            loops: &space.output.dims,
            params: part.parameters(&space.params, INDEX),
            update: format!("{kernel}_update"),
            units,
            root,
            suffix,
        })
    }

    /// Writes the function that the kernel calls.
    pub fn function(&self) -> Option<String> {
        let BlockTiles { contraction, thread, .. } = self.tiles;
        let program = Program::for_tile(&contraction.body, thread).ok()?;
        let pitch = [Role::Row, Role::Column].map(|role| self.tiles.pitch(role));
        let ragged = self.sides().map(|by| self.is_ragged(by));
        let threads = Threads { counts: self.tiles.threads, pitch, ragged };
        Some(program.to_cuda(&self.update, contraction.element, &threads))
    }

    /// Declares panels, which a block shares, and sums, of which each thread has its own.
    pub fn declarations(&self) -> Vec<String> {
        let BlockTiles { contraction, thread, .. } = self.tiles;
        let (ty, depth) = (contraction.element.c_type(), contraction.depth());
        let roles = contraction.body.roles().iter().enumerate();
        let panels = roles.filter(|(_, role)| **role != Role::Scalar).map(|(at, role)| {
            format!("__shared__ {ty} {}[{depth} * {}]", self.panel(at), self.tiles.pitch(*role))
        });
        let sums = format!("{ty} {}[{}][{}]", self.local("c"), thread.rows, thread.columns());
        panels.chain([sums]).collect()
    }

    /// Writes a statement of its tree, if it is one.
    pub fn instance(&self, name: &str, arguments: &[String]) -> Option<String> {
        let contraction = &self.tiles.contraction;
        let value = Values::new(arguments, self.loops.len());
        if name == contraction.tiles() {
            return Some(self.updates(&value));
        }
        if name == self.tiles.load() {
            let text = |place: &str, inside: &str, target: &str| {
                format!("{place} = {inside} ? {target} : 0;")
            };
            return Some(self.moves(&value, &text));
        }
        if name == self.tiles.store() {
            let text = |place: &str, inside: &str, target: &str| {
                format!("if ({inside}) {target} = {place};")
            };
            return Some(self.moves(&value, &text));
        }
        let copied = [Copied::Rows, Copied::Columns];
        let copied = copied.into_iter().find(|own| contraction.packing(*own) == name)?;
        Some(self.packs(copied, &value))
    }

    /// The tiled loops of rows and of columns.
    fn sides(&self) -> [usize; 2] {
        [LoopKind::Row, LoopKind::Column].map(|kind| self.tiles.contraction.only(kind))
    }

    /// Whether a loop bounds the sum.
    fn is_ragged(&self, by: usize) -> bool {
        self.tiles.contraction.ragged().iter().flatten().any(|side| side.by == by)
    }

    fn local(&self, name: &str) -> String {
        format!("{name}{}", self.suffix)
    }

    fn panel(&self, at: usize) -> String {
        self.local(&format!("x{at}"))
    }

    /// Variables of the loops around a tile that texts use.
    fn around(&self, value: &Values, texts: &[&str]) -> String {
        let mut lines = String::new();
        for (at, (name, kind)) in self.loops.iter().zip(&self.tiles.contraction.loops).enumerate() {
            let is_around = matches!(
                kind,
                LoopKind::Batch
                    | LoopKind::RowOuter
                    | LoopKind::ColumnOuter
                    | LoopKind::ReducedOuter
            );
            if is_around && texts.iter().any(|text| words(text).any(|word| word == name)) {
                let first = value.at(TileDim::First(at));
                let _ = writeln!(lines, "    const {INDEX} {name} = {first};");
            }
        }
        lines
    }

    /// The number of iterations of the sum whose operands are in panels.
    fn depth(&self, value: &Values) -> String {
        let contraction = &self.tiles.contraction;
        let at = contraction.only(LoopKind::Reduced);
        let [first, last] =
            [TileDim::First(at), TileDim::Last(at)].map(|place| operand(value.at(place)));
        let (size, inner) = (contraction.blocking.depth, contraction.inner);
        let count = format!("{last} - {first} < {size} ? {last} - {first} + 1 : {size}");
        let count = if inner == 1 { count } else { format!("({count}) * {inner}") };
        format!("    const int {} = {count};\n", self.local("depth"))
    }

    /// Copies operands to their panels.
    fn packs(&self, copied: Copied, value: &Values) -> String {
        let contraction = &self.tiles.contraction;
        let (role, kind, size) = match copied {
            Copied::Rows => (Role::Row, LoopKind::Row, contraction.tile.rows),
            Copied::Columns => (Role::Column, LoopKind::Column, contraction.tile.columns()),
        };
        let loop_at = contraction.only(kind);
        let [first, last] =
            [TileDim::First(loop_at), TileDim::Last(loop_at)].map(|at| operand(value.at(at)));
        let own = contraction.body.roles().iter().enumerate().filter(|(_, own)| **own == role);
        let own: Vec<usize> = own.map(|(at, _)| at).collect();
        let texts: Vec<&str> = own.iter().map(|at| self.operands.texts[*at].as_str()).collect();
        let mut text = format!("{{\n{}{}", self.around(value, &texts), self.depth(value));
        let threads: usize = self.tiles.threads.iter().product();
        let count = (size * contraction.depth()).div_ceil(threads);
        for at in own.iter().copied() {
            let (kept, ty) = (self.kept(at), contraction.element.c_type());
            let _ = writeln!(text, "    {ty} {kept}[{count}];");
            let expression = flat(&self.operands.texts[at], self.forms);
            let name = &self.loops[loop_at];
            let mut inside = format!(
                "        const {INDEX} {name} = {first} + {};\n{}",
                self.local("q"),
                self.iterations(value, &self.local("p")),
            );
            let _ = writeln!(
                inside,
                "        {kept}[{}] = {} < {} && {name} <= {last}{} ? {expression} : 0;",
                self.local("r"),
                self.local("p"),
                self.local("depth"),
                self.bounded(loop_at)
            );
            text.push_str(&self.shared_out(at, (size, count), &inside));
        }
        // All have read what is copied over.
        if copied == Copied::Rows {
            text.push_str("    __syncthreads();\n");
        }
        for at in own {
            let [p, q, r] = ["p", "q", "r"].map(|name| self.local(name));
            let (panel, kept, pitch) = (self.panel(at), self.kept(at), self.tiles.pitch(role));
            let inside = format!("        {panel}[{p} * {pitch} + {q}] = {kept}[{r}];\n");
            text.push_str(&self.shared_out(at, (size, count), &inside));
        }
        text.push('}');
        text
    }

    /// Where a thread has its elements of a panel before all have read the last one: so all its loads
    /// are under way at once.
    fn kept(&self, at: usize) -> String {
        self.local(&format!("v{at}"))
    }

    /// A loop over a thread's elements of a panel of so many rows or columns; `inside` has `p`, the
    /// iteration of the sum, and `q`, the row or column.
    fn shared_out(&self, at: usize, (size, count): (usize, usize), inside: &str) -> String {
        let [e, p, q, r] = ["e", "p", "q", "r"].map(|name| self.local(name));
        let [t0, t1] = &self.units;
        let [rows, columns] = self.tiles.threads;
        let (most, threads) = (self.tiles.contraction.depth(), rows * columns);
        // Neighbouring threads read what is side by side in memory.
        let (fast, slow, length) = match self.tiles.along_sum[at] {
            true => (&p, &q, most),
            false => (&q, &p, size),
        };
        let mut text = format!(
            "    #pragma unroll\n    for (int {r} = 0; {r} < {count}; {r}++) {{\n        \
             const int {e} = {t1} * {columns} + {t0} + {r} * {threads};\n"
        );
        if size * most != count * threads {
            let _ = writeln!(text, "        if ({e} >= {size} * {most}) break;");
        }
        let _ = writeln!(
            text,
            "        const int {fast} = {e} % {length}, {slow} = {e} / {length};\n{inside}    }}"
        );
        text
    }

    /// What else holds of the iterations that a row or column has, if it bounds the sum.
    fn bounded(&self, by: usize) -> String {
        let contraction = &self.tiles.contraction;
        let sum = &self.loops[contraction.only(LoopKind::Reduced)];
        let sides = contraction.ragged().map(|side| side.filter(|side| side.by == by));
        bounds(sides, (sum, &self.loops[by]), &self.params)
    }

    /// Computes where the sums of a thread's rows and columns begin and end, as iterations of the
    /// panels, where they have ends of their own; returns the arguments that say so.
    fn ends(&self, value: &Values, text: &mut String) -> String {
        let BlockTiles { contraction, thread, threads, .. } = self.tiles;
        let k0 = operand(value.at(TileDim::First(contraction.only(LoopKind::Reduced))));
        let counts = [thread.rows, thread.columns()];
        let mut arguments = String::new();
        let r = self.local("r");
        for (side, by) in self.sides().into_iter().enumerate().filter(|(_, by)| self.is_ragged(*by))
        {
            let [first, end] = [["first_row", "end_row"], ["first_column", "end_column"]][side]
                .map(|name| self.local(name));
            let _ = write!(arguments, "{first}, {end}, ");
            let (count, unit, step) = (counts[side], &self.units[1 - side], threads[side]);
            let _ = writeln!(text, "    int {first}[{count}], {end}[{count}];");
            let _ = writeln!(
                text,
                "    #pragma unroll\n    for (int {r} = 0; {r} < {count}; {r}++) {{"
            );
            let places = [
                (TileDim::Begin, "", first, "0".to_owned()),
                (TileDim::End, " + 1", end, self.local("depth")),
            ];
            for (bound, (place, more, name, whole)) in contraction.ragged().into_iter().zip(places)
            {
                let value = match bound.filter(|bound| bound.by == by) {
                    None => whole,
                    Some(bound) => {
                        let at = along(
                            &operand(value.at(place)),
                            bound.slope,
                            &format!("({unit} + {r} * {step})"),
                        );
                        let count = format!("({at} - {k0}{more}) * {}", contraction.inner);
                        // What is out of range is cut off: it may not fit.
                        let ours = self.root.lower();
                        format!("{ours}max(-1, {ours}min({count}, {}))", contraction.depth())
                    }
                };
                let _ = writeln!(text, "        {name}[{r}] = {value};");
            }
            text.push_str("    }\n");
        }
        arguments
    }

    /// Variables of the reduced loops in an iteration of the panels.
    fn iterations(&self, value: &Values, p: &str) -> String {
        let contraction = &self.tiles.contraction;
        let mut lines = Vec::new();
        let mut below = 1;
        for (at, kind) in contraction.loops.iter().enumerate().rev() {
            let first = operand(value.at(TileDim::First(at)));
            let own = if below == 1 { p.to_owned() } else { format!("{p} / {below}") };
            let own = match (kind, contraction.length(at)) {
                (LoopKind::Reduced, _) => own,
                (LoopKind::ReducedInner, Some(length)) => {
                    below *= length;
                    format!("{own} % {length}")
                }
                _ => continue,
            };
            lines.push(format!("        const {INDEX} {} = {first} + {own};\n", self.loops[at]));
        }
        lines.concat()
    }

    /// Moves what a thread has between registers and the target.
    fn moves(&self, value: &Values, text: &dyn Fn(&str, &str, &str) -> String) -> String {
        let BlockTiles { thread, threads, .. } = self.tiles;
        let [row, column] = self.sides();
        let [r, s, c] = ["r", "s", "c"].map(|name| self.local(name));
        let mut result = format!("{{\n{}", self.around(value, &[&self.operands.target]));
        let all = [
            (row, &r, thread.rows, &self.units[1], threads[0]),
            (column, &s, thread.columns(), &self.units[0], threads[1]),
        ];
        for (depth, (at, name, count, unit, step)) in all.into_iter().enumerate() {
            let indent = "    ".repeat(1 + depth);
            let first = operand(value.at(TileDim::First(at)));
            let _ = writeln!(result, "{indent}#pragma unroll");
            let _ = writeln!(result, "{indent}for (int {name} = 0; {name} < {count}; {name}++) {{");
            let variable = &self.loops[at];
            let _ = writeln!(
                result,
                "{indent}    const {INDEX} {variable} = {first} + {unit} + {name} * {step};"
            );
        }
        let target = flat(&self.operands.target, self.forms);
        let moved = text(&format!("{c}[{r}][{s}]"), &self.inside(value), &target);
        let _ = write!(result, "            {moved}\n        }}\n    }}\n}}");
        result
    }

    /// Whether an element is one of the target's.
    fn inside(&self, value: &Values) -> String {
        let contraction = &self.tiles.contraction;
        let [row, column] = self.sides();
        let [rows, columns] = [row, column]
            .map(|at| format!("{} <= {}", self.loops[at], value.at(TileDim::Last(at))));
        let names = (&*self.loops[column], &*self.loops[row]);
        let more = bounds(contraction.column_bounds(), names, &self.params);
        format!("{rows} && {columns}{more}")
    }

    /// Updates what a thread has.
    fn updates(&self, value: &Values) -> String {
        let contraction = &self.tiles.contraction;
        let roles = || contraction.body.roles().iter().enumerate();
        let scalars = roles().filter(|(_, role)| **role == Role::Scalar);
        let texts: Vec<&str> = scalars.map(|(at, _)| self.operands.texts[at].as_str()).collect();
        let mut text = format!("{{\n    __syncthreads();\n{}", self.around(value, &texts));
        text.push_str(&self.depth(value));
        let ends = self.ends(value, &mut text);
        let _ = write!(text, "    {}({}, {ends}", self.update, self.local("depth"));
        for (at, role) in roles() {
            let _ = match role {
                Role::Row => write!(text, "{} + {}, ", self.panel(at), self.units[1]),
                Role::Column => write!(text, "{} + {}, ", self.panel(at), self.units[0]),
                Role::Scalar => write!(text, "{}, ", flat(&self.operands.texts[at], self.forms)),
            };
        }
        let _ = write!(text, "{});\n}}", self.local("c"));
        text
    }
}
