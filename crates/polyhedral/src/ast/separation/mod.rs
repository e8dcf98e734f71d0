//! Separation: the values of one dimension as disjoint pieces, in an order that the schedule allows.

pub(super) mod order;
pub(super) mod pieces;
mod statement_order;
