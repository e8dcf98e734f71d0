//! Members of structures as arrays of their own.
//!
//! ```c
//! for (int i = 0; i < s->n; i++) s->a[i] = p[i].x;    // s_n, s_a[i], p_x[i]
//! ```
//!
//! That is right where a part uses a structure's members alone, each down to a number, and never
//! the structure as a whole.

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::Builder;
use crate::access::{Access, Accesses};
use crate::c_tokens::words;
use crate::declare::is_integer;
use crate::lvalue::Lvalue;
use crate::structure::{Path, Selector, key_of};
use crate::subscript::Subscript;
use crate::{Declared, Member, Problem};

impl Builder<'_> {
    /// Reads the cells of a member, if it is an array of its own.
    pub(crate) fn member_cells(
        &mut self,
        node: &Node<Expression>,
        found: &mut Accesses,
    ) -> Result<Option<Vec<Access>>, Problem> {
        let Some((path, at)) = self.member(node) else { return Ok(None) };
        let skip = usize::from(self.is_single(&path));
        let name = self.members[at].name.clone();
        let steps = path.steps.iter().filter(|step| !matches!(step, Selector::Member(_)));
        let subscripts = steps.skip(skip).map(|step| match step {
            Selector::Subscript(node) => Subscript::one(node),
            _ => Subscript::default(),
        });
        let place = Lvalue::of_member(node, subscripts.collect());
        self.use_array(&name);
        self.cells(&name, &place, found).map(Some)
    }

    /// Returns whether an expression is a member that the part never writes, and a number.
    pub(crate) fn is_constant_member(&mut self, node: &Node<Expression>) -> bool {
        let Some((path, at)) = self.member(node) else { return false };
        self.members[at].array.extents.is_empty() && !self.written.members.contains(&path.key())
    }

    /// Notes the members in an expression that may be parameters.
    pub(super) fn note_members(&mut self, node: &Node<Expression>) {
        let always = self.is_outermost() && self.conditions.is_empty();
        for node in within(node) {
            let Some((path, at)) = self.member(node) else { continue };
            if always {
                self.reached.insert(path.base.to_owned());
            }
            let through = path.steps.iter().any(|step| matches!(step, Selector::First));
            let (key, array) = (path.key(), &self.members[at].array);
            let reason = if !array.extents.is_empty() {
                "is not affine: it is an array"
            } else if self.written.members.contains(&key) {
                "is not affine: it is written inside the part"
            } else if !is_integer(&array.element) {
                "is not affine: it is not an integer"
            } else if through && !self.reached.contains(path.base) {
                "is read through a pointer that could lead nowhere where the loops around do not \
                 run: read it into a variable in front of them"
            } else {
                ""
            };
            let outcome = match reason {
                "" => Ok(self.members[at].name.clone()),
                reason => Err(reason.to_owned()),
            };
            self.numbers.insert(key, outcome);
        }
    }

    /// Returns the place of a member in the list of those that are arrays of their own.
    fn member<'n>(&mut self, node: &'n Node<Expression>) -> Option<(Path<'n>, usize)> {
        let path = Path::of(&node.node)?;
        let base = path.base;
        let moves = self.named(base) != base
            || self.is_loop(base)
            || self.hidden.iter().any(|hidden| hidden == base)
            || self.is_assigned(base)
            || self.written.declared.contains_key(base)
            || self.written.whole.contains(base)
            || self.is_volatile(base);
        if moves {
            return None;
        }
        let (text, key) = (path.text(), path.key());
        let same = |member: &Member| key_of(&member.text) == key;
        if let Some(at) = self.members.iter().position(same) {
            return Some((path, at));
        }
        let found = self.names.follow(&path)?;
        let mut name = key.replace('.', "_");
        let taken = |name: &str| {
            self.names.get(name).is_some() || words(self.source.text).any(|word| word == name)
        };
        if taken(&name) || self.members.iter().any(|member| member.name == name) {
            name = self.fresh(&format!("{name}_{}", self.members.len()));
        }
        let skip = usize::from(self.is_single(&path));
        let array = Declared {
            name: name.clone(),
            element: found.element,
            extents: found.extents[skip..].to_vec(),
            local: false,
        };
        let (base, restricted) = (base.to_owned(), found.restricted);
        self.names.insert(array.clone(), restricted);
        self.members.push(Member { name, text, base, array, restricted });
        Some((path, self.members.len() - 1))
    }

    /// Returns whether a pointer leads to one structure in the whole part.
    fn is_single(&self, path: &Path) -> bool {
        matches!(path.steps.first(), Some(Selector::First))
            && !self.written.indexed.contains(path.base)
    }
}

/// Lists the members in an expression that could be affine.
fn within(node: &Node<Expression>) -> Vec<&Node<Expression>> {
    let (mut found, mut open) = (Vec::new(), vec![node]);
    while let Some(node) = open.pop() {
        match &node.node {
            Expression::Member(_) => found.push(node),
            Expression::Cast(cast) => open.push(&cast.node.expression),
            Expression::UnaryOperator(unary) => open.push(&unary.node.operand),
            Expression::BinaryOperator(binary) => {
                open.extend([&*binary.node.lhs, &*binary.node.rhs]);
            }
            Expression::Conditional(choice) => {
                let choice = &choice.node;
                open.extend([&*choice.condition, &*choice.then_expression]);
                open.push(&choice.else_expression);
            }
            Expression::Call(call) => open.extend(&call.node.arguments),
            _ => {}
        }
    }
    found
}
