//! Python virtual environments at the root: `.venv` for tests, `.venv-bench` for peers.

use crate::step::{Failure, Outcome, Steps};
use crate::workspace::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A virtual environment that exists.
pub struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// Opens the environment `name`, making it when it is not there.
    ///
    /// # Errors
    /// No Python interpreter of a version that it needs is installed, or making it fails.
    pub fn open(steps: &mut Steps, name: &str) -> Result<Self, Failure> {
        Self::open_at(steps, root().join(name))
    }

    /// Opens the environment in `folder`, making it when it is not there.
    ///
    /// # Errors
    /// As [`Venv::open`].
    pub fn open_at(steps: &mut Steps, folder: PathBuf) -> Result<Self, Failure> {
        if !interpreter(&folder).exists() {
            let python = system_python()?;
            let mut make = Command::new(python);
            make.args(["-m", "venv", "--clear"]).arg(&folder);
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            steps.run(&format!("make {name}"), make)?;
        }
        Ok(Self { folder })
    }

    /// Installs a requirements file unless the very same text is installed already.
    ///
    /// # Errors
    /// The file cannot be read, or an installation fails.
    pub fn install(&self, steps: &mut Steps, requirements: &Path) -> Outcome {
        let shown = requirements.strip_prefix(root()).unwrap_or(requirements).display().to_string();
        let step = format!("install {shown}");
        let wanted = fs::read_to_string(requirements)
            .map_err(|error| Failure::new(&step, format!("{shown}: {error}")))?;
        let stamp = self.folder.join(format!("installed-{}", shown.replace('/', "-")));
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        let mut pip = self.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        pip.arg(requirements);
        steps.run(&step, pip)?;
        fs::write(&stamp, wanted).map_err(|error| Failure::new(&step, error.to_string()))
    }

    /// Starts a command of this environment's interpreter, in the root.
    pub fn python(&self) -> Command {
        let mut command = Command::new(self.interpreter());
        command.current_dir(root()).env("VIRTUAL_ENV", &self.folder);
        command
    }

    /// Returns the path of the interpreter.
    pub fn interpreter(&self) -> PathBuf {
        interpreter(&self.folder)
    }
}

fn interpreter(folder: &Path) -> PathBuf {
    let within = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    folder.join(within)
}

/// Finds an interpreter that the pinned requirements exist for.
fn system_python() -> Result<&'static str, Failure> {
    let probe = "import sys; sys.exit(sys.version_info < (3, 11))";
    let works = |name: &&str| {
        Command::new(name).args(["-c", probe]).output().is_ok_and(|output| output.status.success())
    };
    // Windows has no name with the version in it.
    ["python3.11", "python3", "python"].into_iter().find(works).ok_or_else(|| {
        Failure::new("python", "Python 3.11 or later is needed, as python3.11, python3 or python")
    })
}
