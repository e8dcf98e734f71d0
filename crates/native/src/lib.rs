//! Programs to native code: built by a C compiler, cached, loaded and run.
//!
//! A [`Session`] runs a model. `tangram_lowering` makes a program of it: steps over buffers, each
//! a function of C or an operation for the reference kernels. What is C goes through the C
//! compiler of the machine once ([`Compiler`]) and lies in the user's cache folder from then on
//! ([`Cache`]); what is not lowered runs on the reference kernels, through the same interface.
//!
//! ```text
//! model ──lower──▶ Program ──C──▶ Compiler ──▶ Cache ──▶ Library ─┐
//!                     └─ buffers, lifetimes ──▶ Arena plan ───────┴──▶ Session::run
//! ```
//!
//! A run keeps its values to itself: any number of threads may run one session.
//!
//! ```
//! use tangram_dialects::interpret::Datum;
//! use tangram_native::{Options, Session};
//! use tangram_onnx::Model;
//! use tangram_tensor::Tensor;
//!
//! let model = Model::open("../../examples/models/cnn.onnx", tangram_dialects::context())?;
//! let session = Session::new(model, &Options::default())?;
//! let input = &session.inputs()[0];
//! assert_eq!(input.name, "image");
//! assert_eq!(input.to_string(), "float32[batch, 3, height, width]");
//!
//! let image = Tensor::from_vec([2, 3, 16, 16], vec![0.5f32; 2 * 3 * 16 * 16])?;
//! let outputs = session.run(&[("image", Datum::Tensor(image))])?;
//! assert_eq!(outputs.len(), session.outputs().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(clippy::unwrap_used, clippy::panic)]

mod arena;
mod bodies;
mod cache;
mod compiler;
mod described;
mod emit;
mod error;
mod formulas;
mod kept;
mod library;
mod memory;
mod notice;
mod outline;
mod port;
mod prepare;
mod processor;
mod profile;
mod promise;
mod record;
mod recycled;
mod report;
mod run;
mod runner;
mod segments;
mod session;
mod setup;
mod shared;
mod sizes;
mod team;
mod trusted;
mod units;
mod weights;

pub use cache::Cache;
pub use compiler::Compiler;
pub use emit::{Emitted, emit, emit_program, emit_watched};
pub use error::{CompileError, InputError, SessionError};
pub use kept::fingerprint::fingerprint;
pub use notice::{Notice, Progress};
pub use port::{Kind, Port, is_named};
pub use profile::{Coverage, Profile, Timing};
pub use promise::Promise;
pub use report::{Computed, Group, Memory, Report};
pub use session::{Options, Request, Session};
pub use shared::{Output, Shared, Target};
pub use trusted::Untrusted;
