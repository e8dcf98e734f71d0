//! Loops that carry a dimension of their statements, and may have its name.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Ast, AstNodeKind, Expr, ExprKind};

/// What the calls so far say about a loop.
struct Candidates {
    /// Dimensions that are the iterator, or the iterator and a constant, in every call.
    carried: BTreeSet<String>,
    /// Those of them that are the iterator itself in some call.
    exact: BTreeSet<String>,
}

impl Ast {
    /// Finds loops whose iterator is, in every call inside, the same dimension of the statement.
    ///
    /// Where a loop takes several steps at once, calls may add a constant to the iterator, as long
    /// as one does not.
    ///
    /// `dims` gives the names of a statement's dimensions. Each name belongs to one loop at most,
    /// and to no parameter. Linear in the code times its depth.
    pub fn carried_dimensions<'d>(
        &self,
        dims: impl Fn(&str) -> &'d [String],
    ) -> BTreeMap<u32, String> {
        let mut candidates: BTreeMap<u32, Candidates> = BTreeMap::new();
        let mut open: Vec<_> = self.root().map(|root| (root, Vec::new())).into_iter().collect();
        while let Some((node, path)) = open.pop() {
            match self.node(node) {
                AstNodeKind::For { iterator, body, .. } => {
                    let inside = path.iter().copied().chain([*iterator]).collect();
                    open.push((*body, inside));
                }
                AstNodeKind::If { then, otherwise, .. } => {
                    open.extend(
                        [Some(*then), *otherwise].into_iter().flatten().map(|n| (n, path.clone())),
                    );
                }
                AstNodeKind::Block(parts) => open.extend(parts.iter().map(|n| (*n, path.clone()))),
                AstNodeKind::Mark { body, .. } => open.push((*body, path)),
                AstNodeKind::Call { statement, arguments } => {
                    for iterator in path {
                        let is = |e: Expr| *self.expr(e) == ExprKind::Iterator(iterator);
                        let near = |e: Expr| is(e) || self.beside(e).is_some_and(is);
                        let pairs = || arguments.iter().zip(dims(statement));
                        let known = candidates.entry(iterator).or_insert_with(|| Candidates {
                            carried: pairs().map(|(_, name)| name.clone()).collect(),
                            exact: BTreeSet::new(),
                        });
                        let carried = |name: &String| pairs().any(|(a, n)| n == name && near(*a));
                        known.carried.retain(carried);
                        known
                            .exact
                            .extend(pairs().filter(|(a, _)| is(**a)).map(|(_, name)| name.clone()));
                    }
                }
            }
        }
        let mut names: BTreeMap<u32, String> = BTreeMap::new();
        for (iterator, found) in candidates {
            let taken = |name: &&String| {
                self.params().contains(name) || names.values().any(|other| other == *name)
            };
            let mut named = found.carried.intersection(&found.exact);
            if let Some(name) = named.find(|name| !taken(name)) {
                names.insert(iterator, name.clone());
            }
        }
        names
    }

    /// The expression that a constant is added to or taken from.
    fn beside(&self, expr: Expr) -> Option<Expr> {
        match *self.expr(expr) {
            ExprKind::Add(value, constant) | ExprKind::Sub(value, constant) => {
                matches!(self.expr(constant), ExprKind::Int(_)).then_some(value)
            }
            _ => None,
        }
    }
}
