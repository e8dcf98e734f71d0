//! Tiles of contractions as C: calls of a micro-kernel on packed panels.

use std::collections::HashSet;
use std::fmt::Write;

use tangram_kernel::{Program, Role};
use tangram_polyhedral::contraction::{Contraction, Copied, LoopKind, Ragged, TileDim};

use super::Operands;
use crate::Part;
use crate::c_tokens::words;
use crate::memory::THREAD;
use crate::names::Root;
use crate::source::is_signed;

/// The functions that tiles call, each once in a file.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    /// Names and the text behind them, without the name.
    known: Vec<(String, String)>,
    text: String,
}

/// What stands for the name of a function in its text until it has one.
const UNNAMED: &str = "TANGRAM_KERNEL";

impl Kernels {
    /// Returns the name of the kernel of a contraction.
    fn name(
        &mut self,
        contraction: &Contraction,
        words: &HashSet<&str>,
        root: &Root,
    ) -> Option<String> {
        let program = Program::for_tile(&contraction.body, &contraction.tile).ok()?;
        let element = contraction.element;
        let column = contraction.only(LoopKind::Column);
        let ragged = contraction.ragged();
        let mut sides = ragged.iter().flatten();
        let generic = match ragged.iter().any(Option::is_some) {
            true => program.to_c_ragged(UNNAMED, element, sides.any(|side| side.by == column)),
            false => program.to_c(UNNAMED, element),
        };
        let generic = generic.ok()?;
        if let Some((name, _)) = self.known.iter().find(|(_, text)| *text == generic) {
            return Some(name.clone());
        }
        let last = root.text("tangram_kernel_");
        let start = crate::names::free(words, &["kernel", "tile_kernel"], &last);
        let mut name = format!("{start}{}", self.known.len());
        while ["_edge", "_vector"].iter().any(|end| words.contains(format!("{name}{end}").as_str()))
        {
            name.push('_');
        }
        let _ = writeln!(self.text, "{}", generic.replace(UNNAMED, &name));
        self.known.push((name.clone(), generic));
        Some(name)
    }

    /// Returns the definitions of all functions.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A packed block: elements in memory that a part needs while it runs.
#[derive(Debug)]
pub(crate) struct Panel {
    pub name: String,
    pub element: &'static str,
    pub count: usize,
    /// Whether each thread has one.
    pub of_thread: bool,
}

/// Updates of sums in registers that take as long as one instance of other loops: two multiply-adds
/// of vectors in a cycle, where others read and write memory.
const UPDATES_OF_AN_INSTANCE: u64 = 8;

/// A contraction of a part, ready to be written.
pub(crate) struct Tiles<'a> {
    pub(super) contraction: &'a Contraction,
    pub(super) operands: &'a Operands,
    /// Names and types of the variables of its loops.
    pub(super) loops: Vec<(&'a str, &'a str)>,
    /// What stands for the parameters of its bounds.
    params: Vec<String>,
    kernel: String,
    /// Whether packed blocks stay from run to run, as nothing can run where there is no memory.
    lasting: bool,
    pub(super) index: &'a str,
    pub(super) indent: &'a str,
    threads_from: u64,
    root: &'a Root,
    /// What is behind local names where the source has these.
    suffix: String,
}

impl<'a> Tiles<'a> {
    /// Prepares a contraction; nothing if its statement was not read as one.
    pub fn new(
        contraction: &'a Contraction,
        part: &'a Part,
        kernels: &mut Kernels,
        (words, root): (&HashSet<&str>, &'a Root),
        (index, indent): (&'a str, &'a str),
        threads_from: u64,
    ) -> Option<Self> {
        let operands = part.operands.get(contraction.statement)?.as_ref()?;
        let statement = &part.scop.statements[contraction.statement];
        let names = statement.domain.space().output.dims.iter().map(String::as_str);
        let types = part.types.get(contraction.statement)?.iter().map(String::as_str);
        let kernel = kernels.name(contraction, words, root)?;
        let locals = ["row", "rows", "depth", "from", "to", "at", "r", "first", "end", "at_first"];
        let locals = locals.into_iter().chain(["first_column", "end_column", "p", "q"]);
        let mut suffix = String::new();
        let taken = |suffix: &str| {
            let mut all = locals.clone().map(|name| format!("{name}{suffix}"));
            all.any(|name| words.contains(name.as_str()))
                || (0..operands.texts.len()).any(|at| {
                    ["a", "b", "to"]
                        .iter()
                        .any(|c| words.contains(format!("{c}{at}{suffix}").as_str()))
                        || ["a", "b"].iter().any(|letter| {
                            let panel = format!("{letter}{at}_{}{suffix}", contraction.statement);
                            ["", "_all", "_own"]
                                .iter()
                                .any(|end| words.contains(format!("{panel}{end}").as_str()))
                        })
                })
        };
        while taken(&suffix) {
            suffix.push('_');
        }
        let loops = names.zip(types).collect();
        let params = part.parameters(&statement.domain.space().params, index);
        let lasting = !part.declared.is_empty();
        Some(Self {
            contraction,
            operands,
            loops,
            params,
            kernel,
            lasting,
            index,
            indent,
            threads_from,
            root,
            suffix,
        })
    }

    /// The packed blocks that it needs memory for.
    pub fn panels(&self) -> Vec<Panel> {
        let Contraction { blocking, element, .. } = self.contraction;
        let depth = self.contraction.depth();
        let mut panels = Vec::new();
        for (at, role) in self.contraction.body.roles().iter().enumerate() {
            let rows = match role {
                Role::Row => blocking.rows,
                Role::Column => blocking.columns,
                Role::Scalar => continue,
            };
            let of_thread = self.is_of_thread(*role);
            let name = if of_thread && !self.lasting { self.all(at) } else { self.panel(at) };
            panels.push(Panel { name, element: element.c_type(), count: rows * depth, of_thread });
        }
        panels
    }

    /// Returns whether each thread has a packed block of its own.
    fn is_of_thread(&self, role: Role) -> bool {
        let shared = self.contraction.used_by_all();
        self.contraction.on_threads && shared.is_none_or(|own| own.role() != role)
    }

    /// The name of the packed blocks of all threads.
    fn all(&self, at: usize) -> String {
        format!("{}_all", self.panel(at))
    }

    /// Declares the thread's own packed blocks of some roles, in front of what uses them.
    pub(super) fn own_panels(&self, used: impl Fn(Role) -> bool) -> String {
        let roles = self.contraction.body.roles().iter().enumerate();
        let mut text = String::new();
        for (at, role) in roles {
            if *role == Role::Scalar || !used(*role) || !self.is_of_thread(*role) || self.lasting {
                continue;
            }
            let Contraction { blocking, element, .. } = self.contraction;
            let rows = if *role == Role::Row { blocking.rows } else { blocking.columns };
            let count = rows * self.contraction.depth();
            let (ty, name, all) = (element.c_type(), self.panel(at), self.all(at));
            let _ = writeln!(
                text,
                "{}{ty} *const {name} = {all} + (long){} * {count};",
                self.indent,
                self.root.text(THREAD)
            );
        }
        text
    }

    /// Writes the sizes for which tiles are worth their packing; nothing if these are known to be.
    pub fn worth(&self) -> Option<String> {
        let mut tests = self.contraction.worth();
        // Of tests on one loop, the strongest says what the others do.
        let all = tests.clone();
        let stronger = |row: &[i128], least: i128| {
            all.iter().any(|(rows, more)| match &rows[..] {
                [one] => one[1..] == row[1..] && more - one[0] > least - row[0],
                _ => false,
            })
        };
        tests.retain(|(rows, least)| !matches!(&rows[..], [one] if stronger(one, *least)));
        let written = tests.iter().map(|(rows, least)| self.product_is(rows, *least));
        let all: Vec<String> = written.collect();
        (!all.is_empty()).then(|| all.join(" && "))
    }

    /// Says of its statements when loops around them run on several threads: for so many updates, where
    /// only a run knows their number, and always otherwise.
    pub fn shared_where(&self) -> Vec<(String, String)> {
        let least = self.threads_from.saturating_mul(UPDATES_OF_AN_INSTANCE);
        // The last test is on the product of all loops.
        let updates = self.contraction.worth().pop().filter(|_| least > 0);
        let condition =
            updates.map_or_else(String::new, |(rows, _)| self.product_is(&rows, least.into()));
        let packing = [Copied::Rows, Copied::Columns].map(|own| self.contraction.packing(own));
        let names = packing.into_iter().chain([self.contraction.tiles()]);
        names.map(|name| (name, condition.clone())).collect()
    }

    /// Writes that a product of affine expressions is at least a number.
    fn product_is(&self, rows: &[Vec<i128>], least: i128) -> String {
        let factors: Vec<String> = rows.iter().map(|row| affine(row, &self.params)).collect();
        if let [row] = rows
            && row[1..].iter().filter(|factor| **factor != 0).eq([&1])
        {
            let alone = [&[0], &row[1..]].concat();
            return format!("{} >= {}", affine(&alone, &self.params), least - row[0]);
        }
        match &factors[..] {
            [one] => format!("{one} >= {least}"),
            // As a product of numbers that cannot overflow.
            all => format!("1.0 * ({}) >= {least}", all.join(") * (")),
        }
    }

    /// Writes a statement of its tree, if it is one.
    pub fn instance(&self, name: &str, arguments: &[String]) -> Option<String> {
        let value = Values::new(arguments, self.loops.len());
        if name == self.contraction.tiles() {
            return Some(self.tile(&value));
        }
        let copied = [Copied::Rows, Copied::Columns];
        let copied = copied.into_iter().find(|own| self.contraction.packing(*own) == name)?;
        Some(self.packing(copied, &value))
    }

    pub(super) fn local(&self, name: &str) -> String {
        format!("{name}{}", self.suffix)
    }

    /// The name of an operand's packed block.
    pub(super) fn panel(&self, at: usize) -> String {
        let letter = if self.contraction.body.roles()[at] == Role::Row { 'a' } else { 'b' };
        format!("{letter}{at}_{}{}", self.contraction.statement, self.suffix)
    }

    /// The end, inclusive, of a block of a loop: what is less of the block's and the loop's.
    pub(super) fn within(&self, name: &str, last: &str, first: &str, size: usize) -> String {
        format!("{name} <= {last} && {name} < {} + {size}", operand(first))
    }

    /// Variables of loops around all tiles, as far as `texts` use them.
    pub(super) fn outer(
        &self,
        value: &Values,
        texts: &[&str],
        wanted: impl Fn(LoopKind) -> bool,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        let wanted = |at: &usize| wanted(self.contraction.loops[*at]);
        for at in (0..self.loops.len()).filter(wanted) {
            let (name, ty) = self.loops[at];
            if !texts.iter().any(|text| words(text).any(|word| word == name)) {
                continue;
            }
            lines.push(format!("const {ty} {name} = {};", value.at(TileDim::First(at))));
        }
        lines
    }

    /// The variable of a loop, in a type in which it may become negative.
    fn signed(&self, at: usize) -> String {
        let (name, ty) = self.loops[at];
        if is_signed(ty) { name.to_owned() } else { format!("({}){name}", self.index) }
    }

    /// What else holds of the iterations that a row or column has, if it bounds the sum.
    pub(super) fn inside(&self, by: usize) -> String {
        let sum = self.signed(self.contraction.only(LoopKind::Reduced));
        let sides = self.contraction.ragged().map(|side| side.filter(|side| side.by == by));
        bounds(sides, (&sum, &self.signed(by)), &self.params)
    }

    /// Loops over the reduced iterations of a block, in their order.
    pub(super) fn reduced(&self, value: &Values) -> Vec<String> {
        let mut heads = Vec::new();
        for (at, kind) in self.contraction.loops.iter().enumerate() {
            let (name, ty) = self.loops[at];
            let (first, last) = (value.at(TileDim::First(at)), value.at(TileDim::Last(at)));
            let test = match kind {
                LoopKind::Reduced => {
                    self.within(name, last, first, self.contraction.blocking.depth)
                }
                LoopKind::ReducedInner => format!("{name} <= {last}"),
                _ => continue,
            };
            heads.push(format!("for ({ty} {name} = {first}; {test}; {name}++)"));
        }
        heads
    }

    /// The number of reduced iterations in a block.
    pub(super) fn depth(&self, value: &Values) -> String {
        let at = self.contraction.only(LoopKind::Reduced);
        let (first, last) =
            (operand(value.at(TileDim::First(at))), operand(value.at(TileDim::Last(at))));
        let size = self.contraction.blocking.depth;
        let count = format!("{last} - {first} < {size} ? {last} - {first} + 1 : {size}");
        match self.contraction.inner {
            1 => count,
            inner => format!("({count}) * {inner}"),
        }
    }

    /// Writes the update of a register tile.
    fn tile(&self, value: &Values) -> String {
        let Contraction { tile, element, .. } = self.contraction;
        let (rows, columns, ty) = (tile.rows, tile.columns(), element.c_type());
        let (row_at, column_at) =
            (self.contraction.only(LoopKind::Row), self.contraction.only(LoopKind::Column));
        let [row, count, depth, r] = ["row", "rows", "depth", "r"].map(|name| self.local(name));
        let (i0, j0) = (
            operand(value.at(TileDim::First(row_at))),
            operand(value.at(TileDim::First(column_at))),
        );
        let last = operand(value.at(TileDim::Last(row_at)));
        let indent = self.indent;
        let mut text = String::from("{\n");
        text.push_str(&self.own_panels(|_| true));
        let around = |own| {
            matches!(
                own,
                LoopKind::Batch
                    | LoopKind::RowOuter
                    | LoopKind::ColumnOuter
                    | LoopKind::ReducedOuter
            )
        };
        let texts: Vec<&str> = self.scalars().chain([self.operands.target.as_str()]).collect();
        for line in self.outer(value, &texts, around) {
            let _ = writeln!(text, "{indent}{line}");
        }
        let ((row_name, row_type), (column_name, column_type)) =
            (self.loops[row_at], self.loops[column_at]);
        let _ = writeln!(text, "{indent}const long {depth} = {};", self.depth(value));
        let _ = writeln!(
            text,
            "{indent}const int {count} = {last} - {i0} < {rows} ? {last} - {i0} + 1 : {rows};"
        );
        let _ = writeln!(text, "{indent}{ty} *{row}[{rows}] = {{0}};");
        let _ = writeln!(text, "{indent}for (int {r} = 0; {r} < {count}; {r}++) {{");
        let _ = writeln!(text, "{indent}{indent}const {row_type} {row_name} = {i0} + {r};");
        let _ = writeln!(text, "{indent}{indent}const {column_type} {column_name} = {j0};");
        let _ = writeln!(text, "{indent}{indent}{row}[{r}] = &{};", self.operands.target);
        let _ = writeln!(text, "{indent}}}");
        let call = self.call(value, &depth, (&i0, &j0));
        let ends = self.ends(value, &depth, &mut text);
        text.push_str(&self.choice(value, &call, (&count, &row, &j0, &ends), columns));
        text.push('}');
        text
    }

    /// Computes where sums of rows, and of columns if it depends on these, begin and end, as
    /// iterations of a block; returns the arguments that say so, empty where all are the block's.
    fn ends(&self, value: &Values, depth: &str, text: &mut String) -> String {
        let ragged = self.contraction.ragged();
        if ragged.iter().all(Option::is_none) {
            return String::new();
        }
        let at = |kind| self.contraction.only(kind);
        let k0 = operand(value.at(TileDim::First(at(LoopKind::Reduced))));
        let (indent, inner, tile) = (self.indent, self.contraction.inner, self.contraction.tile);
        let groups = [
            (at(LoopKind::Row), tile.rows, ["first", "end"]),
            (at(LoopKind::Column), tile.columns(), ["first_column", "end_column"]),
        ];
        let r = self.local("r");
        let mut arguments = String::new();
        for (by, size, names) in groups {
            let own = |side: &Ragged| side.by == by;
            if by == at(LoopKind::Column) && !ragged.iter().flatten().any(own) {
                continue;
            }
            let [first, end] = names.map(|name| self.local(name));
            let _ = write!(arguments, ", {first}, {end}");
            let _ = writeln!(text, "{indent}int {first}[{size}], {end}[{size}];");
            let _ = writeln!(text, "{indent}for (int {r} = 0; {r} < {size}; {r}++) {{");
            let places = [(TileDim::Begin, "", "p"), (TileDim::End, " + 1", "q")];
            let sides = ragged.iter().zip(places).zip([(first, "0"), (end, depth)]);
            for ((side, (place, more, at)), (name, whole)) in sides {
                let Some(side) = side.filter(own) else {
                    let _ = writeln!(text, "{indent}{indent}{name}[{r}] = {whole};");
                    continue;
                };
                let (at, bound) =
                    (self.local(at), along(&operand(value.at(place)), side.slope, &r));
                let count = match inner {
                    1 => format!("{bound} - {k0}{more}"),
                    inner => format!("({bound} - {k0}{more}) * {inner}"),
                };
                let _ = writeln!(text, "{indent}{indent}const long {at} = {count};");
                let _ = writeln!(
                    text,
                    "{indent}{indent}{name}[{r}] = {at} < 0 ? 0 : {at} < {depth} ? {at} : {depth};"
                );
            }
            let _ = writeln!(text, "{indent}}}");
        }
        arguments
    }

    /// The operands that do not vary within a tile.
    fn scalars(&self) -> impl Iterator<Item = &str> {
        let roles = self.contraction.body.roles().iter();
        let pairs = self.operands.texts.iter().zip(roles);
        pairs.filter(|(_, role)| **role == Role::Scalar).map(|(text, _)| text.as_str())
    }

    /// The arguments of the kernel, up to the target.
    fn call(&self, value: &Values, depth: &str, (i0, j0): (&str, &str)) -> String {
        let mut text = format!("{depth}, ");
        for (at, role) in self.contraction.body.roles().iter().enumerate() {
            let panel = self.panel(at);
            let _ = match role {
                Role::Row => {
                    let block = operand(value.at(TileDim::RowBlock));
                    write!(text, "{panel} + ({i0} - {block}) * {depth}, ")
                }
                Role::Column => {
                    let block = operand(value.at(TileDim::ColumnBlock));
                    write!(text, "{panel} + ({j0} - {block}) * {depth}, ")
                }
                Role::Scalar => write!(text, "{}, ", self.operands.texts[at]),
            };
        }
        text
    }

    /// Chooses the kernel for whole tiles or the one for parts.
    fn choice(
        &self,
        value: &Values,
        call: &str,
        (count, row, j0, ends): (&str, &str, &str, &str),
        columns: usize,
    ) -> String {
        let (indent, kernel, rows) = (self.indent, &self.kernel, self.contraction.tile.rows);
        let (low, high) = (operand(value.at(TileDim::Low)), operand(value.at(TileDim::High)));
        // Tiles begin in the box, but may reach beyond its end where a slope is further out.
        let end = operand(value.at(TileDim::Last(self.contraction.only(LoopKind::Column))));
        let [below, above] = self.contraction.slopes;
        let [r, from, to] = ["r", "from", "to"].map(|name| self.local(name));
        // Bounds are affine: those of the first and the last row say it for all between.
        let mut whole = vec![format!("{count} == {rows}")];
        for at in [0, rows - 1] {
            let at = at.to_string();
            let least = format!("{} <= {j0}", along(&low, below, &at));
            let most = format!("{} >= {j0} + {}", along(&high, above, &at), columns - 1);
            for test in [least, most] {
                if !whole.contains(&test) {
                    whole.push(test);
                }
            }
        }
        let inside = format!("{end} >= {j0} + {}", columns - 1);
        if !whole.contains(&inside) {
            whole.push(inside);
        }
        let mut text = format!("{indent}if ({}) {{\n", whole.join(" && "));
        let _ = writeln!(text, "{indent}{indent}{kernel}({call}{row}{ends});\n{indent}}} else {{");
        let _ = writeln!(text, "{indent}{indent}int {from}[{rows}], {to}[{rows}];");
        let _ = writeln!(text, "{indent}{indent}for (int {r} = 0; {r} < {count}; {r}++) {{");
        let inner = indent.repeat(3);
        let (least, most) = (along(&low, below, &r), along(&high, above, &r));
        let _ = writeln!(text, "{inner}{from}[{r}] = {least} > {j0} ? {least} - {j0} : 0;");
        let _ = writeln!(
            text,
            "{inner}{to}[{r}] = {most} - {j0} < {columns} ? {most} - {j0} + 1 : {columns};"
        );
        if end != most {
            let _ = writeln!(
                text,
                "{inner}{to}[{r}] = {end} - {j0} < {to}[{r}] ? {end} - {j0} + 1 : {to}[{r}];"
            );
        }
        let _ = writeln!(text, "{indent}{indent}}}");
        let _ = writeln!(
            text,
            "{indent}{indent}{kernel}_edge({call}{row}, {count}, {from}, {to}{ends});\n{indent}}}"
        );
        text
    }
}

/// What stands at the places of a tile or block.
pub(crate) struct Values<'a> {
    arguments: &'a [String],
    loops: usize,
}

impl<'a> Values<'a> {
    /// `arguments`: those of a statement of tiles, of so many loops.
    pub fn new(arguments: &'a [String], loops: usize) -> Self {
        Self { arguments, loops }
    }

    /// Returns what stands at a place.
    pub fn at(&self, place: TileDim) -> &'a str {
        self.arguments.get(place.index(self.loops)).map_or("0", String::as_str)
    }
}

/// Writes that a value is within the bounds, the least and the greatest, that rows or columns give:
/// ` && value >= bound && value <= bound`, as far as there are any. `by`: the row or column.
pub(crate) fn bounds(
    sides: [Option<Ragged<'_>>; 2],
    (value, by): (&str, &str),
    params: &[String],
) -> String {
    let mut text = String::new();
    for (side, sign) in sides.into_iter().zip([">=", "<="]) {
        let Some(side) = side else { continue };
        let row = [side.affine, &[side.slope]].concat();
        let names = [params, &[by.to_owned()]].concat();
        let _ = write!(text, " && {value} {sign} {}", affine(&row, &names));
    }
    text
}

/// Writes a bound in another row of a tile.
pub(crate) fn along(bound: &str, slope: i128, row: &str) -> String {
    match slope {
        0 => bound.to_owned(),
        1 => format!("{bound} + {row}"),
        -1 => format!("{bound} - {row}"),
        slope => format!("{bound} + {slope} * {row}"),
    }
}

/// Writes an affine expression over `[constant, parameters..]`, computed in 64 bits.
pub(crate) fn affine(row: &[i128], params: &[String]) -> String {
    let mut text = String::new();
    let terms = row[1..].iter().zip(params).filter(|(factor, _)| **factor != 0);
    let alone = row[0] == 0 && terms.clone().map(|(factor, _)| *factor).eq([1]);
    for (factor, name) in terms {
        // What the first operand is, the rest becomes.
        let wide = text.is_empty() && !alone && !name.starts_with("((");
        let suffix = if name.starts_with("((") { "" } else { "LL" };
        let sign = match (text.is_empty(), *factor < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let _ = match factor.abs() {
            1 if wide => write!(text, "{sign}(long long){name}"),
            1 => write!(text, "{sign}{name}"),
            factor => write!(text, "{sign}{factor}{suffix} * {name}"),
        };
    }
    match (row[0], text.is_empty()) {
        (constant, true) => constant.to_string(),
        (0, false) => text,
        (constant, false) if constant < 0 => format!("{text} - {}", -constant),
        (constant, false) => format!("{text} + {constant}"),
    }
}

/// Puts brackets around what is more than a name or a number.
pub(crate) fn operand(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { text.to_owned() } else { format!("({text})") }
}
