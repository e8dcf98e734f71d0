//! The language server: rules in GSL and MLIR's text in editors.
//!
//! [`serve`] answers a client over a connection until it says goodbye. What an editor shows is what
//! the command says: diagnostics are those of the parsers, the checker and the verifier, the text
//! of a hover is that of the reference, and a verdict is that of `tangram rules check`.
//!
//! - A text is a `Document`, which never changes: an edit makes another one.
//! - The thread of `serve` reads messages and keeps documents; nothing on it takes long. What has to
//!   look at a text runs on a thread of its own, in the order of requests; verdicts, which take
//!   seconds, on another (`workers`).
//! - Diagnostics of a text that was changed since are not made.
//! - A request that the client cancels is answered with `RequestCancelled`, and its verdict ends.

mod document;
mod gsl;
mod mlir;
mod paths;
mod positions;
mod requests;
mod server;
mod workers;

pub use server::{Ended, serve};
