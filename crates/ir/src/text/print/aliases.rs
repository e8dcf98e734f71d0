//! Aliases of maps and sets: `#map = affine_map<(d0) -> (d0)>`.
//!
//! As in MLIR's printer, a program is printed once to find out which maps and sets its text names,
//! in which order; those get aliases, maps before sets.

use std::fmt;

use rustc_hash::FxHashMap;

use super::{Options, Printer};
use crate::attributes::{Attr, AttrData};
use crate::context::Context;
use crate::module::Module;

/// The aliases of attributes.
#[derive(Default)]
pub(super) struct Aliases {
    names: FxHashMap<Attr, String>,
    /// In the order of their definitions.
    order: Vec<Attr>,
    /// Whether what is printed is entered.
    collecting: bool,
}

/// Takes all text and keeps none.
struct Nowhere;

impl fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

fn prefix(context: &Context, attr: Attr) -> Option<&'static str> {
    match context.attr_data(attr) {
        AttrData::AffineMap(_) => Some("map"),
        AttrData::IntegerSet(_) => Some("set"),
        _ => None,
    }
}

/// The aliases that the text of `module` needs.
pub(super) fn of(module: &Module, options: Options) -> Aliases {
    let mut out = Nowhere;
    let mut printer = Printer::new(&mut out, module, options);
    printer.aliases.collecting = true;
    // Nowhere takes all.
    let _ = printer.operation(module.root());
    let mut aliases = std::mem::take(&mut printer.aliases);
    aliases.collecting = false;
    aliases.order.sort_by_key(|&attr| prefix(module.context(), attr));
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for &attr in &aliases.order {
        let Some(prefix) = prefix(module.context(), attr) else { continue };
        let count = counts.entry(prefix).or_default();
        let number = if *count == 0 { String::new() } else { count.to_string() };
        aliases.names.insert(attr, format!("#{prefix}{number}"));
        *count += 1;
    }
    aliases
}

impl<W: fmt::Write> Printer<'_, W> {
    pub(super) fn alias_definitions(&mut self) -> fmt::Result {
        let aliases = std::mem::take(&mut self.aliases);
        for &attr in &aliases.order {
            self.write(aliases.names.get(&attr).map_or("", String::as_str))?;
            self.write(" = ")?;
            self.attr(attr)?;
            self.write("\n")?;
        }
        self.aliases = aliases;
        Ok(())
    }

    /// Writes the alias of `attr`, if it has one.
    pub(super) fn alias(&mut self, attr: Attr) -> Result<bool, fmt::Error> {
        if self.aliases.collecting {
            if prefix(self.context, attr).is_some() && !self.aliases.names.contains_key(&attr) {
                self.aliases.names.insert(attr, String::new());
                self.aliases.order.push(attr);
            }
            return Ok(false);
        }
        match self.aliases.names.get(&attr) {
            Some(name) => self.out.write_str(name).map(|()| true),
            None => Ok(false),
        }
    }
}
