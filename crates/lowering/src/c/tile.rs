//! Tiles of sums of products in C: a micro-kernel in registers, then what follows the sum.

use std::collections::BTreeSet;
use std::fmt::Write;

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::Scalar;
use tangram_kernel::StepError;
use tangram_polyhedral::ast::{Ast, Statements};

use super::body::{Scalars, index};
use super::kernel::Kernel;
use super::{Sharing, epilogue, head, shared_out, tail};
use crate::nest::{Nest, Tensor};
use crate::packing::Tiled;
use crate::parameters::Parameters;
use crate::scop::{array, arrays};

/// The name of tiles.
pub(crate) const TILE: &str = "T";

/// Updates that a processor starts before the first of them ends: two in each of four cycles.
pub(super) const SUMS: usize = 8;

/// How many lines of a long panel are fetched before they are read.
const LINES_AHEAD: usize = 64;

/// Text for `width` columns, or as many as `name` says where the extent of all is no multiple: loops
/// whose length is known are unrolled and vectorised as a whole.
pub(super) fn whole_or_part(
    name: &str,
    width: usize,
    extent: &Expr,
    text: impl Fn(&str) -> String,
) -> String {
    let whole = text(&width.to_string());
    match extent.as_int() {
        Some(extent) if extent % width as i64 == 0 => whole,
        _ => {
            let part = text(name);
            format!(
                "    if (tg_likely({name} == {width})) {{\n{whole}    }} else {{\n{part}    }}\n"
            )
        }
    }
}

/// The loops of a tiled nest that tiles are points of.
pub(crate) fn shared(nest: &Nest) -> Vec<usize> {
    nest.parallel().collect()
}

/// The function of a sum of products whose loops over tiles are those of `ast`; `columns` is the
/// dimension of the loop over panels.
pub(crate) fn function(
    nest: &Nest,
    tiled: &Tiled,
    tensors: &[Tensor],
    parameters: &Parameters,
    (ast, columns): (&Ast, u32),
) -> Result<(String, Vec<Kernel>), StepError> {
    let nests = std::slice::from_ref(nest);
    let (order, _) = arrays(nests);
    let whole = tiled.whole_tiles(nest);
    let tile = Tile { nest, tiled, tensors, parameters, order: &order, block: None, whole };
    let mut text = head(nests, tensors, parameters);
    text.push_str(&tile.offsets());
    let when = tile.has_large_panels();
    let sharing = Sharing { last_or_first: Some((columns, &when)), ..Sharing::all() };
    text.push_str(&shared_out(ast, &tile, &sharing));
    text.push_str(&tail(nests));
    Ok((text, tile.kernels()?))
}

/// All of a sum of products for iterators `fixed`, which are declared.
pub(crate) fn whole(
    nest: &Nest,
    tiled: &Tiled,
    fixed: &[usize],
    (tensors, parameters, order): (&[Tensor], &Parameters, &[usize]),
) -> Result<(String, Vec<Kernel>), StepError> {
    let tile = Tile { nest, tiled, tensors, parameters, order, block: None, whole: None };
    let (row, column) = (tile.row(), tiled.product.column);
    let mut text = tile.offsets();
    let outer = nest.parallel().filter(|at| !fixed.contains(at) && *at != row && *at != column);
    for (at, step) in
        outer.map(|at| (at, 1)).chain([(column, tiled.tile.columns()), (row, tiled.tile.rows)])
    {
        let extent = tile.extent(at);
        let _ = writeln!(text, "    for (int64_t i{at} = 0; i{at} < {extent}; i{at} += {step})");
    }
    let _ = writeln!(text, "    {{\n{}    }}", tile.body(&tile.extent(row)));
    Ok((text, tile.kernels()?))
}

/// All columns of a block of rows, the last of which is iterator `i` of the group, from `i{row}` on.
pub(crate) fn rows(
    nest: &Nest,
    tiled: &Tiled,
    block: usize,
    (tensors, parameters, order): (&[Tensor], &Parameters, &[usize]),
) -> Result<(String, Vec<Kernel>), StepError> {
    let tile = Tile { nest, tiled, tensors, parameters, order, block: Some(block), whole: None };
    let (row, column) = (tile.row(), tiled.product.column);
    let (rows, columns, extent) = (tiled.tile.rows, tiled.tile.columns(), tile.extent(column));
    let text = format!(
        "{}    const int64_t first_of_block = i{row}, end = tg_min({}, i{row} + {block});\n    \
         for (int64_t i{column} = 0; i{column} < {extent}; i{column} += {columns})\n    \
         for (int64_t i{row} = first_of_block; i{row} < end; i{row} += {rows})\n    {{\n{}    }}\n",
        tile.offsets(),
        tile.extent(row),
        tile.body("end"),
    );
    Ok((text, tile.kernels()?))
}

struct Tile<'a> {
    nest: &'a Nest,
    tiled: &'a Tiled,
    tensors: &'a [Tensor],
    parameters: &'a Parameters,
    order: &'a [usize],
    /// The rows of a block that tiles are part of.
    block: Option<usize>,
    /// How many tiles have all rows where the others have one less: then tiles come by number.
    whole: Option<usize>,
}

impl Tile<'_> {
    fn ty(&self) -> &'static str {
        self.tiled.product.element.c_type()
    }

    fn row(&self) -> usize {
        self.tiled.product.rows.last().copied().unwrap_or(0)
    }

    /// What a number of elements of an operand, or a place in it, is in those of the kernel.
    fn grouped(&self, count: &str) -> String {
        match self.tiled.product.element.group() {
            1 => count.to_owned(),
            group => format!("({count}) / {group}"),
        }
    }

    /// An operand as the kernel reads it.
    fn operand(&self, input: usize) -> String {
        let (pointer, product) = (self.pointer(input), &self.tiled.product);
        match product.element.is_pair() {
            false => pointer,
            true if input == product.columns_input => {
                format!("(const {} *){pointer}", product.element.column_c_type())
            }
            true => format!("(const {} *){pointer}", self.ty()),
        }
    }

    /// A sum in a tile, of the type that the nest sums in.
    fn sum(&self, at: &str) -> String {
        match self.tiled.product.element.is_pair() {
            false => format!("tile[{at}]"),
            true => format!("(int32_t)tile[{at}]"),
        }
    }

    /// The reduced iterations of the kernel.
    fn depth(&self, iterators: &[usize]) -> String {
        let extents: Vec<String> = iterators.iter().map(|at| self.extent(*at)).collect();
        self.grouped(&extents.join(" * "))
    }

    /// The place that an input is read at.
    fn place(&self, input: usize) -> String {
        let generic = &self.nest.generic;
        let extents = &self.tensors[self.nest.inputs[input]].extents;
        index(&generic.inputs[input].map, &generic.symbols, extents, self.parameters)
    }

    fn pointer(&self, input: usize) -> String {
        array(self.nest.inputs[input], self.order)
    }

    fn extent(&self, iterator: usize) -> String {
        let extent = &self.nest.generic.extents[iterator];
        self.parameters.text(extent)
    }

    /// Whether the panels are more than the rows and results. Threads that share rows all read all
    /// panels; those that share panels read all rows, of which others have just written a part.
    fn has_large_panels(&self) -> String {
        let product = &self.tiled.product;
        let all = |iterators: &[usize]| {
            let extents = iterators.iter().map(|at| self.extent(*at));
            extents.fold("1.0".to_owned(), |all, extent| format!("{all} * (double){extent}"))
        };
        let (rows, depth) = (all(&product.rows), all(&product.reduced));
        let columns = format!("(double){}", self.extent(product.column));
        format!("{depth} * {columns} > {rows} * ({depth} + {columns})")
    }

    /// Declares iterators as zero.
    fn zeros(&self, iterators: impl Iterator<Item = usize>, indent: &str) -> String {
        let mut text = String::new();
        for at in iterators {
            let _ = writeln!(text, "{indent}const int64_t i{at} = 0;");
        }
        text
    }

    /// How many rows a tile can have: the size, and what is left at the end.
    fn row_counts(&self) -> BTreeSet<usize> {
        let rows = self.tiled.tile.rows;
        if self.whole.is_some() {
            return BTreeSet::from([rows - 1, rows]);
        }
        let parts = |extent: usize| {
            let both = [rows, extent % rows];
            both.into_iter().filter(move |count| *count > 0 && *count <= extent)
        };
        let extent = self.nest.generic.extents[self.row()].as_int();
        let extent = extent.map(|extent| usize::try_from(extent).unwrap_or(0));
        match (extent, self.block) {
            (Some(extent), None) => parts(extent).collect(),
            (Some(extent), Some(block)) => {
                parts(block.min(extent)).chain(parts(extent % block)).collect()
            }
            (None, _) => (1..=rows).collect(),
        }
    }

    /// All kernels that tiles call.
    fn kernels(&self) -> Result<Vec<Kernel>, StepError> {
        let (element, tile) = (self.tiled.product.element, self.tiled.tile);
        let counts = self.row_counts();
        let whole = counts.into_iter().map(|rows| Kernel::of(element, tile, rows));
        let joined = self.joined().map(|panels| Kernel::of_row(element, tile, panels));
        whole.chain(joined).collect()
    }

    /// How many panels are multiplied at once by a single row, if only a run knows that there is
    /// but one: sums enough to hide the latency of an update.
    fn joined(&self) -> Option<usize> {
        let panels = SUMS.div_ceil(self.tiled.tile.vectors);
        let is_open = self.nest.generic.extents[self.row()].as_int().is_none();
        (panels > 1 && is_open && self.block.is_none()).then_some(panels)
    }

    fn kernel_name(&self, rows: usize) -> String {
        Kernel::name(self.tiled.product.element, self.tiled.tile, rows)
    }

    /// The table of segments, the step and the depth of a run.
    fn offsets(&self) -> String {
        let Tiled { product, segments, run, .. } = self.tiled;
        let place = self.place(product.rows_input);
        let all = || 0..self.nest.generic.extents.len();
        let count: Vec<String> = segments.iter().map(|at| self.extent(*at)).collect();
        let count = if count.is_empty() { "1".to_owned() } else { count.join(" * ") };
        let mut text = format!(
            "    long segment[{count}], segments = 0, origin, step;\n    \
             const long depth = {};\n    {{\n",
            self.depth(run)
        );
        text.push_str(&self.zeros(all(), "        "));
        let _ = writeln!(text, "        origin = {place};\n    }}\n    {{");
        let inner = run.last().copied();
        text.push_str(&self.zeros(all().filter(|at| Some(*at) != inner), "        "));
        if let Some(inner) = inner {
            let group = product.element.group();
            let _ = writeln!(text, "        const int64_t i{inner} = {group};");
        }
        let from_origin = self.grouped(&format!("{place} - origin"));
        let _ = writeln!(text, "        step = {from_origin};\n    }}\n    {{");
        text.push_str(&self.zeros(all().filter(|at| !segments.contains(at)), "        "));
        for at in segments {
            let extent = self.extent(*at);
            let _ = writeln!(text, "        for (int64_t i{at} = 0; i{at} < {extent}; i{at}++)");
        }
        let _ = writeln!(text, "        segment[segments++] = {from_origin};\n    }}");
        text
    }

    /// Chooses the kernel by the number of rows.
    fn call(&self) -> String {
        let panel = self.operand(self.tiled.product.columns_input);
        let panel_at = self.grouped(&self.place(self.tiled.product.columns_input));
        let arguments = "(segments, segment, depth, step, a, row, b, next, tile);";
        let counts: Vec<usize> = self.row_counts().into_iter().rev().collect();
        // While one panel is multiplied, each tile of rows fetches a part of the next one; of long
        // panels, what comes soon.
        let Tiled { product, tile, near, .. } = self.tiled;
        let (depth, columns) = (self.depth(&product.reduced), tile.columns());
        let line = 64 / product.element.column_bytes();
        let mut text = format!(
            "    const {ty} *b = {panel} + {panel_at};\n    \
             const {ty} *next = b + ({depth} <= {near} ? \
             {depth} * ({columns} + first_row / {} % {} * {line}) : {});\n",
            tile.rows,
            (columns / line).max(1),
            LINES_AHEAD * line,
            ty = product.element.column_c_type(),
        );
        for (at, rows) in counts.iter().enumerate() {
            let name = self.kernel_name(*rows);
            let before = if at == 0 { "    " } else { "    else " };
            let test = match at + 1 == counts.len() {
                true => String::new(),
                false => format!("if (rows == {rows}) "),
            };
            let _ = writeln!(text, "{before}{test}{name}{arguments}");
        }
        text
    }

    /// Fetches what follows the sum reads at each result, as the other operand of an addition,
    /// while the tile is multiplied: a few lines of each row, far from those of the next.
    fn prefetches(&self) -> String {
        let Some(finish) = &self.nest.finish else { return String::new() };
        let (row, column) = (self.row(), self.tiled.product.column);
        let mut text = String::new();
        for input in (0..self.nest.inputs.len()).filter(|at| *at != finish.combined) {
            let (access, tensor) =
                (&self.nest.generic.inputs[input], &self.tensors[self.nest.inputs[input]]);
            let steps = crate::packing::strides(access, tensor);
            let beside = steps.is_some_and(|steps| {
                steps[column].as_int() == Some(1) && steps[row].as_int() != Some(0)
            });
            let is_read = finish.body.scalars().contains(&Scalar::Input(input));
            if !beside || !is_read || access.outside.is_some() {
                continue;
            }
            let line = 64 / self.tiled.product.element.bytes();
            let _ = write!(
                text,
                "    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c += {line}) {{
            const int64_t i{row} = first_row + r, i{column} = first_column + c;
            TANGRAM_PREFETCH({} + {});
        }}\n",
                self.pointer(input),
                self.place(input)
            );
        }
        text
    }

    /// Stores a tile of as many columns, with what follows the sum.
    fn store(&self, columns: usize) -> String {
        let product = &self.tiled.product;
        let generic = &self.nest.generic;
        let (row, column) = (self.row(), product.column);
        let scalars = Scalars {
            nest: self.nest,
            tensors: self.tensors,
            parameters: self.parameters,
            order: self.order,
            known: Vec::new(),
        };
        let sum = self.sum(&format!("r * {columns} + c"));
        let row_of = epilogue::row(scalars, sum, product, columns);
        let forget = if self.nest.finish.is_some() { "    TANGRAM_FORGET(tile)\n" } else { "" };
        format!(
            "{forget}    for (int64_t r = 0; r < rows; r++) {{\n        \
                 const int64_t i{row} = first_row + r;\n{}{}    }}\n",
            row_of.before,
            whole_or_part("columns", columns, &generic.extents[column], |count| row_of
                .loops(count))
        )
    }
}

impl Statements for Tile<'_> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        if name != TILE {
            return format!("{name}({});", arguments.join(", "));
        }
        let mut text = String::from("{\n");
        for (iterator, value) in shared(self.nest).iter().zip(arguments) {
            let _ = match self.whole {
                Some(whole) if *iterator == self.row() => writeln!(
                    text,
                    "    const int64_t number = {value};
    const int64_t i{iterator} = number * {} + tg_min(number, {whole});",
                    self.tiled.tile.rows - 1,
                ),
                _ => writeln!(text, "    const int64_t i{iterator} = {value};"),
            };
        }
        text.push_str(&self.body(&self.extent(self.row())));
        text.push('}');
        text
    }
}

impl Tile<'_> {
    /// What a tile does, whose first row and column are declared; rows end before `row_end`.
    fn body(&self, row_end: &str) -> String {
        let Tiled { product, tile, .. } = self.tiled;
        let (row, column, ty) = (self.row(), product.column, self.ty());
        let (rows, columns) = (tile.rows, tile.columns());
        let mut text = String::new();
        text.push_str(&self.zeros(self.nest.generic.reduced(), "    "));
        let _ = writeln!(text, "    const int64_t first_row = i{row}, first_column = i{column};");
        let column_end = self.extent(column);
        let own = match self.whole {
            Some(whole) => format!("number < {whole} ? {rows} : {}", rows - 1),
            None => format!("tg_min({row_end} - i{row}, {rows})"),
        };
        let _ = writeln!(
            text,
            "    const int64_t rows = {own};\n    \
             const int64_t columns = tg_min({column_end} - i{column}, {columns});"
        );
        let place = self.place(product.rows_input);
        let (first, apart) = (self.grouped("from"), self.grouped(&format!("{place} - from")));
        let source = self.operand(product.rows_input);
        let _ = writeln!(
            text,
            "    const int64_t from = {place};\n    \
             const {ty} *a = {source} + {first};\n    \
             long row[{rows}];\n    \
             for (int64_t r = 0; r < {rows}; r++) {{\n        \
                 const int64_t i{row} = first_row + (r < rows ? r : 0);\n        \
                 row[r] = {apart};\n    }}"
        );
        let one = format!(
            "    {ty} tile[{}] __attribute__((aligned(64)));\n{}{}{}",
            rows * columns,
            self.prefetches(),
            self.call(),
            self.store(columns)
        );
        match self.joined() {
            None => text + &one,
            Some(panels) => text + &self.joined_or(panels, row_end, &one),
        }
    }

    /// Several panels for the first of them and nothing for the others, where there is one row and
    /// all the panels; else `one`.
    fn joined_or(&self, panels: usize, row_end: &str, one: &str) -> String {
        let Tiled { product, tile, .. } = self.tiled;
        let (columns, ty) = (tile.columns(), self.ty());
        let (wide, column_end) = (panels * columns, self.extent(product.column));
        let depth = self.depth(&product.reduced);
        let panel = self.operand(product.columns_input);
        let place = self.grouped(&self.place(product.columns_input));
        let name = Kernel::row_name(product.element, *tile, panels);
        format!(
            "    const int64_t leader = first_column / {wide} * {wide};
    if ({row_end} > 1 || leader + {last} >= {column_end}) {{
{one}    }} else if (first_column == leader) {{
    {ty} tile[{wide}] __attribute__((aligned(64)));
    const int64_t columns = tg_min({column_end} - leader, {wide});
    const {column_ty} *b = {panel} + {place};
    {name}({depth} * {columns}, segments, segment, depth, step, a, row, b, b + {depth} * {wide}, tile);
{}    }}\n",
            self.store(wide),
            last = wide - columns,
            column_ty = product.element.column_c_type(),
        )
    }
}
