//! Tests: tables of normal forms, laws against evaluation, comparisons against brute force.

mod compare;
mod laws;
mod normal_forms;
mod omega;
