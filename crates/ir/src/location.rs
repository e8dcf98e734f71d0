//! Where an operation comes from.
//!
//! Locations are interned, and a fused location keeps at most [`LocData::MAX_FUSED`] parts, so
//! that an operation which was rewritten a thousand times does not carry a thousand locations.

use crate::context::Str;

/// A handle of an interned location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Loc(pub(crate) u32);

impl Loc {
    /// The location of what comes from nowhere in particular.
    pub const UNKNOWN: Loc = Loc(0);
}

/// What a location says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LocData {
    /// Nothing is known.
    Unknown,
    /// A place in a text file; `line` and `column` count from 1.
    File {
        /// The file as the user named it.
        file: Str,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// A name in the source program, such as an ONNX node's.
    Name {
        /// The name.
        name: Str,
        /// Where that name stands, or [`Loc::UNKNOWN`].
        child: Loc,
    },
    /// Made from several places: sorted (or in the order of the text it was read from), without
    /// repetition, at most [`LocData::MAX_FUSED`].
    Fused(Box<[Loc]>),
    /// `callee` seen through a call at `caller`.
    CallSite {
        /// The place in the called function.
        callee: Loc,
        /// The place of the call.
        caller: Loc,
    },
}

impl LocData {
    /// The most parts that a fused location keeps; the earliest-interned ones stay.
    pub const MAX_FUSED: usize = 8;
}
