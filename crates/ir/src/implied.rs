//! What the text of an operation leaves out because its definition implies it: the body of a named
//! computation, and attributes that follow from the name.
//!
//! The body is described as data, so that one description serves the reader, which makes it, and
//! the printer, which leaves out nothing else.

use crate::attributes::Attr;
use crate::module::{Module, Op, OpState, Point, Value};
use crate::types::Type;

/// A block that an operation implies.
#[derive(Clone, PartialEq, Debug)]
pub struct ImpliedBody {
    /// The types of its arguments.
    pub args: Vec<Type>,
    /// Its operations but the last. Values have numbers: arguments first, then results in order.
    pub steps: Vec<ImpliedStep>,
    /// The name of the last operation.
    pub terminator: &'static str,
    /// The numbers of the values that it is given.
    pub yields: Vec<usize>,
    /// Attributes of the operation itself.
    pub attrs: Vec<(&'static str, Attr)>,
}

/// An operation with one result.
#[derive(Clone, PartialEq, Debug)]
pub struct ImpliedStep {
    /// Its name.
    pub name: &'static str,
    /// The numbers of its operands.
    pub operands: Vec<usize>,
    /// Its attribute, if it has one.
    pub attr: Option<(&'static str, Attr)>,
    /// The type of its result.
    pub result: Type,
}

/// Says what an operation implies; `None` if nothing is known for its types.
pub type ImplyFn = fn(&Module, Op) -> Option<ImpliedBody>;

impl Module {
    /// What the definition of `op` implies.
    fn implied(&self, op: Op) -> Option<ImpliedBody> {
        self.def(op)?.implies.and_then(|implies| implies(self, op))
    }

    /// Gives `op`, whose only region is empty, what its definition implies. Returns whether
    /// anything is known of it.
    pub(crate) fn make_implied(&mut self, op: Op) -> bool {
        let (Some(body), Some(&region)) = (self.implied(op), self.regions(op).first()) else {
            return false;
        };
        let loc = self.loc(op);
        let block = self.add_block(region);
        let mut values: Vec<Value> = Vec::new();
        for &ty in &body.args {
            values.push(self.add_arg(block, ty));
        }
        for step in &body.steps {
            let mut state = OpState::new(self.context().name(step.name), loc);
            state.operands.extend(step.operands.iter().filter_map(|&i| values.get(i).copied()));
            let entry = step.attr.map(|(name, attr)| (self.context().str(name), attr));
            state.attrs = self.context().dict(entry);
            state.results.push(step.result);
            let made = self.create_at(Point::End(block), state);
            values.push(self.result(made, 0));
        }
        let mut state = OpState::new(self.context().name(body.terminator), loc);
        state.operands.extend(body.yields.iter().filter_map(|&i| values.get(i).copied()));
        self.create_at(Point::End(block), state);
        for (name, attr) in body.attrs {
            if self.attr(op, name).is_none() {
                let mut entries = self.context().entries(self.attrs(op)).to_vec();
                entries.push((self.context().str(name), attr));
                let attrs = self.context().dict(entries);
                self.set_attrs(op, attrs);
            }
        }
        true
    }

    /// What attribute `name` of `op` is where the text leaves it out.
    pub(crate) fn implied_attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.implied(op)?.attrs.into_iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }

    /// Returns whether `op` holds what its definition implies and nothing else, so that the text need
    /// not show it. Flags that allow nothing count as absent.
    pub(crate) fn is_as_implied(&self, op: Op) -> bool {
        let Some(body) = self.implied(op) else { return false };
        let Some(&region) = self.regions(op).first() else { return false };
        let Some(block) = self.first_block(region) else { return false };
        let types = self.args(block).iter().map(|&arg| self.value_type(arg));
        let alone = self.next_block(block).is_none() && types.eq(body.args.iter().copied());
        if !alone {
            return false;
        }
        let mut values: Vec<Value> = self.args(block).to_vec();
        let mut ops = self.ops(block);
        let given = |values: &[Value], op: Op, numbers: &[usize]| {
            self.operands(op).eq(numbers.iter().filter_map(|&i| values.get(i).copied()))
        };
        for step in &body.steps {
            let Some(made) = ops.next() else { return false };
            let same = self.name_text(made) == step.name
                && given(&values, made, &step.operands)
                && self.result_count(made) == 1
                && self.value_type(self.result(made, 0)) == step.result
                && self.has_only(made, step.attr);
            if !same {
                return false;
            }
            values.push(self.result(made, 0));
        }
        let end = ops.next().filter(|&end| self.name_text(end) == body.terminator);
        end.is_some_and(|end| given(&values, end, &body.yields)) && ops.next().is_none()
    }

    /// Returns whether `op` has this attribute alone, besides flags that are not set.
    fn has_only(&self, op: Op, expected: Option<(&str, Attr)>) -> bool {
        let context = self.context();
        let unset = |attr: Attr| match context.attr_data(attr) {
            crate::AttrData::Opaque(text) => context.text(*text).ends_with("<none>"),
            _ => false,
        };
        let mut told = context.entries(self.attrs(op)).iter().filter(|entry| !unset(entry.1));
        match expected {
            None => told.next().is_none(),
            Some((name, attr)) => {
                told.next().is_some_and(|&(key, value)| context.text(key) == name && value == attr)
                    && told.next().is_none()
            }
        }
    }
}
