//! What a program is to be made of.

use rustc_hash::FxHashMap;
use tangram_ir::{Context, Module, Name, Op, Str};

/// Returns whether an operation is legal; `None` leaves it unknown.
type Question = Box<dyn Fn(&Module, Op) -> Option<bool> + Send + Sync>;

enum Rule {
    Legal,
    Illegal,
    Dynamic(Question),
}

/// Whether an operation may stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Legality {
    /// It may, and all that its regions hold as well if `recursively`.
    Legal {
        /// Whether its regions are not looked into.
        recursively: bool,
    },
    /// It may not.
    Illegal,
    /// The target says nothing about it.
    Unknown,
}

/// Says of each operation whether it is legal. What is said of an operation beats what is said of
/// its dialect.
#[derive(Default)]
pub struct ConversionTarget {
    ops: FxHashMap<Name, Rule>,
    dialects: FxHashMap<Str, Rule>,
    unknown: Option<Question>,
    recursive: FxHashMap<Name, Option<Question>>,
}

impl ConversionTarget {
    /// A target that says nothing.
    pub fn new() -> ConversionTarget {
        ConversionTarget::default()
    }

    /// Operation `name` is legal.
    pub fn legal(&mut self, name: Name) -> &mut Self {
        self.ops.insert(name, Rule::Legal);
        self
    }

    /// Operation `name` is illegal.
    pub fn illegal(&mut self, name: Name) -> &mut Self {
        self.ops.insert(name, Rule::Illegal);
        self
    }

    /// Operation `name` is legal where `question` says so.
    pub fn dynamic(
        &mut self,
        name: Name,
        question: impl Fn(&Module, Op) -> Option<bool> + Send + Sync + 'static,
    ) -> &mut Self {
        self.ops.insert(name, Rule::Dynamic(Box::new(question)));
        self
    }

    /// The operations of `dialect` are legal.
    pub fn legal_dialect(&mut self, context: &Context, dialect: &str) -> &mut Self {
        self.dialects.insert(context.str(dialect), Rule::Legal);
        self
    }

    /// The operations of `dialect` are illegal.
    pub fn illegal_dialect(&mut self, context: &Context, dialect: &str) -> &mut Self {
        self.dialects.insert(context.str(dialect), Rule::Illegal);
        self
    }

    /// The operations of `dialect` are legal where `question` says so.
    pub fn dynamic_dialect(
        &mut self,
        context: &Context,
        dialect: &str,
        question: impl Fn(&Module, Op) -> Option<bool> + Send + Sync + 'static,
    ) -> &mut Self {
        self.dialects.insert(context.str(dialect), Rule::Dynamic(Box::new(question)));
        self
    }

    /// Operations of which nothing else is said are legal where `question` says so.
    pub fn unknown(
        &mut self,
        question: impl Fn(&Module, Op) -> Option<bool> + Send + Sync + 'static,
    ) -> &mut Self {
        self.unknown = Some(Box::new(question));
        self
    }

    /// Where operation `name` is legal, all that its regions hold is legal.
    pub fn recursively_legal(&mut self, name: Name) -> &mut Self {
        self.recursive.insert(name, None);
        self
    }

    /// As [`ConversionTarget::recursively_legal`], where `question` says so.
    pub fn recursively_legal_if(
        &mut self,
        name: Name,
        question: impl Fn(&Module, Op) -> Option<bool> + Send + Sync + 'static,
    ) -> &mut Self {
        self.recursive.insert(name, Some(Box::new(question)));
        self
    }

    /// Whether `op` may stay.
    pub fn legality(&self, module: &Module, op: Op) -> Legality {
        let name = module.name(op);
        let dialect = || {
            if self.dialects.is_empty() {
                return None;
            }
            let prefix = module.name_text(op).split('.').next().unwrap_or_default();
            self.dialects.get(&module.context().str(prefix))
        };
        let legal = match self.ops.get(&name).or_else(dialect) {
            Some(Rule::Legal) => Some(true),
            Some(Rule::Illegal) => Some(false),
            Some(Rule::Dynamic(question)) => question(module, op),
            None => self.unknown.as_ref().and_then(|question| question(module, op)),
        };
        match legal {
            None => Legality::Unknown,
            Some(false) => Legality::Illegal,
            Some(true) => Legality::Legal { recursively: self.is_recursive(module, op, name) },
        }
    }

    /// Returns whether an operation of this name may be legal, so far as the name tells.
    pub(super) fn may_be_legal(&self, context: &Context, name: Name) -> bool {
        let dialect = context.name_text(name).split('.').next().unwrap_or_default();
        match self.ops.get(&name).or_else(|| self.dialects.get(&context.str(dialect))) {
            Some(Rule::Illegal) => false,
            Some(_) => true,
            None => self.unknown.is_some(),
        }
    }

    fn is_recursive(&self, module: &Module, op: Op, name: Name) -> bool {
        match self.recursive.get(&name) {
            None => false,
            Some(None) => true,
            Some(Some(question)) => question(module, op) == Some(true),
        }
    }
}
