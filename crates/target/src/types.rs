//! What types are called, and what has to be defined for that.

use tangram_ir::{Module, Signedness, Type, TypeData, text};

use crate::{PrintError, Target};

/// The types of a function, in the order in which they were asked for.
pub(crate) struct Types<'a> {
    module: &'a Module,
    target: &'a Target,
    function: &'a str,
    vectors: Vec<(Type, Shape)>,
    /// Element types that need a definition.
    defined: Vec<&'static str>,
}

/// A vector type, or a number as one of a single element.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub name: String,
    pub element: &'static str,
    pub width: usize,
    /// The bytes of an element.
    pub bytes: usize,
}

impl<'a> Types<'a> {
    pub fn new(module: &'a Module, target: &'a Target, function: &'a str) -> Types<'a> {
        Types { module, target, function, vectors: Vec::new(), defined: Vec::new() }
    }

    /// The type of a number or vector.
    pub fn shape(&mut self, ty: Type) -> Result<Shape, PrintError> {
        let TypeData::Vector { dims, scalable, element } = self.module.context().type_data(ty)
        else {
            let (element, bytes) = self.element(ty)?;
            return Ok(Shape { name: element.to_owned(), element, width: 1, bytes });
        };
        if let Some((_, shape)) = self.vectors.iter().find(|(own, _)| *own == ty) {
            return Ok(shape.clone());
        }
        let width = match (&dims[..], scalable.contains(&true)) {
            (&[width], false) => usize::try_from(width).ok(),
            _ => None,
        };
        let width = width.ok_or_else(|| self.unnamed(ty))?;
        let (element, bytes) = self.element(*element)?;
        let number = match self.vectors.len() {
            0 => String::new(),
            more => (more + 1).to_string(),
        };
        let name = format!("{}_vector{number}", self.function);
        let shape = Shape { name, element, width, bytes };
        self.vectors.push((ty, shape.clone()));
        Ok(shape)
    }

    /// The type of the elements of a buffer of one dimension, and how many tables of views lead to them;
    /// nothing for what is no buffer.
    pub fn pointee(&mut self, ty: Type) -> Result<Option<(&'static str, usize)>, PrintError> {
        let (mut at, mut tables) = (ty, 0);
        loop {
            match self.module.context().type_data(at) {
                TypeData::MemRef { dims, element, layout: None, .. } if dims.len() == 1 => {
                    (at, tables) = (*element, tables + 1);
                }
                TypeData::MemRef { .. } => return Err(self.unnamed(ty)),
                _ if tables == 0 => return Ok(None),
                _ => return Ok(Some((self.element(at)?.0, tables - 1))),
            }
        }
    }

    fn element(&mut self, ty: Type) -> Result<(&'static str, usize), PrintError> {
        let target = self.target;
        let text = element_name(self.module.context().type_data(ty));
        let found = text.and_then(|text| target.elements.iter().find(|(own, ..)| *own == text));
        let &(_, name, bytes) = found.ok_or_else(|| self.unnamed(ty))?;
        if !self.defined.contains(&name) {
            self.defined.push(name);
        }
        Ok((name, bytes))
    }

    fn unnamed(&self, ty: Type) -> PrintError {
        PrintError::Type(text::type_text(self.module, ty))
    }

    /// The definitions of all types that were asked for.
    pub fn definitions(&self) -> String {
        let needed = |(name, _): &&(&str, &str)| self.defined.contains(name);
        let elements = self.target.definitions.iter().filter(needed);
        let elements = elements.map(|(_, text)| (*text).to_owned());
        let vectors = self.vectors.iter().map(|(_, shape)| {
            let template = self.target.vector.replace("%E", shape.element);
            let template = template.replace("%V", &shape.name);
            let template = template.replace("%B", &(shape.width * shape.bytes).to_string());
            template.replace("%A", &shape.bytes.to_string())
        });
        elements.chain(vectors).collect()
    }

    /// Whether a vector has as many bytes, or more.
    pub fn has_vector_of(&self, bytes: usize) -> bool {
        self.vectors.iter().any(|(_, shape)| shape.width * shape.bytes >= bytes)
    }
}

/// MLIR's name of a type of numbers.
fn element_name(ty: &TypeData) -> Option<&'static str> {
    match ty {
        TypeData::Index => Some("index"),
        TypeData::Float(kind) => Some(kind.name()),
        TypeData::Integer { width, sign: Signedness::Signless } => match width {
            8 => Some("i8"),
            16 => Some("i16"),
            32 => Some("i32"),
            64 => Some("i64"),
            _ => None,
        },
        _ => None,
    }
}
