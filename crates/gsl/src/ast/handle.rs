//! Handles into the arenas of a rule.

use serde::{Deserialize, Serialize};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Returns the position in its arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a rule has fewer than 2^32 nodes"))
            }
        }
    };
}

handle! {
    /// A pattern of a rule.
    PatId
}
handle! {
    /// An attribute expression of a rule.
    ExprId
}
handle! {
    /// An operator, or a choice of operators, that a rule calls.
    OpId
}
handle! {
    /// An index symbol of a rule.
    SymId
}
