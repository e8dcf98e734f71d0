//! What the tables cannot say of operations with regions: which types go into a region, around a
//! loop and out again.

use tangram_ir::{
    Block, Context, Diagnostic, Module, Op, Type, TypeData, Value, compatible_types, text,
};

pub(crate) type Checked = Result<(), Diagnostic>;

/// An operation that is being checked.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub module: &'a Module,
    pub op: Op,
}

impl<'a> Site<'a> {
    pub fn new(module: &'a Module, op: Op) -> Site<'a> {
        Site { module, op }
    }

    pub fn context(self) -> &'a Context {
        self.module.context()
    }

    pub fn error(self, code: &'static str, message: impl std::fmt::Display) -> Diagnostic {
        let message = format!("`{}`: {message}", self.module.name_text(self.op));
        Diagnostic::error(code, self.module.loc(self.op), message)
    }

    pub fn types(self, values: impl IntoIterator<Item = Value>) -> Vec<Type> {
        values.into_iter().map(|value| self.module.value_type(value)).collect()
    }

    pub fn results(self) -> Vec<Type> {
        self.types(self.module.results(self.op))
    }

    pub fn operands(self) -> Vec<Type> {
        self.types(self.module.operands(self.op))
    }

    pub fn index(self) -> Type {
        self.context().ty(TypeData::Index)
    }

    pub fn text(self, types: &[Type]) -> String {
        let texts: Vec<String> = types.iter().map(|&ty| text::type_text(self.module, ty)).collect();
        format!("({})", texts.join(", "))
    }

    /// Checks that two lists of types are the same.
    pub fn same(self, what: &str, expected: &[Type], found: &[Type]) -> Checked {
        if expected == found {
            return Ok(());
        }
        let (expected, found) = (self.text(expected), self.text(found));
        Err(self.error("region-types", format_args!("expected {what} {expected}, found {found}")))
    }

    /// Checks that values of the one list of types may be those of the other: extents of tensors
    /// may be known to one side only.
    pub fn fit(self, what: &str, expected: &[Type], found: &[Type]) -> Checked {
        let mut pairs = expected.iter().zip(found);
        let context = self.context();
        if expected.len() == found.len() && pairs.all(|(&a, &b)| compatible_types(context, a, b)) {
            return Ok(());
        }
        self.same(what, expected, found)
    }

    /// Checks that the operands divide as an attribute says, and gives their numbers.
    pub fn segments(self) -> Result<Vec<usize>, Diagnostic> {
        let sizes = self.module.attr(self.op, "operandSegmentSizes");
        let sizes = sizes.and_then(|attr| self.module.int_list(attr));
        let sizes: Option<Vec<usize>> =
            sizes.and_then(|sizes| sizes.into_iter().map(|n| usize::try_from(n).ok()).collect());
        sizes.ok_or_else(|| {
            self.error("segments", "expected attribute `operandSegmentSizes`, found none")
        })
    }

    /// Checks that one of these operations stands around.
    pub fn inside(self, parents: &[&str]) -> Checked {
        let parent = self.module.parent(self.op).map(|parent| self.module.name_text(parent));
        if parent.is_some_and(|parent| parents.contains(&parent)) {
            return Ok(());
        }
        Err(self.error("parent", format_args!("expected `{}` around it", parents.join("` or `"))))
    }

    /// The first block of region `i`; `None` if the region is empty.
    pub fn block(self, i: usize) -> Option<Block> {
        self.module.regions(self.op).get(i).and_then(|&region| self.module.first_block(region))
    }

    /// The first block of region `i`, which has to be there.
    pub fn body(self, i: usize) -> Result<Block, Diagnostic> {
        self.block(i).ok_or_else(|| {
            self.error("empty-region", format_args!("expected a block in region {i}, found none"))
        })
    }

    /// Checks the types of the arguments of `block`.
    pub fn arguments(self, block: Block, expected: &[Type]) -> Checked {
        let found = self.types(self.module.args(block).iter().copied());
        self.same("block arguments", expected, &found)
    }

    /// The types of the operands of the terminator of `block`, which has to be named `name`.
    pub fn end(self, block: Block, name: &str) -> Result<Vec<Type>, Diagnostic> {
        match self.module.last_op(block) {
            Some(end) if self.module.name_text(end) == name => {
                Ok(self.types(self.module.operands(end)))
            }
            found => {
                let found = found.map_or("nothing", |end| self.module.name_text(end));
                let message = format!("expected `{name}` at the end of the region, found {found}");
                Err(self.error("terminator", message))
            }
        }
    }

    /// Checks the two regions of a choice: both give the results; with results, both are there.
    pub fn branches(self, end: &str) -> Checked {
        self.body(0)?;
        if self.module.result_count(self.op) > 0 {
            self.body(1)?;
        }
        (0..2).try_for_each(|i| self.gives_results(i, end))
    }

    /// Checks that region `i`, if it is not empty, takes nothing and ends with the results.
    pub fn gives_results(self, i: usize, end: &str) -> Checked {
        let Some(block) = self.block(i) else { return Ok(()) };
        self.arguments(block, &[])?;
        self.same("the region to yield", &self.results(), &self.end(block, end)?)
    }
}
