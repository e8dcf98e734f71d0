//! The signatures of functions.

use std::fmt;

use super::Printer;
use super::custom::Spacing;
use crate::attributes::{Attr, AttrData};
use crate::module::Op;
use crate::types::{Type, TypeData};

/// A type in a signature.
enum Piece<'t> {
    Type(Type),
    /// Its text, behind the name of a dialect unless that is empty.
    Text(&'static str, &'t str),
}

/// The result and the arguments in `void (ptr, i32`.
fn arguments(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '<' | '[' | '{' => depth += 1,
            '>' | ']' | '}' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => return Some((text[..i].trim_end(), &text[i + 1..])),
            _ => {}
        }
    }
    None
}

/// The parts of `text` between commas that stand in no brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    parts.extend(Some(last).filter(|last| !last.is_empty()));
    parts
}

impl<W: fmt::Write> Printer<'_, W> {
    /// ` private @f(%arg0: i32 {a}) -> (i32 {b})`.
    pub(super) fn function_signature(&mut self, op: Op) -> fmt::Result {
        let (module, context) = (self.module, self.context);
        let visibility = module.attr(op, "sym_visibility");
        if let Some(visibility) = visibility.and_then(|attr| context.as_text(attr)) {
            self.write(" ")?;
            self.write(visibility)?;
        }
        self.spacing = Spacing::AFTER_WORD;
        let ty = module.attr(op, "function_type").map(|attr| context.attr_data(attr));
        let Some(AttrData::Type(ty)) = ty else { return Ok(()) };
        let TypeData::Function { inputs, results } = context.type_data(*ty) else {
            return Ok(());
        };
        let pieces = |types: &[Type]| types.iter().map(|&ty| Piece::Type(ty)).collect::<Vec<_>>();
        self.signature(op, &pieces(inputs), &pieces(results), false)
    }

    /// The same of a function whose type is text: `!dialect.func<void (ptr, i32, ...)>`.
    pub(super) fn text_function_signature(&mut self, op: Op, args: &[&'static str]) -> fmt::Result {
        let &[name, dialect, ref heads @ ..] = args else { return Ok(()) };
        let nothing = heads.first().copied().unwrap_or("");
        let ty = self.module.attr(op, "function_type").map(|attr| self.context.attr_data(attr));
        let Some(AttrData::Type(ty)) = ty else { return Ok(()) };
        let TypeData::Opaque(text) = self.context.type_data(*ty) else { return Ok(()) };
        let inside = self
            .context
            .text(*text)
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('<')?.strip_suffix(")>"));
        let Some((result, inputs)) = inside.and_then(arguments) else { return Ok(()) };
        let piece = |text| {
            let long = heads.iter().any(|&head| {
                let rest = str::strip_prefix(text, head);
                rest.is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('<'))
            });
            Piece::Text(if long { dialect } else { "" }, text)
        };
        let mut inputs = split(inputs);
        let open = inputs.pop_if(|last| *last == "...").is_some();
        let inputs: Vec<Piece<'_>> = inputs.into_iter().map(piece).collect();
        let results: Vec<Piece<'_>> =
            (result != nothing).then(|| piece(result)).into_iter().collect();
        self.signature(op, &inputs, &results, open)
    }

    fn signature(
        &mut self,
        op: Op,
        inputs: &[Piece<'_>],
        results: &[Piece<'_>],
        open: bool,
    ) -> fmt::Result {
        let module = self.module;
        self.space()?;
        let name = module.attr(op, "sym_name").and_then(|attr| self.context.as_text(attr));
        self.symbol(name.unwrap_or(""))?;
        let entry = module.regions(op).first().and_then(|&region| module.first_block(region));
        self.write("(")?;
        for (i, input) in inputs.iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            let arg = entry.and_then(|entry| module.args(entry).get(i).copied());
            if let Some(arg) = arg {
                self.value(arg)?;
                self.write(": ")?;
            }
            self.signature_type(input)?;
            self.signature_attrs(op, "arg_attrs", i)?;
            arg.map_or(Ok(()), |arg| self.argument_loc(arg))?;
        }
        match (open, inputs.is_empty()) {
            (false, _) => self.write(")")?,
            (true, true) => self.write("...)")?,
            (true, false) => self.write(", ...)")?,
        }
        self.function_result_list(op, results)?;
        self.spacing = Spacing::AFTER_WORD;
        Ok(())
    }

    fn signature_type(&mut self, piece: &Piece<'_>) -> fmt::Result {
        match *piece {
            Piece::Type(ty) => self.ty(ty),
            Piece::Text("", text) => self.write(text),
            Piece::Text(dialect, text) => write!(self.out, "!{dialect}.{text}"),
        }
    }

    fn function_result_list(&mut self, op: Op, results: &[Piece<'_>]) -> fmt::Result {
        if results.is_empty() {
            return Ok(());
        }
        self.write(" -> ")?;
        let function = |piece: &Piece<'_>| match piece {
            Piece::Type(ty) => matches!(self.context.type_data(*ty), TypeData::Function { .. }),
            Piece::Text(..) => false,
        };
        let bare = results.len() == 1
            && !function(&results[0])
            && self.signature_entries(op, "res_attrs", 0).is_empty();
        self.write(if bare { "" } else { "(" })?;
        for (i, result) in results.iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.signature_type(result)?;
            self.signature_attrs(op, "res_attrs", i)?;
        }
        self.write(if bare { "" } else { ")" })
    }

    fn signature_entries(&self, op: Op, list: &str, i: usize) -> &[(crate::Str, Attr)] {
        let list = self.module.attr(op, list).map(|attr| self.context.attr_data(attr));
        match list {
            Some(AttrData::Array(items)) => {
                items.get(i).map_or(&[], |&item| self.context.entries(item))
            }
            _ => &[],
        }
    }

    fn signature_attrs(&mut self, op: Op, list: &str, i: usize) -> fmt::Result {
        let entries = self.signature_entries(op, list, i).to_vec();
        if entries.is_empty() {
            return Ok(());
        }
        self.write(" ")?;
        self.dictionary(&entries)
    }
}
