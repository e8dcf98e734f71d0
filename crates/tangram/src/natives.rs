//! Functions that the shipped rules call by name.

use std::sync::Arc;

use tangram_gsl::rules::Natives;

/// The functions that rules may call.
pub fn natives() -> Arc<Natives> {
    Arc::new(Natives::standard())
}
