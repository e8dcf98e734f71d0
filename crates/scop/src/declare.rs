//! What names stand for.

use std::collections::BTreeMap;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    PointerQualifier, TypeQualifier,
};
use lang_c::span::Node;
use tangram_polyhedral::scop::Array;

use crate::find::Source;

/// The variables in scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    known: BTreeMap<String, Array>,
    /// Pointers, and whether `restrict` says that others do not lead to their cells.
    pointers: BTreeMap<String, bool>,
}

impl Names {
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.known.get(name)
    }

    /// Says of a pointer whether it is declared with `restrict`; nothing of other variables.
    pub fn restricted(&self, name: &str) -> Option<bool> {
        self.pointers.get(name).copied()
    }

    /// Adds the variables of a declaration; functions are left out.
    pub fn declare(&mut self, declaration: &Declaration, source: &Source) -> Vec<String> {
        let element = element(&declaration.specifiers, source);
        let declarators = declaration.declarators.iter();
        declarators
            .filter_map(|d| self.add(&d.node.declarator.node, &element, false, source))
            .collect()
    }

    /// Adds the parameters of a function.
    pub fn parameters(&mut self, declarator: &Declarator, source: &Source) {
        for derived in &declarator.derived {
            let DerivedDeclarator::Function(function) = &derived.node else { continue };
            for parameter in &function.node.parameters {
                let element = element(&parameter.node.specifiers, source);
                if let Some(declarator) = &parameter.node.declarator {
                    self.add(&declarator.node, &element, true, source);
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

    fn add(
        &mut self,
        declarator: &Declarator,
        element: &str,
        parameter: bool,
        source: &Source,
    ) -> Option<String> {
        let mut extents = Vec::new();
        let (mut name, mut outermost) = (None, None);
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
                outermost = Some(&derived.node);
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
        match outermost.and_then(|derived| restricted(derived, parameter)) {
            Some(restricted) => self.pointers.insert(name.clone(), restricted),
            None => self.pointers.remove(&name),
        };
        Some(name)
    }
}

/// Says of a declarator of pointers whether it has `restrict`; arrays as parameters are
/// pointers, too.
fn restricted(outermost: &DerivedDeclarator, parameter: bool) -> Option<bool> {
    let restricts = |qualifier: &TypeQualifier| matches!(qualifier, TypeQualifier::Restrict);
    match outermost {
        DerivedDeclarator::Pointer(qualifiers) => Some(qualifiers.iter().any(
            |qualifier| matches!(&qualifier.node, PointerQualifier::TypeQualifier(q) if restricts(&q.node)),
        )),
        DerivedDeclarator::Array(array) if parameter => {
            Some(array.node.qualifiers.iter().any(|qualifier| restricts(&qualifier.node)))
        }
        _ => None,
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
