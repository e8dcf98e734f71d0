//! Rules as the drivers run them: compiled, named, labelled, with what they may call.

mod compiled;
mod discriminator;
mod natives;
mod record;
mod set;

pub use compiled::{CompileError, CompiledRule, Options, UnknownExtents};
pub use discriminator::RuleDiscriminator;
pub use natives::{NativeArgument, NativeAttribute, NativeBuilder, Natives};
pub use record::{Application, Log, Record, Refusal};
pub use set::{Entry, RuleSet};

pub use crate::mapping::{BREAKS_EVEN, PAYS, merged as merged_type};
