//! Between a language's nodes and interned operators.

use crate::core::{Core, Op};
use crate::{Id, Language};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A node as words: its operator, then its children.
pub(crate) type Words = SmallVec<[u32; 8]>;

/// The operators of one e-graph: for each a node of the language with all children zero.
#[derive(Clone, Debug)]
pub(crate) struct OpTable<L: Language> {
    pub(crate) templates: Vec<L>,
    ids: FxHashMap<L, Op>,
    codes: FxHashMap<L::Discriminant, u32>,
}

impl<L: Language> OpTable<L> {
    pub(crate) fn new() -> Self {
        OpTable { templates: Vec::new(), ids: FxHashMap::default(), codes: FxHashMap::default() }
    }

    /// Returns the operator of a node, if it is known.
    pub(crate) fn lookup(&self, node: &L) -> Option<Op> {
        if node.is_leaf() {
            return self.ids.get(node).copied();
        }
        let template = node.clone().map_children(|_| Id(0));
        self.ids.get(&template).copied()
    }

    /// Returns the operator of a node, registered in `core` if it is new.
    pub(crate) fn intern(&mut self, core: &mut Core, node: &L) -> Op {
        let template = node.clone().map_children(|_| Id(0));
        if let Some(&op) = self.ids.get(&template) {
            return op;
        }
        let next = self.codes.len() as u32;
        let code = *self.codes.entry(node.discriminant()).or_insert(next);
        let op = core.new_op(code, node.children().len());
        self.templates.push(template.clone());
        self.ids.insert(template, op);
        op
    }

    /// Returns the index key of a discriminant, if it is known.
    pub(crate) fn code(&self, discriminant: &L::Discriminant) -> Option<u32> {
        self.codes.get(discriminant).copied()
    }

    /// Makes the node that words stand for.
    pub(crate) fn node(&self, words: &[u32]) -> L {
        let mut node = self.templates[words[0] as usize].clone();
        for (child, &word) in node.children_mut().iter_mut().zip(&words[1..]) {
            *child = Id(word);
        }
        node
    }
}

/// Puts an operator and children into words, each child passed through a function.
pub(crate) fn words(op: Op, children: &[Id], mut child: impl FnMut(u32) -> u32) -> Words {
    let mut words = Words::with_capacity(children.len() + 1);
    words.push(op.0);
    words.extend(children.iter().map(|id| child(id.0)));
    words
}

impl<L: Language> FromIterator<L> for OpTable<L> {
    /// Takes templates in the order of their operators, whose index keys are kept.
    fn from_iter<T: IntoIterator<Item = L>>(iter: T) -> Self {
        let mut table = OpTable::new();
        for (number, template) in iter.into_iter().enumerate() {
            let next = table.codes.len() as u32;
            table.codes.entry(template.discriminant()).or_insert(next);
            table.ids.insert(template.clone(), Op(number as u32));
            table.templates.push(template);
        }
        table
    }
}
