//! Programs as C with the vector extensions that GCC and Clang share.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::body::{Op, Role};
use crate::program::{Inst, Program, Register};
use crate::tile::Element;

/// What binds stronger has the greater number.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    Sum,
    Product,
    #[default]
    Atom,
}

/// An expression and how strong its last operation binds.
type Text = (String, Strength);

/// Puts brackets around an expression that binds weaker than it has to.
pub(crate) fn bracketed((text, strength): Text, least: Strength) -> String {
    if strength < least { format!("({text})") } else { text }
}

impl Op {
    /// Writes `left op right`.
    pub(crate) fn joined(self, left: Text, right: Text) -> Text {
        let (sign, own) = match self {
            Self::Sub => ('-', Strength::Sum),
            Self::Mul => ('*', Strength::Product),
            Self::Div => ('/', Strength::Product),
            Self::Add | Self::Operand(_) | Self::Neg => ('+', Strength::Sum),
        };
        // Of two operations of one strength, the left one is first.
        let next = if own == Strength::Sum { Strength::Product } else { Strength::Atom };
        (format!("{} {sign} {}", bracketed(left, own), bracketed(right, next)), own)
    }
}

impl Program {
    /// Writes functions that update a tile: `name`, and `name_edge` for a part of one.
    ///
    /// ```text
    /// static void name(long depth, operands.., T *const *c);
    /// static void name_edge(long depth, operands.., T *const *c,
    ///                       int rows, const int *from, const int *to);
    /// ```
    ///
    /// `c` points to the first element of each row. An operand is a pointer to its packed panel
    /// ([`Panels`](crate::Panels) has the order), a scalar its value. `name_edge` updates columns
    /// `from[r]` up to `to[r]`, exclusive, of the first `rows` rows alone and reads no others;
    /// the panels are those of a whole tile. Elements are floats.
    pub fn to_c(&self, name: &str, element: Element) -> String {
        let writer = Writer::new(self, name, element);
        let mut text = writer.vector_type();
        text.push_str(&writer.kernel());
        text.push_str(&writer.edge(["", ""]));
        text
    }
}

pub(crate) struct Writer<'a> {
    pub program: &'a Program,
    pub element: Element,
    pub name: &'a str,
    /// The kernel whose vectors it uses, if not its own.
    pub vector_of: Option<&'a str>,
    /// How many elements lie from a row to the next in a panel, and from a column to the next.
    pub apart: [usize; 2],
}

impl<'a> Writer<'a> {
    pub fn new(program: &'a Program, name: &'a str, element: Element) -> Self {
        Self { program, element, name, vector_of: None, apart: [1, 1] }
    }
}

impl Writer<'_> {
    /// The type of a vector, which is named after a kernel.
    pub fn vector(&self) -> String {
        match self.program.width {
            1 => self.element.c_type().to_owned(),
            _ => format!("{}_vector", self.vector_of.unwrap_or(self.name)),
        }
    }

    pub fn vector_type(&self) -> String {
        let (width, element) = (self.program.width, self.element);
        let mut text = String::new();
        if width > 1 {
            // Rows of the target start anywhere, and have elements of the plain type.
            let _ = writeln!(
                text,
                "typedef {} {} __attribute__((vector_size({}), aligned({}), may_alias));\n",
                element.c_type(),
                self.vector(),
                width * element.bytes(),
                element.bytes(),
            );
        }
        text
    }

    /// What stands before a kernel's name.
    fn declared(&self) -> &'static str {
        match self.program.width * self.element.bytes() {
            // clang cuts these in two on processors where it prefers shorter ones: half of the rate.
            64 => "#ifdef __clang__\n__attribute__((min_vector_width(512)))\n#endif\nstatic void",
            _ => "static void",
        }
    }

    /// The parameters that stand for operands.
    pub fn operands(&self) -> String {
        let ty = self.element.c_type();
        let roles = self.program.body.roles().iter().enumerate();
        let each = roles.map(|(at, role)| match role {
            Role::Row => format!("const {ty} *restrict a{at}, "),
            Role::Column => format!("const {ty} *restrict b{at}, "),
            Role::Scalar => format!("{ty} s{at}, "),
        });
        each.collect()
    }

    pub fn arguments(&self) -> String {
        let roles = self.program.body.roles().iter().enumerate();
        let letter = |role: &Role| match role {
            Role::Row => 'a',
            Role::Column => 'b',
            Role::Scalar => 's',
        };
        roles.map(|(at, role)| format!("{}{at}, ", letter(role))).collect()
    }

    pub fn kernel(&self) -> String {
        let Self { program, name, .. } = self;
        let (ty, vector) = (self.element.c_type(), self.vector());
        let mut text = format!(
            "/* Updates {} rows of {} elements, which stay in registers meanwhile. */\n",
            program.rows, program.columns,
        );
        let _ = writeln!(
            text,
            "{} {name}(long depth, {}{ty} *const *restrict c)\n{{",
            self.declared(),
            self.operands(),
        );
        let mut pending = FxHashMap::default();
        for inst in &program.before {
            self.write(inst, "    ", &vector, &mut pending, &mut text);
        }
        let _ = writeln!(text, "    for (long p = 0; p < depth; p++) {{");
        for inst in &program.step {
            self.write(inst, "        ", &vector, &mut pending, &mut text);
        }
        for (at, role) in program.body.roles().iter().enumerate() {
            let _ = match role {
                Role::Row => writeln!(text, "        a{at} += {};", program.rows),
                Role::Column => writeln!(text, "        b{at} += {};", program.columns),
                Role::Scalar => Ok(()),
            };
        }
        text.push_str("    }\n");
        for inst in &program.after {
            self.write(inst, "    ", &vector, &mut pending, &mut text);
        }
        text.push_str("}\n\n");
        text
    }

    /// Writes an instruction; what is neither loaded nor a sum becomes a part of the expressions
    /// that read it, so that compilers fuse the same operations as in the source.
    pub fn write(
        &self,
        inst: &Inst,
        indent: &str,
        vector: &str,
        pending: &mut FxHashMap<Register, (String, Strength)>,
        text: &mut String,
    ) {
        if let Inst::StoreTarget { from, row, column } = *inst {
            let _ = writeln!(text, "{indent}{} = r{};", self.place(row, column), from.0);
            return;
        }
        let Some(to) = inst.target() else { return };
        let updates = inst.sources().any(|source| source == to);
        let (value, strength) = self.value(inst, pending);
        let is_load = matches!(inst, Inst::Load { .. } | Inst::LoadTarget { .. });
        if !updates && !is_load {
            pending.insert(to, (value, strength));
            return;
        }
        let declared = if updates { String::new() } else { format!("{vector} ") };
        let _ = writeln!(text, "{indent}{declared}r{} = {value};", to.0);
    }

    fn value(
        &self,
        inst: &Inst,
        pending: &FxHashMap<Register, (String, Strength)>,
    ) -> (String, Strength) {
        let operand = |register: Register| match pending.get(&register) {
            Some(text) => text.clone(),
            None => (format!("r{}", register.0), Strength::Atom),
        };
        match *inst {
            Inst::LoadTarget { row, column, .. } => (self.place(row, column), Strength::Atom),
            Inst::Load { operand, at, .. } => (self.load(operand, at), Strength::Sum),
            Inst::Negate { of, .. } => {
                (format!("-{}", bracketed(operand(of), Strength::Atom)), Strength::Product)
            }
            Inst::Binary { op, left, right, .. } => op.joined(operand(left), operand(right)),
            Inst::StoreTarget { .. } => (String::new(), Strength::Atom),
        }
    }

    fn place(&self, row: usize, column: usize) -> String {
        match self.program.width {
            1 => format!("c[{row}][{column}]"),
            _ => format!("*({} *)(c[{row}] + {column})", self.vector()),
        }
    }

    fn load(&self, operand: usize, at: usize) -> String {
        let vector = self.vector();
        let (scalar, wide) = match self.program.body.roles()[operand] {
            Role::Row => (format!("a{operand}[{}]", at * self.apart[0]), false),
            Role::Scalar => (format!("s{operand}"), false),
            Role::Column => (String::new(), true),
        };
        let column = format!("b{operand}[{}]", at * self.apart[1]);
        match (self.program.width, wide) {
            (1, true) => column,
            (1, false) => scalar,
            (_, true) => format!("*(const {vector} *)&{column}"),
            // Less zero is every number itself, also a negative zero.
            (_, false) => format!("{scalar} - ({vector}){{0}}"),
        }
    }

    /// Writes the function for a part of a tile; `more`: parameters and arguments behind the others.
    pub fn edge(&self, more: [&str; 2]) -> String {
        let Self { program, name, .. } = self;
        let (ty, rows, columns) = (self.element.c_type(), program.rows, program.columns);
        format!(
            "/* Updates columns from[r] to to[r] of some rows of a tile, by way of a copy. */\n\
             static void {name}_edge(long depth, {operands}{ty} *const *restrict c,\n\
             {pad}int rows, const int *from, const int *to{})\n\
             {{\n    \
                 {ty} tile[{rows}][{columns}] = {{{{0}}}}, *row[{rows}];\n    \
                 for (int r = 0; r < {rows}; r++)\n        \
                     row[r] = tile[r];\n    \
                 for (int r = 0; r < rows; r++)\n        \
                     for (int j = from[r]; j < to[r]; j++)\n            \
                         tile[r][j] = c[r][j];\n    \
                 {name}(depth, {arguments}row{});\n    \
                 for (int r = 0; r < rows; r++)\n        \
                     for (int j = from[r]; j < to[r]; j++)\n            \
                         c[r][j] = tile[r][j];\n\
             }}\n",
            more[0],
            more[1],
            operands = self.operands(),
            arguments = self.arguments(),
            pad = " ".repeat(name.len() + 18),
        )
    }
}
