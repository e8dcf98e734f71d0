//! Kernels of packed panels as C: the micro-kernel, which is printed from IR, and what calls it for a
//! part of a tile.

use std::fmt::Write;

use tangram_ir::{Context, Module};
use tangram_target::{GNU_C, function};

use crate::body::{Op, Role};
use crate::program::Program;
use crate::steps::StepError;
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
pub(crate) type Text = (String, Strength);

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
    /// the panels are those of a whole tile.
    ///
    /// # Errors
    /// As [`to_packed_ir`](Self::to_packed_ir).
    pub fn to_c(&self, name: &str, element: Element) -> Result<String, StepError> {
        let writer = Writer::new(self, name, element);
        let mut text = writer.kernel()?;
        text.push_str(&writer.edge(["", ""]));
        Ok(text)
    }
}

pub(crate) struct Writer<'a> {
    pub program: &'a Program,
    pub element: Element,
    pub name: &'a str,
    /// The kernel whose vectors it uses, if not its own.
    pub vector_of: Option<&'a str>,
}

impl<'a> Writer<'a> {
    pub fn new(program: &'a Program, name: &'a str, element: Element) -> Self {
        Self { program, element, name, vector_of: None }
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

    /// The parameters that stand for operands.
    pub fn operands(&self) -> String {
        let (ty, column) = (self.element.c_type(), self.element.column_c_type());
        let roles = self.program.body.roles().iter().enumerate();
        let each = roles.map(|(at, role)| match role {
            Role::Row => format!("const {ty} *restrict a{at}, "),
            Role::Column => format!("const {column} *restrict b{at}, "),
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

    /// The micro-kernel, with the types that it needs.
    pub fn kernel(&self) -> Result<String, StepError> {
        let Self { program, name, element, .. } = self;
        let mut module = Module::new(Context::new());
        let kernel = program.to_packed_ir(&mut module, name, *element)?;
        let mut text = format!(
            "/* Updates {} rows of {} elements, which stay in registers meanwhile. */\n",
            program.rows, program.columns,
        );
        let _ = write!(text, "{}", function(&module, kernel, &GNU_C)?);
        Ok(text)
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
