//! Printing modules in MLIR's text.

mod aliases;
mod attrs;
mod custom;
mod dense;
mod directives;
mod elide;
mod functions;
mod grids;
mod locs;
mod loops;
mod names;
mod numbering;
mod operations;
mod resources;
mod strings;
mod types;

use std::fmt;

use crate::attributes::Attr;
use crate::context::Context;
use crate::module::{Module, Op};
use crate::types::Type;
use aliases::Aliases;
use custom::Spacing;
use numbering::Numbering;
pub(crate) use resources::ALIGNMENT;

/// What to print beside the operations.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether each operation is followed by its location.
    pub locations: bool,
    /// Whether the big tensors follow the module.
    pub resources: bool,
    /// Whether what stands in regions is printed; if not, a region is `{...}`.
    pub regions: bool,
    /// Whether every operation has its generic form. If not, those that have a format are printed
    /// by it, values have names, and maps and sets have aliases, as `mlir-opt` prints by default.
    pub generic: bool,
    /// The most bytes of a constant that are printed; all if absent.
    ///
    /// As in MLIR, a longer tensor is `dense_resource<__elided__>`, and what follows the module
    /// leaves it out. So is a longer array, as a tensor; a longer text or list is `"__elided__"`.
    /// The text can be read again; what was left out is not there then.
    pub elide: Option<usize>,
}

/// What is read by people has no constants of more bytes than this.
const ELIDED: usize = 128;

impl Options {
    /// What is read by people: no constant of more than a few bytes.
    pub fn elided() -> Self {
        Self { elide: Some(ELIDED), ..Self::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { locations: false, resources: true, regions: true, generic: true, elide: None }
    }
}

/// The text of `module`, with its resources and without locations.
pub fn print(module: &Module) -> String {
    let mut text = String::new();
    // A string takes whatever is written.
    let _ = print_to(&mut text, module, Options::default());
    text
}

/// The text of `module` for people: without the bytes of its weights; see [`Options::elide`].
pub fn print_elided(module: &Module) -> String {
    let mut text = String::new();
    let _ = print_to(&mut text, module, Options::elided());
    text
}

/// Writes the text of `module` to `out`.
///
/// # Errors
/// Those of `out`.
pub fn print_to(out: &mut impl fmt::Write, module: &Module, options: Options) -> fmt::Result {
    let mut printer = Printer::new(out, module, options);
    if !options.generic {
        printer.aliases = aliases::of(module, options);
        printer.alias_definitions()?;
    }
    printer.operation(module.root())?;
    printer.out.write_str("\n")?;
    if options.resources {
        printer.resources()?;
    }
    Ok(())
}

/// Writes `op` and what its regions hold, without a line end and without resources.
///
/// Values have the names that they have in the text of the whole module; O(module).
///
/// # Errors
/// Those of `out`.
pub fn print_op(
    out: &mut impl fmt::Write,
    module: &Module,
    op: Op,
    options: Options,
) -> fmt::Result {
    Printer::new(out, module, options).operation(op)
}

/// The text of `ty`, as it stands in the text of `module`.
pub fn type_text(module: &Module, ty: Type) -> String {
    let mut text = String::new();
    let _ = Printer::bare(&mut text, module).ty(ty);
    text
}

/// The text of `attr`, as it stands in the text of `module`.
pub fn attr_text(module: &Module, attr: Attr) -> String {
    let mut text = String::new();
    let _ = Printer::bare(&mut text, module).attr(attr);
    text
}

/// The text of `attr` for people: without many bytes; see [`Options::elide`].
pub fn attr_text_elided(module: &Module, attr: Attr) -> String {
    let mut text = String::new();
    let mut printer = Printer::bare(&mut text, module);
    printer.options = Options::elided();
    let _ = printer.attr(attr);
    text
}

/// Where text goes, and what it speaks of.
struct Printer<'a, W> {
    out: &'a mut W,
    module: &'a Module,
    context: &'a Context,
    options: Options,
    names: Numbering,
    /// The dialects whose names need not be written in the regions that are open.
    dialects: Vec<&'static str>,
    /// How many regions are open.
    depth: usize,
    /// Terminators that go without saying.
    hidden: Vec<Op>,
    spacing: Spacing,
    /// Whether the results of the next operation have no names.
    unnamed: bool,
    aliases: Aliases,
    /// What types and attributes still have to print; see [`types`].
    work: Vec<Work>,
}

/// A piece of text to come.
#[derive(Clone, Copy)]
enum Work {
    Text(&'static str),
    Type(Type),
    Attr(Attr),
    /// An attribute whose type is left out where it is `i64` or `f64`.
    Element(Attr),
    /// An entry of a dictionary: its name, and its value unless that is `unit`.
    Entry(crate::context::Str, Attr),
    /// A location within `loc(...)`.
    Loc(crate::location::Loc),
    /// Function results, in parentheses unless there is one that is no function.
    Results(Type),
}

impl<'a, W: fmt::Write> Printer<'a, W> {
    fn new(out: &'a mut W, module: &'a Module, options: Options) -> Self {
        let names = if options.generic { Numbering::new(module) } else { Numbering::named(module) };
        Printer { names, options, ..Printer::bare(out, module) }
    }

    /// A printer of types and attributes, which numbers nothing.
    fn bare(out: &'a mut W, module: &'a Module) -> Self {
        Printer {
            out,
            module,
            context: module.context(),
            options: Options::default(),
            names: Numbering::default(),
            dialects: Vec::new(),
            depth: 0,
            hidden: Vec::new(),
            spacing: Spacing::AFTER_WORD,
            unnamed: false,
            aliases: Aliases::default(),
            work: Vec::new(),
        }
    }

    fn write(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    /// Writes `n` in decimal, faster than the formatting machinery.
    fn number(&mut self, mut n: u64) -> fmt::Result {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        self.out.write_str(std::str::from_utf8(&digits[at..]).unwrap_or_default())
    }
}
