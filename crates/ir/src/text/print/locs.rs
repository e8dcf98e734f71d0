//! Printing locations, as `loc(...)`.

use std::fmt;

use super::{Printer, Work};
use crate::location::{Loc, LocData};
use crate::module::Value;

impl<W: fmt::Write> Printer<'_, W> {
    /// `loc(...)`.
    pub(super) fn location(&mut self, loc: Loc) -> fmt::Result {
        let floor = self.work.len();
        self.location_attr(loc)?;
        self.finish(floor)
    }

    /// ` loc(...)` behind a block argument, where locations are printed.
    pub(super) fn argument_loc(&mut self, arg: Value) -> fmt::Result {
        if !self.options.locations {
            return Ok(());
        }
        self.write(" ")?;
        self.location(self.module.arg_loc(arg))
    }

    /// Begins `loc(...)` and leaves the rest for later.
    pub(super) fn location_attr(&mut self, loc: Loc) -> fmt::Result {
        self.work.extend([Work::Text(")"), Work::Loc(loc)]);
        self.write("loc(")
    }

    pub(super) fn location_piece(&mut self, loc: Loc) -> fmt::Result {
        match self.context.loc_data(loc) {
            LocData::Unknown => self.write("unknown"),
            LocData::File { file, line, column } => {
                self.quoted(self.context.text(*file).as_bytes())?;
                write!(self.out, ":{line}:{column}")
            }
            LocData::Range { file, start: (line, column), end } => {
                self.quoted(self.context.text(*file).as_bytes())?;
                write!(self.out, ":{line}:{column} to ")?;
                match *end {
                    (last, column) if last == *line => write!(self.out, ":{column}"),
                    (last, column) => write!(self.out, "{last}:{column}"),
                }
            }
            LocData::Name { name, child } => {
                self.quoted(self.context.text(*name).as_bytes())?;
                if *child != Loc::UNKNOWN {
                    self.work.extend([Work::Text(")"), Work::Loc(*child), Work::Text("(")]);
                }
                Ok(())
            }
            LocData::Fused { parts, metadata } => {
                self.list(parts.iter().map(|&part| Work::Loc(part)), "]");
                self.work.push(Work::Text("["));
                if let Some(metadata) = *metadata {
                    self.work.extend([Work::Text(">"), Work::Attr(metadata), Work::Text("<")]);
                }
                self.write("fused")
            }
            LocData::CallSite { callee, caller } => {
                self.work.extend([
                    Work::Text(")"),
                    Work::Loc(*caller),
                    Work::Text(" at "),
                    Work::Loc(*callee),
                ]);
                self.write("callsite(")
            }
        }
    }
}
