//! What names stand for.

use std::collections::BTreeMap;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    TypeQualifier,
};
use lang_c::span::Node;
use tangram_polyhedral::scop::Array;

use crate::find::Source;

/// The variables in scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    known: BTreeMap<String, Array>,
}

impl Names {
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.known.get(name)
    }

    /// Adds the variables of a declaration; functions are left out.
    pub fn declare(&mut self, declaration: &Declaration, source: &Source) -> Vec<String> {
        let element = element(&declaration.specifiers, source);
        let declarators = declaration.declarators.iter();
        declarators
            .filter_map(|declarator| self.add(&declarator.node.declarator.node, &element, source))
            .collect()
    }

    /// Adds the parameters of a function.
    pub fn parameters(&mut self, declarator: &Declarator, source: &Source) {
        for derived in &declarator.derived {
            let DerivedDeclarator::Function(function) = &derived.node else { continue };
            for parameter in &function.node.parameters {
                let element = element(&parameter.node.specifiers, source);
                if let Some(declarator) = &parameter.node.declarator {
                    self.add(&declarator.node, &element, source);
                }
            }
        }
    }

    /// Notes that a variable is not seen from outside.
    pub fn localise(&mut self, name: &str) {
        if let Some(array) = self.known.get_mut(name) {
            array.local = true;
        }
    }

    fn add(&mut self, declarator: &Declarator, element: &str, source: &Source) -> Option<String> {
        let mut extents = Vec::new();
        let mut name = None;
        // `double (*a)[8]`: what is inside the parentheses comes first.
        let mut open = vec![declarator];
        while let Some(declarator) = open.pop() {
            for derived in declarator.derived.iter().rev() {
                match &derived.node {
                    DerivedDeclarator::Pointer(_) => extents.push(String::new()),
                    DerivedDeclarator::Array(array) => {
                        extents.push(extent(&array.node.size, source))
                    }
                    _ => return None,
                }
            }
            match &declarator.kind.node {
                DeclaratorKind::Identifier(id) => name = Some(id.node.name.clone()),
                DeclaratorKind::Declarator(inner) => open.push(&inner.node),
                DeclaratorKind::Abstract => {}
            }
        }
        extents.reverse();
        let (name, element) = (name?, element.to_owned());
        let array = Array { name: name.clone(), element, extents, local: false, kept: false };
        self.known.insert(name.clone(), array);
        Some(name)
    }
}

fn extent(size: &ArraySize, source: &Source) -> String {
    match size {
        ArraySize::VariableExpression(size) | ArraySize::StaticExpression(size) => {
            source.of(size).to_owned()
        }
        ArraySize::Unknown | ArraySize::VariableUnknown => String::new(),
    }
}

fn element(specifiers: &[Node<DeclarationSpecifier>], source: &Source) -> String {
    let is_volatile = |qualifier: &TypeQualifier| matches!(qualifier, TypeQualifier::Volatile);
    let types = specifiers.iter().filter(|specifier| match &specifier.node {
        DeclarationSpecifier::TypeSpecifier(_) => true,
        DeclarationSpecifier::TypeQualifier(qualifier) => is_volatile(&qualifier.node),
        _ => false,
    });
    types.map(|specifier| source.of(specifier)).collect::<Vec<_>>().join(" ")
}
