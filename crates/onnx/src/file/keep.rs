//! A model that refers to the files that its weights came in.
//!
//! ONNX finds external data in the folder of the model and below, and nowhere else: no path leads
//! out of it, and onnx's checker takes neither symbolic nor hard links. So the files have to be
//! there.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::walk::{Spot, for_each_tensor};
use super::{ExternalData, ExternalFiles, FileError};
use crate::proto::{ModelProto, TensorProto};

/// Makes the external tensors of `model` point to their files from the folder of `path`.
///
/// # Errors
/// [`FileError`]: a file cannot be found, or cannot have a second name there.
pub(super) fn refer(
    model: &mut ModelProto,
    files: &ExternalFiles,
    path: &Path,
) -> Result<(), FileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut known: HashMap<String, String> = HashMap::new();
    for_each_tensor(model, |spot: &Spot<'_>, tensor: &mut TensorProto| {
        if !tensor.is_external() {
            return Ok(());
        }
        let failed = |source| {
            let tensor = tensor.name().to_owned();
            FileError::Tensor { place: spot.to_string(), tensor, source }
        };
        let old = ExternalData::of(tensor).map_err(|error| failed(error.into()))?.location;
        let new = match known.get(&old) {
            Some(new) => new.clone(),
            None => {
                let source = files.path(&old).map_err(|error| failed(error.into()))?;
                let new = name_in(folder, &source, &old)?;
                known.insert(old, new.clone());
                new
            }
        };
        for entry in &mut tensor.external_data {
            if entry.key() == "location" {
                entry.value = Some(new.clone());
            }
        }
        Ok(())
    })
}

/// The name under which the file `source` is found from `folder`.
fn name_in(folder: &Path, source: &Path, old: &str) -> Result<String, FileError> {
    let same = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path == source);
    if same(&folder.join(old)) {
        return Ok(old.to_owned());
    }
    let below = fs::canonicalize(folder)
        .ok()
        .and_then(|folder| source.strip_prefix(folder).ok()?.to_str().map(str::to_owned));
    below.ok_or_else(|| FileError::OtherFolder {
        data: source.to_owned(),
        folder: folder.to_owned(),
    })
}
