//! Terms with variables over interned operators: both sides of a rule.

use super::nodes::Op;

/// One atom of a [`Term`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub enum Atom {
    /// A variable, by number.
    Var(u32),
    /// An operator over earlier atoms.
    Node(Op, Box<[u32]>),
}

/// A term with variables, atoms in an order where children come first; the last is the root.
///
/// Variables are numbered from zero without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub struct Term {
    /// The atoms, the root last.
    pub atoms: Vec<Atom>,
}

impl Term {
    /// Returns the index of the root atom, or `None` for an empty term.
    pub fn root(&self) -> Option<usize> {
        self.atoms.len().checked_sub(1)
    }

    /// Returns one more than the highest variable number.
    pub fn var_count(&self) -> usize {
        let vars = self.atoms.iter().filter_map(|atom| match atom {
            Atom::Var(var) => Some(*var as usize + 1),
            Atom::Node(..) => None,
        });
        vars.max().unwrap_or(0)
    }

    /// Returns the number of operator atoms.
    pub fn node_count(&self) -> usize {
        let nodes = self.atoms.iter();
        nodes.filter(|atom| matches!(atom, Atom::Node(..))).count()
    }

    /// Replaces each operator by the one that `ops` has at its number.
    pub(crate) fn replace_ops(&mut self, ops: &[u32]) {
        for atom in &mut self.atoms {
            if let Atom::Node(op, _) = atom {
                *op = Op(ops[op.0 as usize]);
            }
        }
    }

    /// Replaces each variable by the one that `vars` has at its number.
    pub(crate) fn replace_vars(&mut self, vars: &[u32]) {
        for atom in &mut self.atoms {
            if let Atom::Var(var) = atom {
                *var = vars[*var as usize];
            }
        }
    }

    /// Tells whether children come before parents.
    #[cfg(feature = "serde-1")]
    pub(crate) fn is_ordered(&self) -> bool {
        self.atoms.iter().enumerate().all(|(at, atom)| match atom {
            Atom::Var(_) => true,
            Atom::Node(_, kids) => kids.iter().all(|&kid| (kid as usize) < at),
        })
    }

    /// Tells for each atom whether it has no variables below it.
    pub(crate) fn ground(&self) -> Vec<bool> {
        let mut ground = Vec::with_capacity(self.atoms.len());
        for atom in &self.atoms {
            ground.push(match atom {
                Atom::Var(_) => false,
                Atom::Node(_, kids) => kids.iter().all(|&kid| ground[kid as usize]),
            });
        }
        ground
    }
}

impl Term {
    /// Returns the term below the atom `root`, without the atoms that it does not use.
    pub(crate) fn subterm(&self, root: usize) -> Term {
        let mut used = vec![false; root + 1];
        used[root] = true;
        for at in (0..=root).rev() {
            if let (true, Atom::Node(_, kids)) = (used[at], &self.atoms[at]) {
                kids.iter().for_each(|&kid| used[kid as usize] = true);
            }
        }
        let mut place = vec![0; root + 1];
        let mut atoms = Vec::new();
        for at in (0..=root).filter(|&at| used[at]) {
            place[at] = atoms.len() as u32;
            atoms.push(match &self.atoms[at] {
                Atom::Var(var) => Atom::Var(*var),
                Atom::Node(op, kids) => {
                    Atom::Node(*op, kids.iter().map(|&kid| place[kid as usize]).collect())
                }
            });
        }
        Term { atoms }
    }
}
