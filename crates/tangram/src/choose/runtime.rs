//! What runs candidates.

use std::fmt::Debug;
use std::time::Instant;

use tangram_dialects::interpret::Datum;
use tangram_native::{self as native, Session};
use tangram_onnx::Model;

use crate::check::Reason;
use crate::pipeline;

/// Something that runs models.
pub trait Runtime: Send + Sync + Debug {
    /// What it is called.
    fn name(&self) -> &str;

    /// Starts it, for models that are given these inputs.
    ///
    /// # Errors
    /// Why it does not start, in words.
    fn start(&self, inputs: &[(String, Datum)]) -> Result<Box<dyn Running>, Reason>;
}

/// A runtime at work, on one thread.
pub trait Running {
    /// Its name and version.
    fn version(&self) -> String;

    /// Makes a further model ready to run.
    ///
    /// # Errors
    /// Why it is not, in words; the models before are numbered as they were.
    fn load(&mut self, model: &Model) -> Result<(), Reason>;

    /// Runs the model that was loaded as number `model`, so many `times`; the seconds of one run.
    ///
    /// # Errors
    /// Why it does not run, in words.
    fn run(&mut self, model: usize, times: usize) -> Result<f64, Reason>;
}

/// Sessions of this package.
#[derive(Debug)]
pub struct Native;

/// The sources that sessions are made by.
const SOURCES: &str = env!("TANGRAM_SOURCES");

impl Runtime for Native {
    fn name(&self) -> &str {
        "native"
    }

    fn start(&self, inputs: &[(String, Datum)]) -> Result<Box<dyn Running>, Reason> {
        Ok(Box::new(Sessions { inputs: inputs.to_vec(), sessions: Vec::new() }))
    }
}

struct Sessions {
    inputs: Vec<(String, Datum)>,
    sessions: Vec<Session>,
}

impl Running for Sessions {
    fn version(&self) -> String {
        format!("native {SOURCES}")
    }

    fn load(&mut self, model: &Model) -> Result<(), Reason> {
        let mut options = native::Options::default();
        options.threads = 1;
        let session = pipeline::session(model.clone(), false, &options);
        self.sessions.push(session.map_err(|why| why.to_string())?);
        Ok(())
    }

    fn run(&mut self, model: usize, times: usize) -> Result<f64, Reason> {
        let session = self.sessions.get(model).ok_or("there is no such model")?;
        let known = |name: &str| session.inputs().iter().any(|port| port.name == name);
        let named = self.inputs.iter().filter(|(name, _)| known(name));
        let named: Vec<(&str, Datum)> =
            named.map(|(name, datum)| (name.as_str(), datum.clone())).collect();
        let started = Instant::now();
        for _ in 0..times {
            session.run(&named).map_err(|why| why.to_string())?;
        }
        Ok(started.elapsed().as_secs_f64() / times.max(1) as f64)
    }
}
