//! Tensors in other files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use super::data::Origin;
use super::{ExternalError, load};
use crate::proto::TensorProto;

/// Says where the elements of an external tensor are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalData {
    /// Path of the file, relative to the model's folder.
    pub location: String,
    /// Bytes before the elements.
    pub offset: u64,
    /// Bytes of the elements; `None` if the model does not say.
    pub length: Option<u64>,
    /// SHA-1 of the file, as the model gives it; not checked.
    pub checksum: Option<String>,
}

impl ExternalData {
    /// Reads the entries of `external_data`; of equal keys the last counts, others are ignored.
    ///
    /// # Errors
    /// No location, or an offset or length that is not a number of bytes.
    pub fn of(tensor: &TensorProto) -> Result<Self, ExternalError> {
        let mut data = Self::default();
        for entry in &tensor.external_data {
            let value = entry.value();
            match entry.key() {
                "location" => value.clone_into(&mut data.location),
                "offset" => data.offset = number("offset", value)?,
                "length" => data.length = Some(number("length", value)?),
                "checksum" => data.checksum = Some(value.to_owned()),
                _ => {}
            }
        }
        if data.location.is_empty() { Err(ExternalError::NoLocation) } else { Ok(data) }
    }
}

fn number(key: &'static str, value: &str) -> Result<u64, ExternalError> {
    value.trim().parse().map_err(|_| ExternalError::Number { key, found: value.to_owned() })
}

/// Maps the files of external data of one model, each once, when they are first asked for.
#[derive(Debug, Default)]
pub struct ExternalFiles {
    folder: Option<PathBuf>,
    links: bool,
    maps: Mutex<HashMap<String, Bytes>>,
}

impl ExternalFiles {
    /// Knows no files: each external tensor gives [`ExternalError::NoFolder`].
    pub fn none() -> Self {
        Self::default()
    }

    /// Looks in `folder`; the empty path is the current one.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        Self { folder: Some(folder), ..Self::default() }
    }

    /// Looks in the folder of the model file at `path`.
    pub(super) fn beside(path: &Path) -> Self {
        Self::in_folder(path.parent().unwrap_or(Path::new("")))
    }

    /// Follows symbolic links that lead out of the folder, as caches of models use them.
    ///
    /// Without this they are refused. The location itself must stay in the folder in any case.
    pub fn following_links(mut self) -> Self {
        self.links = true;
        self
    }

    /// The folder that locations are relative to.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the bytes that `data` points to, a slice of the map.
    ///
    /// `default_length` is used if `data` has no length; the rest of the file if that is `None`.
    ///
    /// # Errors
    /// [`ExternalError`]: a location that leads out of the folder, a file that is missing or short.
    pub fn bytes(
        &self,
        data: &ExternalData,
        default_length: Option<u64>,
    ) -> Result<Bytes, ExternalError> {
        let map = self.map(&data.location)?;
        let found = map.len() as u64;
        let length = data.length.or(default_length);
        let expected = data.offset.saturating_add(length.unwrap_or(0));
        if expected > found {
            let path = self.folder.iter().chain([&PathBuf::from(&data.location)]).collect();
            return Err(ExternalError::Short { path, expected, found });
        }
        let end = length.map_or(map.len(), |_| expected as usize);
        Ok(map.slice(data.offset as usize..end))
    }

    /// Opens the file that `data` is in, to copy from it.
    pub(super) fn origin(&self, data: &ExternalData) -> Option<Origin> {
        let path = self.path(&data.location).ok()?;
        Some(Origin { file: File::open(path).ok()?, offset: data.offset })
    }

    fn map(&self, location: &str) -> Result<Bytes, ExternalError> {
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(map) = maps.get(location) {
            return Ok(map.clone());
        }
        let path = self.path(location)?;
        let io = |source| ExternalError::Io { path: path.clone(), source };
        // Asked before opening: opening a pipe would wait for a writer.
        if !fs::metadata(&path).map_err(io)?.is_file() {
            return Err(ExternalError::NotAFile(path));
        }
        let map = load::map(&File::open(&path).map_err(io)?).map_err(io)?;
        maps.insert(location.to_owned(), map.clone());
        Ok(map)
    }

    /// Resolves a location to a path that is certain to be in the folder.
    pub(super) fn path(&self, location: &str) -> Result<PathBuf, ExternalError> {
        let Some(folder) = &self.folder else {
            return Err(ExternalError::NoFolder(location.to_owned()));
        };
        let outside = || ExternalError::Outside(location.to_owned());
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(location).components().all(inside) {
            return Err(outside());
        }
        let resolve = |path: PathBuf| {
            fs::canonicalize(&path).map_err(|source| ExternalError::Io { path, source })
        };
        let path = resolve(folder.join(location))?;
        if self.links || path.starts_with(resolve(folder.clone())?) {
            Ok(path)
        } else {
            Err(outside())
        }
    }
}
