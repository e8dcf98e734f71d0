//! Checkpoints: trying something out and going back.

use crate::{Analysis, EGraph, Language};

/// An e-graph with a stack of earlier states.
///
/// Taking a checkpoint copies the flat arrays, O(size of the e-graph); going back is a move.
///
/// ```
/// use tangram_egraph::{Checkpoints, EGraph, SymbolLang};
/// let mut egraph = Checkpoints::new(EGraph::<SymbolLang, ()>::default());
/// let x = egraph.current.add(SymbolLang::leaf("x"));
/// let y = egraph.current.add(SymbolLang::leaf("y"));
/// egraph.push();
/// egraph.current.union(x, y);
/// egraph.current.rebuild();
/// assert_eq!(egraph.current.find(x), egraph.current.find(y));
/// assert!(egraph.pop());
/// assert_ne!(egraph.current.find(x), egraph.current.find(y));
/// ```
#[derive(Clone)]
pub struct Checkpoints<L: Language, N: Analysis<L> + Clone>
where
    N::Data: Clone,
{
    /// The e-graph as it is now.
    pub current: EGraph<L, N>,
    earlier: Vec<EGraph<L, N>>,
}

impl<L: Language, N: Analysis<L> + Clone> Checkpoints<L, N>
where
    N::Data: Clone,
{
    /// Starts with an e-graph and no checkpoint.
    pub fn new(current: EGraph<L, N>) -> Self {
        Checkpoints { current, earlier: Vec::new() }
    }

    /// Remembers the current state.
    pub fn push(&mut self) {
        self.earlier.push(self.current.clone());
    }

    /// Goes back to the last state that was remembered; false if there is none.
    pub fn pop(&mut self) -> bool {
        match self.earlier.pop() {
            Some(state) => {
                self.current = state;
                true
            }
            None => false,
        }
    }

    /// Returns the number of states that are remembered.
    pub fn depth(&self) -> usize {
        self.earlier.len()
    }
}
