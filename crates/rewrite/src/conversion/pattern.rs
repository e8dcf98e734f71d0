//! Patterns that see their operands in the new types.

use std::sync::Arc;

use tangram_ir::{Name, Op, Point, Value};

use super::types::TypeConverter;
use crate::pattern::{NoMatch, RewritePattern, Roots};
use crate::rewriter::Rewriter;

/// The operands of an operation in the new types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adaptor {
    lists: Vec<Vec<Value>>,
}

impl Adaptor {
    /// The values for operand `i`: none, one or several. Panics if there is no such operand.
    pub fn values(&self, i: usize) -> &[Value] {
        &self.lists[i]
    }

    /// The value for operand `i`, if it is one.
    ///
    /// # Errors
    /// [`NoMatch`] if there are none or several.
    pub fn one(&self, i: usize) -> Result<Value, NoMatch> {
        match self.lists.get(i).map(Vec::as_slice) {
            Some(&[value]) => Ok(value),
            found => {
                let count = found.map_or(0, <[Value]>::len);
                Err(NoMatch::because(format!("expected one value for operand {i}, found {count}")))
            }
        }
    }

    /// All values, in the order of the operands.
    pub fn all(&self) -> Vec<Value> {
        self.lists.concat()
    }
}

type Rewrite = Box<
    dyn Fn(&mut Rewriter<'_>, &TypeConverter, Op, &Adaptor) -> Result<(), NoMatch> + Send + Sync,
>;

/// A pattern that gets its operands in the types of a converter.
pub struct ConversionPattern {
    name: String,
    roots: Roots,
    benefit: u16,
    generated: Vec<Name>,
    bounded: bool,
    types: Arc<TypeConverter>,
    rewrite: Rewrite,
}

impl ConversionPattern {
    /// A pattern of benefit 1 for operations of `roots`.
    pub fn new(
        name: impl Into<String>,
        roots: Roots,
        types: &Arc<TypeConverter>,
        rewrite: impl Fn(&mut Rewriter<'_>, &TypeConverter, Op, &Adaptor) -> Result<(), NoMatch>
        + Send
        + Sync
        + 'static,
    ) -> ConversionPattern {
        ConversionPattern {
            name: name.into(),
            roots,
            benefit: 1,
            generated: Vec::new(),
            bounded: false,
            types: types.clone(),
            rewrite: Box::new(rewrite),
        }
    }

    /// Sets the benefit.
    #[must_use]
    pub fn with_benefit(mut self, benefit: u16) -> ConversionPattern {
        self.benefit = benefit;
        self
    }

    /// Names the operations that it makes.
    #[must_use]
    pub fn with_generated(mut self, names: impl IntoIterator<Item = Name>) -> ConversionPattern {
        self.generated.extend(names);
        self
    }

    /// Declares that its recursion ends.
    #[must_use]
    pub fn with_bounded_recursion(mut self) -> ConversionPattern {
        self.bounded = true;
        self
    }
}

impl RewritePattern for ConversionPattern {
    fn name(&self) -> &str {
        &self.name
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn benefit(&self) -> u16 {
        self.benefit
    }

    fn generated(&self) -> &[Name] {
        &self.generated
    }

    fn has_bounded_recursion(&self) -> bool {
        self.bounded
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        let operands: Vec<Value> = rewriter.module().operands(op).collect();
        let mut lists = Vec::with_capacity(operands.len());
        for value in operands {
            let Some(values) = self.types.remap(rewriter, Point::Before(op), value) else {
                return Err(rewriter.no_match(|| "an operand has no legal type".to_owned()));
            };
            lists.push(values);
        }
        (self.rewrite)(rewriter, &self.types, op, &Adaptor { lists })
    }
}
