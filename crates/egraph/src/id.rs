//! Ids of nodes and classes.

use std::fmt;

/// The id of a class, and of the node that started it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub struct Id(pub(crate) u32);

impl From<usize> for Id {
    /// Makes the id with a number.
    ///
    /// # Panics
    /// If the number needs more than 32 bits.
    #[inline]
    fn from(number: usize) -> Self {
        Id(to_u32(number, "ids"))
    }
}

/// Returns a number in the 32 bits that tables of the e-graph have for it.
///
/// # Panics
/// If it does not fit; before, the number would have stood for something else.
#[inline]
#[track_caller]
pub(crate) fn to_u32(number: usize, what: &str) -> u32 {
    match u32::try_from(number) {
        Ok(number) if number < u32::MAX => number,
        _ => too_many(number, what),
    }
}

#[cold]
#[track_caller]
fn too_many(number: usize, what: &str) -> ! {
    panic!("expected fewer than {} {what}, found {number}", u32::MAX)
}

impl From<Id> for usize {
    fn from(id: Id) -> Self {
        id.0 as usize
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
