//! Functions, statement by statement.

mod carried;
mod values;

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{AttrData, Block, Module, Op, Type, TypeData, Value};

use crate::inlined::Places;
use crate::text::Text;
use crate::types::Types;
use crate::{Helper, PrintError, Spelling, Target};

/// A variable of the text.
#[derive(Debug)]
struct Variable {
    name: String,
    /// The values that it holds, one after the other.
    values: Vec<Value>,
}

/// A block that is being printed.
struct Frame {
    next: Option<Op>,
}

/// Where variables are: their numbers.
type Number = usize;

pub(crate) struct Printer<'a> {
    module: &'a Module,
    target: &'a Target,
    function: Op,
    block: Block,
    name: &'a str,
    places: Places<'a>,
    types: Types<'a>,
    variables: Vec<Variable>,
    numbers: FxHashMap<Value, Number>,
    names: FxHashSet<String>,
    /// Expressions that become parts of others.
    pending: FxHashMap<Value, Text>,
    /// Helpers that are called, by their place in the table, with the type of their result.
    helpers: Vec<(usize, Type)>,
    text: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    pub fn new(
        module: &'a Module,
        function: Op,
        target: &'a Target,
    ) -> Result<Printer<'a>, PrintError> {
        let name = module.attr(function, "sym_name").and_then(|a| module.context().as_text(a));
        let region = module.regions(function).first().copied();
        let block = region.and_then(|region| module.first_block(region));
        let block = block.filter(|&block| module.next_block(block).is_none());
        let (Some(name), Some(block)) = (name, block) else { return Err(PrintError::Function) };
        Ok(Printer {
            module,
            target,
            function,
            block,
            name,
            places: Places { module, target },
            types: Types::new(module, target, name),
            variables: Vec::new(),
            numbers: FxHashMap::default(),
            names: FxHashSet::default(),
            pending: FxHashMap::default(),
            helpers: Vec::new(),
            text: String::new(),
            depth: 0,
        })
    }

    pub fn function(mut self) -> Result<String, PrintError> {
        let parameters = self.parameters()?;
        self.body()?;
        let (bytes, long) = self.target.long_vectors;
        let declared = if self.types.has_vector_of(bytes) { long } else { self.target.function };
        let body = std::mem::take(&mut self.text);
        let helpers = self.helper_texts()?;
        let mut text = self.types.definitions();
        text.push_str(&helpers);
        let _ =
            write!(text, "{declared} {}({})\n{{\n{body}}}\n\n", self.name, parameters.join(", "));
        Ok(text)
    }

    fn parameters(&mut self) -> Result<Vec<String>, PrintError> {
        let (module, context) = (self.module, self.module.context());
        let attrs = module.attr(self.function, "arg_attrs").map(|attr| context.attr_data(attr));
        let attrs = match attrs {
            Some(AttrData::Array(items)) => &items[..],
            _ => &[],
        };
        let args = module.args(self.block).iter().enumerate();
        let written = args.map(|(at, &argument)| {
            let alone = attrs.get(at).and_then(|&attr| context.entry_named(attr, "tg.noalias"));
            let number = self.variable(argument);
            let name = self.variables[number].name.clone();
            let alone = if alone.is_some() { "restrict " } else { "" };
            match self.pointer(argument)? {
                None => Ok(format!("{} {name}", self.type_name(module.value_type(argument))?)),
                Some(pointer) => Ok(format!("{pointer}{alone}{name}")),
            }
        });
        written.collect()
    }

    fn body(&mut self) -> Result<(), PrintError> {
        let mut frames = vec![Frame { next: self.module.first_op(self.block) }];
        while let Some(frame) = frames.last_mut() {
            let Some(op) = frame.next else {
                frames.pop();
                continue;
            };
            frame.next = self.module.next(op);
            self.depth = frames.len();
            match self.module.name_text(op) {
                "scf.for" => {
                    let body = self.open_loop(op)?;
                    frames.push(Frame { next: self.module.first_op(body) });
                }
                "scf.yield" => self.close_loop(op)?,
                "func.return" | "arith.constant" => {}
                _ => self.operation(op)?,
            }
        }
        Ok(())
    }

    fn operation(&mut self, op: Op) -> Result<(), PrintError> {
        let spelling = self.places.spelling(op).ok_or_else(|| self.unknown(op))?;
        let operands = self.operands(op)?;
        if let Spelling::Statement(template) = spelling {
            let text = self.filled(op, template, &operands)?;
            self.line(&text);
            return Ok(());
        }
        if let Spelling::Touch(template) = spelling {
            return self.touch(op, template, operands);
        }
        let value = self.value(op, spelling, &operands)?;
        let result = self.module.result(op, 0);
        if self.places.inlined_in(op).is_some() {
            self.pending.insert(result, value);
        } else if let Some(number) = self.updated(op) {
            let name = self.variables[number].name.clone();
            match spelling {
                Spelling::Advance if operands[0].text == name => {
                    self.line(&format!("{name} += {};", operands[1].text));
                }
                _ => self.line(&format!("{name} = {};", value.text)),
            }
            self.hold(number, result);
        } else {
            self.declare(result, &value)?;
        }
        Ok(())
    }

    /// A statement about a variable, which its operand gets if it has none.
    fn touch(&mut self, op: Op, template: &str, operands: Vec<Text>) -> Result<(), PrintError> {
        let operand = self.module.operand(op, 0);
        let number = match self.numbers.get(&operand) {
            Some(&number) => number,
            None => self.declare(operand, &operands[0])?,
        };
        let name = Text::atom(self.variables[number].name.clone());
        let text = self.filled(op, template, &[name])?;
        self.line(&text);
        self.hold(number, self.module.result(op, 0));
        Ok(())
    }

    /// Declares a variable with its first value.
    fn declare(&mut self, value: Value, text: &Text) -> Result<Number, PrintError> {
        let number = self.variable(value);
        let declared = self.declared(value, true)?;
        let line = format!("{declared}{} = {};", self.variables[number].name, text.text);
        self.line(&line);
        Ok(number)
    }

    /// A type with what stands between it and a name; an index that only one value is, is constant.
    fn declared(&mut self, value: Value, once: bool) -> Result<String, PrintError> {
        if let Some(pointer) = self.pointer(value)? {
            return Ok(pointer);
        }
        let ty = self.module.value_type(value);
        let is_index = matches!(self.module.context().type_data(ty), TypeData::Index);
        let constant = if once && is_index { "const " } else { "" };
        Ok(format!("{constant}{} ", self.type_name(ty)?))
    }

    /// The type of a buffer; nothing for what is none. What nothing is stored to is constant.
    fn pointer(&mut self, value: Value) -> Result<Option<String>, PrintError> {
        let pointee = self.types.pointee(self.module.value_type(value))?;
        let Some((element, tables)) = pointee else { return Ok(None) };
        let mut views = vec![value];
        let mut constant = Vec::new();
        for _ in 0..=tables {
            constant.push(!views.iter().any(|&view| self.is_written(view)));
            views = views.into_iter().flat_map(|view| self.read_from(view)).collect();
        }
        let mut text = match constant.pop() {
            Some(true) => format!("const {element} *"),
            _ => format!("{element} *"),
        };
        while let Some(is_constant) = constant.pop() {
            text.push_str(if is_constant { "const *" } else { "*" });
        }
        Ok(Some(text))
    }

    fn type_name(&mut self, ty: Type) -> Result<String, PrintError> {
        Ok(self.types.shape(ty)?.name)
    }

    /// The functions that operations call.
    fn helper_texts(&mut self) -> Result<String, PrintError> {
        let mut text = String::new();
        let mut called = std::mem::take(&mut self.helpers);
        called.sort_by_key(|(at, _)| *at);
        for (at, ty) in called {
            let (_, suffix, write) = self.target.helpers[at];
            let shape = self.types.shape(ty)?;
            let name = format!("{}{suffix}", self.name);
            let bytes = shape.width * shape.bytes;
            text.push_str(&write(&Helper {
                name: &name,
                ty: &shape.name,
                width: shape.width,
                bytes,
            }));
        }
        Ok(text)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = 4 * self.depth);
    }

    fn unknown(&self, op: Op) -> PrintError {
        PrintError::Operation(self.module.name_text(op).to_owned())
    }
}
