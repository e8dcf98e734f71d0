//! Printing locations, as `loc(...)`.

use std::fmt;

use super::Printer;
use crate::location::{Loc, LocData};

/// A location within locations, or text between them.
enum Piece {
    Loc(Loc),
    Text(&'static str),
}

impl<W: fmt::Write> Printer<'_, W> {
    /// `loc(...)`.
    pub(super) fn location(&mut self, loc: Loc) -> fmt::Result {
        self.write("loc(")?;
        let mut work = vec![Piece::Loc(loc)];
        while let Some(piece) = work.pop() {
            match piece {
                Piece::Text(text) => self.write(text)?,
                Piece::Loc(loc) => self.location_piece(loc, &mut work)?,
            }
        }
        self.write(")")
    }

    fn location_piece(&mut self, loc: Loc, work: &mut Vec<Piece>) -> fmt::Result {
        match self.context.loc_data(loc) {
            LocData::Unknown => self.write("unknown"),
            LocData::File { file, line, column } => {
                self.quoted(self.context.text(*file).as_bytes())?;
                write!(self.out, ":{line}:{column}")
            }
            LocData::Name { name, child } => {
                self.quoted(self.context.text(*name).as_bytes())?;
                if *child != Loc::UNKNOWN {
                    work.extend([Piece::Text(")"), Piece::Loc(*child), Piece::Text("(")]);
                }
                Ok(())
            }
            LocData::Fused(parts) => {
                work.push(Piece::Text("]"));
                for (i, &part) in parts.iter().enumerate().rev() {
                    work.push(Piece::Loc(part));
                    work.push(Piece::Text(if i == 0 { "fused[" } else { ", " }));
                }
                Ok(())
            }
            LocData::CallSite { callee, caller } => {
                work.extend([
                    Piece::Text(")"),
                    Piece::Loc(*caller),
                    Piece::Text(" at "),
                    Piece::Loc(*callee),
                    Piece::Text("callsite("),
                ]);
                Ok(())
            }
        }
    }
}
