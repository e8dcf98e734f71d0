//! The house rules that neither the compiler nor clippy checks.

mod dependencies;
mod dialects;
mod documents;
mod features;
mod licences;
mod one_of_each;
mod operations;
mod packages;
mod paths;
mod sources;
mod writers;

use crate::workspace::{members, root};

/// Runs every rule; gives notes for what is only worth a look.
///
/// # Errors
/// One line for each fault, with its place.
pub fn run() -> Result<Vec<String>, Vec<String>> {
    let root = root();
    let members = members().map_err(|error| vec![error])?;
    let mut faults = dependencies::wrong_directions(&members);
    faults.extend(dependencies::unexplained(&root, &members));
    faults.extend(paths::missing(&root));
    faults.extend(writers::others(&root));
    faults.extend(packages::open(&root));
    faults.extend(dialects::known(&root));
    faults.extend(operations::known(&root));
    faults.extend(one_of_each::silent(&root));
    faults.extend(documents::disagreements(&root, &members));
    faults.extend(features::split().map_err(|error| vec![error])?);
    faults.extend(licences::refused().map_err(|error| vec![error])?);
    let sources = sources::examine(&root);
    faults.extend(sources.faults);
    if faults.is_empty() { Ok(sources.notes) } else { Err(faults) }
}
