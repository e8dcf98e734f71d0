//! What names stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    EnumType, Enumerator, Extension, ForInitializer, FunctionDefinition, Identifier,
    InitDeclarator, PointerQualifier, Statement, StorageClassSpecifier, TypeQualifier,
    TypeSpecifier,
};
use lang_c::span::Node;

use crate::Declared;
use crate::c_tokens::{one_line, words};
use crate::source::{Source, declared_name};
use crate::structure::{Members, key, members};

/// The variables in scope. A copy costs nothing until one of both changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Rc<Table>);

impl Deref for Names {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.0
    }
}

impl DerefMut for Names {
    fn deref_mut(&mut self) -> &mut Table {
        Rc::make_mut(&mut self.0)
    }
}

/// What is known of names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    known: BTreeMap<String, Declared>,
    /// Pointers, and whether `restrict` says that others do not lead to their cells.
    pointers: BTreeMap<String, bool>,
    /// What `typedef` gives names to.
    types: BTreeMap<String, Type>,
    /// Functions without effects whose result depends on their arguments alone.
    pure: BTreeSet<String>,
    /// Structures and unions with members that are volatile or atomic.
    fixed: BTreeSet<String>,
    /// The members of structures by type.
    structures: BTreeMap<String, Members>,
    /// Constants, in the order of their declarations.
    enumerations: Vec<Enumeration>,
}

/// Constants that one declaration gives their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// Their names.
    pub names: Vec<String>,
    /// As C declares them, without a name of the type.
    pub text: String,
}

#[derive(Debug, Clone)]
struct Type {
    /// In words that no `typedef` names.
    element: String,
    extents: Vec<String>,
}

impl Names {
    pub fn get(&self, name: &str) -> Option<&Declared> {
        self.known.get(name)
    }

    /// Returns whether C lets cells of two variables be the same: their types are alike but for
    /// signs, or one of them is made of characters or has members.
    pub fn may_share(&self, a: &str, b: &str) -> bool {
        let kind = |name: &str| {
            let element = self.element(name);
            let signs = ["signed", "unsigned", "int", "volatile"];
            let words = element.split_whitespace().filter(|word| !signs.contains(word));
            let words: Vec<String> = words.map(str::to_owned).collect();
            (words, self.may_be_anything(name), is_integer(&element))
        };
        let ((a, any_a, whole_a), (b, any_b, whole_b)) = (kind(a), kind(b));
        any_a || any_b || (a == b && whole_a == whole_b)
    }

    /// Returns whether a cell of a variable may be a part of one of any type: it is a character, or has
    /// members.
    pub fn may_be_anything(&self, name: &str) -> bool {
        let element = self.element(name);
        let is_number = is_integer(&element) || self.is_plain_number(&element);
        !is_number
            || element.split_whitespace().any(|word| word.contains("char") || word.contains("int8"))
    }

    /// Returns the type of the cells of a variable; nothing if it is not known.
    fn element(&self, name: &str) -> String {
        self.known.get(name).map(|array| self.resolved(&array.element)).unwrap_or_default()
    }

    /// Says of a pointer whether it is declared with `restrict`; nothing of other variables.
    pub fn restricted(&self, name: &str) -> Option<bool> {
        self.pointers.get(name).copied()
    }

    /// Returns a type with what stands behind names that `typedef` gave.
    pub fn resolved(&self, element: &str) -> String {
        let resolve = |word| self.types.get(word).map_or(word, |named| named.element.as_str());
        element.split_whitespace().map(resolve).collect::<Vec<_>>().join(" ")
    }

    /// Adds the variables of a declaration; functions are left out.
    pub fn declare(&mut self, declaration: &Declaration, source: &Source) -> Vec<String> {
        self.note_const(declaration);
        let declarators = declaration.declarators.iter();
        let one = |d: &Node<InitDeclarator>| {
            self.declare_one(declaration, &d.node.declarator.node, source)
        };
        let declared: Vec<String> = declarators.filter_map(one).collect();
        self.hide_in_extents(&declared);
        for specifier in &declaration.specifiers {
            self.note_fixed(specifier, source);
        }
        declared
    }

    /// Adds the variables that a loop declares for all that is in it.
    pub fn declare_start(&mut self, statement: &Statement, source: &Source) {
        if let Statement::For(inner) = statement
            && let ForInitializer::Declaration(declaration) = &inner.node.initializer.node
        {
            self.declare(&declaration.node, source);
        }
    }

    /// Forgets extents of other arrays that new variables hide: `n` of `double a[n][n]` where an
    /// inner block has an `n` of its own.
    fn hide_in_extents(&mut self, hidden: &[String]) {
        let hides = |extent: &String| words(extent).any(|word| hidden.iter().any(|h| h == word));
        for (name, array) in &mut self.known {
            if !hidden.contains(name) {
                array.extents.iter_mut().filter(|extent| hides(extent)).for_each(String::clear);
            }
        }
    }

    /// Adds the variable of one declarator; functions and types are none.
    pub fn declare_one(
        &mut self,
        declaration: &Declaration,
        declarator: &Declarator,
        source: &Source,
    ) -> Option<String> {
        let element = element(&declaration.specifiers, source);
        for specifier in &declaration.specifiers {
            self.note_fixed(specifier, source);
        }
        if declaration.specifiers.iter().any(names_type) {
            self.name_type(declarator, &element, source);
            return None;
        }
        self.add(declarator, &element, false, source)
    }

    /// Gives a variable another name; `before`: what the old one stands for from now on.
    pub fn rename(&mut self, old: &str, new: &str, before: Option<Declared>) {
        let Some(array) = self.known.remove(old) else { return };
        self.known.extend(before.map(|before| (old.to_owned(), before)));
        self.known.insert(new.to_owned(), Declared { name: new.to_owned(), ..array });
    }

    /// Lists the constants that enumerations declare.
    pub fn enumerations(&self) -> &[Enumeration] {
        &self.enumerations
    }

    fn note_constants(&mut self, inner: &EnumType, source: &Source) {
        if inner.enumerators.is_empty() {
            return;
        }
        let one = |own: &Node<Enumerator>| own.node.identifier.node.name.clone();
        let names: Vec<String> = inner.enumerators.iter().map(one).collect();
        let texts = inner.enumerators.iter().map(|own| one_line(source.of(own)));
        let texts: Vec<String> = texts.collect();
        let text = format!("enum {{ {} }};", texts.join(", "));
        let found = Enumeration { names, text };
        if !self.enumerations.contains(&found) {
            self.enumerations.push(found);
        }
    }

    fn note_fixed(&mut self, specifier: &Node<DeclarationSpecifier>, source: &Source) {
        let DeclarationSpecifier::TypeSpecifier(inner) = &specifier.node else { return };
        if let TypeSpecifier::Enum(inner) = &inner.node {
            self.note_constants(&inner.node, source);
        }
        let TypeSpecifier::Struct(structure) = &inner.node else { return };
        let known = key(&self.resolved(source.of(specifier)));
        if let Some((key, members)) = known.zip(members(&structure.node, source)) {
            self.structures.insert(key, members);
        }
        if let (Some(tag), Some(_)) = (&structure.node.identifier, &structure.node.declarations)
            && self.is_volatile(source.of(specifier))
        {
            self.fixed.insert(tag.node.name.clone());
        }
    }

    fn name_type(&mut self, declarator: &Declarator, element: &str, source: &Source) {
        let Some(Shape { name: Some(name), mut extents, fixed, .. }) = shape(declarator, source)
        else {
            return;
        };
        let element = &with_pointer(element, fixed);
        extents.extend(self.extents_of(element));
        // Each name would hold as much as all before it; no part uses so many.
        if extents.len() > DIMENSIONS {
            return;
        }
        let element = self.resolved(element);
        self.types.insert(name, Type { element, extents });
    }

    /// Returns the members of a structure.
    pub fn members(&self, element: &str) -> Option<&Members> {
        self.structures.get(&key(&self.resolved(element))?)
    }

    /// Adds an array of which `restricted` says whether it is a pointer with `restrict`.
    pub fn insert(&mut self, array: Declared, restricted: Option<bool>) {
        self.pointers.extend(restricted.map(|restricted| (array.name.clone(), restricted)));
        self.known.insert(array.name.clone(), array);
    }

    /// Returns the extents that a type has by itself.
    pub fn extents_of(&self, element: &str) -> Vec<String> {
        self.types.get(element).map(|named| named.extents.clone()).unwrap_or_default()
    }

    /// Lists the names of all variables.
    pub fn all(&self) -> impl Iterator<Item = String> {
        self.known.keys().cloned()
    }

    /// Returns whether each access to a type must stay where it is: it is volatile or atomic, or
    /// has members that are.
    pub fn is_volatile(&self, element: &str) -> bool {
        let resolved = self.resolved(element);
        is_fixed(&resolved) || words(&resolved).any(|word| self.fixed.contains(word))
    }

    /// Returns whether a type is one of numbers, and neither volatile nor a pointer.
    pub fn is_plain_number(&self, element: &str) -> bool {
        let resolved = self.resolved(element);
        let is_float = |word: &str| matches!(word, "float" | "double" | "long");
        let floats = !resolved.is_empty() && resolved.split_whitespace().all(is_float);
        let plain = self.extents_of(element).is_empty() && !is_fixed(&resolved);
        plain && (floats || is_integer(&resolved))
    }

    /// Returns whether a function that the source defines has no effects.
    pub fn is_pure(&self, name: &str) -> bool {
        self.pure.contains(name)
    }

    /// Notes that a function has no effects.
    pub fn note_pure(&mut self, function: &FunctionDefinition) {
        self.pure.extend(declared_name(&function.declarator.node));
    }

    /// Notes functions that are declared with `__attribute__((const))`.
    fn note_const(&mut self, declaration: &Declaration) {
        let is_const = |extension: &Node<Extension>| match &extension.node {
            Extension::Attribute(attribute) => {
                attribute.arguments.is_empty()
                    && ["const", "__const__", "__const"].contains(&attribute.name.node.as_str())
            }
            _ => false,
        };
        let of_all = declaration.specifiers.iter().any(|specifier| match &specifier.node {
            DeclarationSpecifier::Extension(all) => all.iter().any(is_const),
            _ => false,
        });
        for declarator in declaration.declarators.iter().map(|d| &d.node.declarator.node) {
            let is_function = |derived: &Node<DerivedDeclarator>| {
                matches!(
                    derived.node,
                    DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_)
                )
            };
            if declarator.derived.iter().any(is_function)
                && (of_all || declarator.extensions.iter().any(is_const))
            {
                self.pure.extend(declared_name(declarator));
            }
        }
    }

    /// Lists the types that `typedef` gives names to, as far as they are plain.
    pub fn types(&self) -> Vec<(String, String)> {
        let plain = self.types.iter().filter(|(_, named)| named.extents.is_empty());
        plain.map(|(name, named)| (name.clone(), named.element.clone())).collect()
    }

    /// Adds the parameters of a function.
    pub fn parameters(&mut self, function: &FunctionDefinition, source: &Source) {
        for derived in &function.declarator.node.derived {
            match &derived.node {
                DerivedDeclarator::Function(inner) => {
                    for parameter in &inner.node.parameters {
                        let element = element(&parameter.node.specifiers, source);
                        if let Some(declarator) = &parameter.node.declarator {
                            self.add(&declarator.node, &element, true, source);
                        }
                    }
                }
                DerivedDeclarator::KRFunction(names) => {
                    self.old_parameters(names, &function.declarations, source);
                }
                _ => {}
            }
        }
    }

    /// Adds parameters whose types stand behind their names, `f(n, x) double *x; { }`: an `int`, where
    /// none does.
    fn old_parameters(
        &mut self,
        names: &[Node<Identifier>],
        declarations: &[Node<Declaration>],
        source: &Source,
    ) {
        for name in names.iter().map(|name| name.node.name.clone()) {
            let (element, extents) = ("int".to_owned(), Vec::new());
            self.insert(Declared { name, element, extents, local: false }, None);
        }
        for declaration in declarations.iter().map(|own| &own.node) {
            let element = element(&declaration.specifiers, source);
            for declarator in &declaration.declarators {
                self.add(&declarator.node.declarator.node, &element, true, source);
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
        let Shape { name, mut extents, outermost, fixed } = shape(declarator, source)?;
        let name = name?;
        let element = &with_pointer(element, fixed);
        let own = self.extents_of(element);
        // A type that names an array stands for the type of its elements.
        let element = if own.is_empty() { element.to_owned() } else { self.resolved(element) };
        extents.extend(own);
        let array = Declared { name: name.clone(), element, extents, local: false };
        self.known.insert(name.clone(), array);
        match outermost.and_then(|derived| restricted(derived, parameter)) {
            Some(restricted) => self.pointers.insert(name.clone(), restricted),
            None => self.pointers.remove(&name),
        };
        Some(name)
    }
}

/// The most dimensions of a type that has a name.
const DIMENSIONS: usize = 32;

/// What a declarator says of a variable or a type.
pub(crate) struct Shape<'a> {
    pub name: Option<String>,
    pub extents: Vec<String>,
    outermost: Option<&'a DerivedDeclarator>,
    /// Whether a pointer on the way is volatile or atomic.
    fixed: bool,
}

impl Shape<'_> {
    /// Says of a pointer whether it has `restrict`.
    pub fn restricted(&self) -> Option<bool> {
        self.outermost.and_then(|derived| restricted(derived, false))
    }
}

/// Takes cells behind a volatile pointer for volatile ones.
fn with_pointer(element: &str, fixed: bool) -> String {
    if fixed { format!("volatile {element}") } else { element.to_owned() }
}

/// Returns whether a type, in words that no `typedef` names, is volatile or atomic.
fn is_fixed(element: &str) -> bool {
    element.contains("volatile") || element.contains("_Atomic")
}

/// Reads a declarator; nothing of a function.
pub(crate) fn shape<'a>(declarator: &'a Declarator, source: &Source) -> Option<Shape<'a>> {
    let mut extents = Vec::new();
    let (mut name, mut outermost, mut fixed) = (None, None, false);
    // `double (*a)[8]`: what is inside the parentheses comes first.
    let mut open = vec![declarator];
    while let Some(declarator) = open.pop() {
        // Of `*a[3]` the elements are pointers: arrays are around what pointers lead to.
        let is_pointer = |derived: &&Node<DerivedDeclarator>| {
            matches!(derived.node, DerivedDeclarator::Pointer(_))
        };
        let (pointers, others): (Vec<_>, Vec<_>) = declarator.derived.iter().partition(is_pointer);
        for derived in pointers.into_iter().rev().chain(others.into_iter().rev()) {
            match &derived.node {
                DerivedDeclarator::Pointer(qualifiers) => {
                    fixed |= qualifiers.iter().any(|qualifier| is_fixed(source.of(qualifier)));
                    extents.push(String::new());
                }
                DerivedDeclarator::Array(array) => extents.push(extent(&array.node.size, source)),
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
    Some(Shape { name, extents, outermost, fixed })
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
            one_line(source.of(size))
        }
        ArraySize::Unknown | ArraySize::VariableUnknown => String::new(),
    }
}

fn names_type(specifier: &Node<DeclarationSpecifier>) -> bool {
    match &specifier.node {
        DeclarationSpecifier::StorageClass(class) => class.node == StorageClassSpecifier::Typedef,
        _ => false,
    }
}

/// Returns the type that specifiers name, without qualifiers but `volatile` and `_Atomic`.
pub(crate) fn element(specifiers: &[Node<DeclarationSpecifier>], source: &Source) -> String {
    let is_volatile = |qualifier: &TypeQualifier| {
        matches!(qualifier, TypeQualifier::Volatile | TypeQualifier::Atomic)
    };
    let types = specifiers.iter().filter(|specifier| match &specifier.node {
        DeclarationSpecifier::TypeSpecifier(_) => true,
        DeclarationSpecifier::TypeQualifier(qualifier) => is_volatile(&qualifier.node),
        _ => false,
    });
    types.map(|specifier| source.of(specifier)).collect::<Vec<_>>().join(" ")
}

/// Returns whether a type, in words that no `typedef` names, is one of whole numbers.
pub(crate) fn is_integer(element: &str) -> bool {
    const WORDS: &[&str] = &[
        "int",
        "long",
        "short",
        "char",
        "signed",
        "unsigned",
        "volatile",
        "_Bool",
        "__signed__",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "intptr_t",
        "uintptr_t",
    ];
    let mut words = element.split_whitespace();
    let is_enum = element.starts_with("enum ");
    is_enum || (!element.is_empty() && words.all(|word| WORDS.contains(&word)))
}

/// Returns whether an integer type has fewer values than `int`.
pub(crate) fn is_narrow(element: &str) -> bool {
    const NARROW: &[&str] = &["short", "char", "_Bool", "int8_t", "int16_t", "uint8_t", "uint16_t"];
    element.split_whitespace().any(|word| NARROW.contains(&word))
}

/// Returns whether all values of an integer type are ones of `int`.
pub(crate) fn is_small(element: &str) -> bool {
    const SMALL: &[&str] = &[
        "int", "short", "char", "signed", "_Bool", "int8_t", "int16_t", "int32_t", "uint8_t",
        "uint16_t",
    ];
    const SHORT: &[&str] = &["short", "char"];
    let words = || element.split_whitespace();
    let is_short = words().any(|word| SHORT.contains(&word));
    words().all(|word| SMALL.contains(&word) || (is_short && word == "unsigned"))
}

/// Returns whether an integer type has no less than the values of `int`, as far as subscripts
/// go: a cast to it changes none of them.
pub(crate) fn is_wide(element: &str) -> bool {
    const NARROW: &[&str] =
        &["short", "char", "_Bool", "int8_t", "int16_t", "uint8_t", "uint16_t", "volatile"];
    is_integer(element) && !element.split_whitespace().any(|word| NARROW.contains(&word))
}
