//! Variables that a part declares.

use lang_c::ast::{
    Declaration, DeclarationSpecifier, Declarator, Initializer, StorageClassSpecifier,
    TypeSpecifier,
};
use lang_c::span::{Node, Span};

use super::rows::pointed;
use super::{Builder, Item, VOLATILE};
use crate::Problem;
use crate::access::{Access, Accesses};
use crate::c_tokens::words;
use crate::source::declared_name;

impl Builder<'_> {
    pub(super) fn declaration(
        &mut self,
        node: &Node<Declaration>,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        if self.declares_volatile(&node.node) {
            return self.wrong(node, VOLATILE);
        }
        if node.node.specifiers.iter().any(|specifier| names_more(&specifier.node)) {
            return self.wrong(node, "names a type or constants: put it in front of the part");
        }
        for declarator in &node.node.declarators {
            if let Some(Initializer::List(_)) =
                declarator.node.initializer.as_ref().map(|initializer| &initializer.node)
            {
                return self.wrong(declarator, "has a list of values: assign them one by one");
            }
            if let Some(value) = pointed(&declarator.node) {
                self.declare_row(node, declarator, value)?;
                continue;
            }
            if let Some(Initializer::Expression(value)) =
                declarator.node.initializer.as_ref().map(|initializer| &initializer.node)
                && self.declare_value(node, declarator, value)
            {
                continue;
            }
            // The value still sees what the name hides.
            let mut accesses = Accesses::default();
            let mut text = None;
            if let Some(Initializer::Expression(value)) =
                declarator.node.initializer.as_ref().map(|initializer| &initializer.node)
            {
                self.reads(value, &mut accesses)?;
                text = Some(self.text(value.span));
            }
            let Some(name) = self.declare(node, &declarator.node.declarator)? else { continue };
            let Some(text) = text else {
                self.declared_anew(&name, declarator.span, order);
                continue;
            };
            self.use_array(&name);
            accesses.writes.push(Access::certain(&name, Vec::new()));
            self.add(node.span, format!("{name} = {text}"), accesses, order);
        }
        Ok(())
    }

    /// Declares a variable of the part; returns its name there.
    pub(super) fn declare(
        &mut self,
        node: &Node<Declaration>,
        declarator: &Node<Declarator>,
    ) -> Result<Option<String>, Problem> {
        let before =
            declared_name(&declarator.node).and_then(|name| self.names.get(&name).cloned());
        let declared = self.names.declare_one(&node.node, &declarator.node, self.source);
        let Some(name) = declared else { return Ok(None) };
        let extents = self.names.get(&name).map(|array| array.extents.join(" "));
        if extents.iter().flat_map(|extents| words(extents)).any(|word| self.named(word) != word) {
            return self.wrong(node, "has an extent that hides another variable: use another name");
        }
        self.names.localise(&name);
        let at = self.statements.len();
        let differs = before.as_ref().is_some_and(|before| Some(before) != self.names.get(&name));
        let used = self.written.outer.contains(&name);
        let hides = differs || used || self.is_declared(&name) || self.is_loop(&name);
        if !hides {
            self.declarations.push((name.clone(), at));
            self.note_declared(&name, &name);
            return Ok(Some(name));
        }
        if self.is_outermost() && self.kept.contains(&name) {
            return self.wrong(node, "hides another variable: use another name");
        }
        let new = self.fresh(&name);
        self.declarations.push((new.clone(), at));
        self.names.rename(&name, &new, before);
        self.note_declared(&name, &new);
        Ok(Some(new))
    }

    /// A variable that is declared in a loop has no value from the iteration before.
    fn declared_anew(&mut self, name: &str, span: Span, order: &mut Vec<Item>) {
        if !self.is_outermost() {
            let kills = vec![self.all_cells(name)];
            let accesses = Accesses { kills, ..Accesses::default() };
            self.add(span, String::new(), accesses, order);
        }
    }
}

/// Returns whether a declaration gives names to more than variables, which generated code would
/// have to declare as well.
fn names_more(specifier: &DeclarationSpecifier) -> bool {
    match specifier {
        DeclarationSpecifier::StorageClass(class) => class.node == StorageClassSpecifier::Typedef,
        DeclarationSpecifier::TypeSpecifier(inner) => match &inner.node {
            TypeSpecifier::Enum(inner) => !inner.node.enumerators.is_empty(),
            _ => false,
        },
        _ => false,
    }
}
