//! Saving: the message as a stream, large tensors in a file beside it.

use std::io::{self, Write};
use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use prost::Message;
use tangram_files::{Folder, Identity, Replacement, behind_links, folder_of, is_special};

use super::data::{self, DataFile};
use super::walk::{Spot, for_each_tensor};
use super::{
    Elements, ExternalData, ExternalFiles, FileError, byte_len, keep, stream, tensor_bytes, unit,
};
use crate::proto::{DataLocation, DataType, ModelProto, TensorProto};

/// The longest message that protobuf allows.
const LIMIT: u64 = i32::MAX as u64;

/// Says how to save a model.
#[derive(Clone, Debug, Default)]
pub struct SaveOptions {
    /// Where the tensors go.
    pub storage: Storage,
    /// Grows while tensors are written.
    pub progress: Arc<SaveProgress>,
    /// The file that was there when the work began; the one at the time of saving if absent. Where
    /// another has come in its place, that one stays.
    pub before: Option<Identity>,
}

/// How many bytes of tensors are written, for whoever watches from another thread.
#[derive(Debug, Default)]
pub struct SaveProgress {
    all: AtomicU64,
    done: AtomicU64,
}

impl SaveProgress {
    /// How many there will be; 0 until that is known.
    pub fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// How many there are.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Is where the tensors of a saved model go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// External if the model has external tensors or is too long for one message, else inline.
    #[default]
    Auto,
    /// All in the message.
    Inline,
    /// The larger ones in a file beside the model.
    External(ExternalPolicy),
    /// Those that are external stay in the files that they are in, which have to be in the folder
    /// of the new model or below. The rest goes into the message, or, where it is too long for
    /// that, beside it.
    Keep,
}

/// Says which tensors go to the file beside the model, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPolicy {
    /// Initialisers of at least this many bytes, and tensors that were external already.
    pub threshold: u64,
    /// Name of the file, in the model's folder; `None` for `<model>.data`. Where it has another
    /// content, a hash of the new one goes before its ending.
    pub location: Option<String>,
}

impl Default for ExternalPolicy {
    fn default() -> Self {
        Self { threshold: 1024, location: None }
    }
}

/// Writes `model` to `writer` piece by piece, external tensors as they are.
///
/// # Errors
/// Those of the writer.
pub fn encode(model: &ModelProto, writer: &mut impl Write) -> io::Result<()> {
    stream::write_message(model, writer)
}

/// Saves `model` at `path`, which may be the file that it was opened from.
///
/// `files` reads its external tensors. The new data gets a name that nothing has, and the step that
/// replaces the model decides: whenever this ends, there is the old model with its data or the new
/// one with its own. What only the old model referred to and bears its name goes afterwards. A link
/// stays a link; a device or a pipe is written to.
///
/// # Errors
/// [`FileError`]: a tensor cannot be read, the system refuses, another program wrote the file
/// meanwhile, or the message is too long.
pub fn save(
    model: &ModelProto,
    files: &ExternalFiles,
    path: impl AsRef<Path>,
    options: &SaveOptions,
) -> Result<(), FileError> {
    let path = &behind_links(path.as_ref());
    let io = |action| move |source| FileError::Io { action, path: path.clone(), source };
    let before = options.before.unwrap_or_else(|| Identity::of(path));
    let mut model = model.clone();
    // There is nothing beside a device or a pipe.
    let storage = if is_special(path) { &Storage::Inline } else { &options.storage };
    let keeps = *storage == Storage::Keep;
    if keeps {
        keep::refer(&mut model, files, path)?;
    }
    let data = match policy(&mut model, storage) {
        Some(policy) => Some(move_out(&mut model, files, path, &policy, (keeps, options))?),
        None if keeps => None,
        None => {
            move_in(&mut model, files)?;
            None
        }
    };
    let found = model.encoded_len() as u64;
    if found > LIMIT {
        return Err(FileError::TooLarge { limit: LIMIT, found });
    }
    let mut file = Replacement::of(path).map_err(io("create"))?.since(before);
    if data.is_none() {
        encode(&model, &mut file).and_then(|()| file.sync()).map_err(io("write"))?;
    }
    if file.is_special() {
        return file.commit().map_err(io("write to"));
    }
    let folder = Folder::of(path).map_err(io("replace"))?;
    let old = unit::own_data(path);
    let done = match data {
        None => file.commit_in(&folder).and_then(|()| folder.sync()),
        Some((data, wanted)) => {
            let wanted = (wanted.as_str(), !old.is_empty());
            commit_both(&mut model, file, (data, wanted), &folder)
        }
    };
    done.map_err(io("replace"))?;
    unit::remove_unused(&folder, &old);
    Ok(())
}

/// Gives the data a name and the model its place; where that fails, the data goes again.
fn commit_both(
    model: &mut ModelProto,
    file: Replacement,
    (data, (wanted, replaces)): (Replacement, (&str, bool)),
    folder: &Folder,
) -> io::Result<()> {
    if data.file().metadata()?.len() == 0 {
        return commit(model, file, folder);
    }
    let placed = unit::place(folder, data, wanted, replaces)?;
    name_data(model, &placed.name);
    let (path, before) = (file.target().to_owned(), Identity::of(file.target()));
    let done = commit(model, file, folder);
    // A model that has its place refers to it, even if the system could not make that last.
    if done.is_err() && Identity::of(&path) == before {
        placed.undo(folder);
    }
    done
}

/// Writes the message and gives it its place, after all that it refers to.
fn commit(model: &ModelProto, mut file: Replacement, folder: &Folder) -> io::Result<()> {
    encode(model, &mut file)?;
    file.sync()?;
    folder.sync()?;
    file.commit_in(folder)?;
    folder.sync()
}

/// Makes the tensors that were moved out refer to the data file.
fn name_data(model: &mut ModelProto, name: &str) {
    let Ok(()) = for_each_tensor(model, |_: &Spot<'_>, tensor: &mut TensorProto| {
        for entry in &mut tensor.external_data {
            if entry.key() == "location" && entry.value() == data::UNNAMED {
                entry.value = Some(name.to_owned());
            }
        }
        Ok::<(), std::convert::Infallible>(())
    });
}

/// `model` with all tensors in the message; `files` reads those that are external.
///
/// # Errors
/// [`FileError`]: a tensor cannot be read, or the message is too long.
pub fn inline(model: &ModelProto, files: &ExternalFiles) -> Result<ModelProto, FileError> {
    let mut model = model.clone();
    move_in(&mut model, files)?;
    match model.encoded_len() as u64 {
        found if found > LIMIT => Err(FileError::TooLarge { limit: LIMIT, found }),
        _ => Ok(model),
    }
}

/// The policy that `storage` means for this model; `None` for all inline.
fn policy(model: &mut ModelProto, storage: &Storage) -> Option<ExternalPolicy> {
    match storage {
        Storage::Inline => None,
        Storage::External(policy) => Some(policy.clone()),
        Storage::Keep => (model.encoded_len() as u64 > LIMIT).then(ExternalPolicy::default),
        Storage::Auto => {
            let external = |_: &Spot<'_>, tensor: &mut TensorProto| {
                if tensor.is_external() { Err(()) } else { Ok(()) }
            };
            let large = model.encoded_len() as u64 > LIMIT;
            (large || for_each_tensor(model, external).is_err()).then(ExternalPolicy::default)
        }
    }
}

/// Takes every external tensor into the message.
fn move_in(model: &mut ModelProto, files: &ExternalFiles) -> Result<(), FileError> {
    for_each_tensor(model, |spot, tensor| {
        if tensor.is_external() {
            let bytes = read(spot, tensor, files)?;
            place_in(tensor, bytes);
        }
        Ok(())
    })
}

/// Writes the tensors that `policy` names to a new data file; returns it with the name that it should have.
fn move_out(
    model: &mut ModelProto,
    files: &ExternalFiles,
    path: &Path,
    policy: &ExternalPolicy,
    (keeps, options): (bool, &SaveOptions),
) -> Result<(Replacement, String), FileError> {
    let location = location(path, policy)?;
    let target = folder_of(path).join(&location);
    let io = |source| FileError::Io { action: "write", path: target.clone(), source };
    let mut data = DataFile::begin(path).map_err(io)?;
    let moves = |spot: &Spot<'_>, tensor: &TensorProto| {
        let is_number = tensor.data_type() != DataType::String as i32;
        (tensor.is_external() && !keeps)
            || !tensor.is_external() && spot.is_initializer() && is_number
    };
    let progress = &options.progress;
    for_each_tensor(model, |spot, tensor| {
        if moves(spot, tensor) {
            let length = bytes_of(tensor).unwrap_or(0);
            progress.all.fetch_add(length, Ordering::Relaxed);
        }
        Ok::<(), FileError>(())
    })?;
    for_each_tensor(model, |spot, tensor| {
        if !moves(spot, tensor) {
            return Ok(());
        }
        let bytes = read(spot, tensor, files)?;
        progress.done.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if bytes.len() as u64 >= policy.threshold {
            let origin = ExternalData::of(tensor).ok().filter(|_| tensor.is_external());
            let origin = origin.and_then(|origin| files.origin(&origin));
            data.append(tensor, &bytes, origin.as_ref()).map_err(io)?;
            clear(tensor);
            tensor.data_location = Some(DataLocation::External as i32);
        } else if tensor.is_external() {
            place_in(tensor, bytes);
        }
        Ok(())
    })?;
    let file = data.finish().map_err(io)?;
    Ok((file, location))
}

/// How many bytes the elements take, by type and dimensions.
fn bytes_of(tensor: &TensorProto) -> Option<u64> {
    let dims = tensor.dims.iter();
    let count = dims.map(|&n| u64::try_from(n).ok()).try_fold(1u64, |n, d| n.checked_mul(d?))?;
    byte_len(DataType::try_from(tensor.data_type()).ok()?, count)
}

fn read(spot: &Spot<'_>, tensor: &TensorProto, files: &ExternalFiles) -> Result<Bytes, FileError> {
    match tensor_bytes(tensor, files) {
        Ok(read) => match read.elements {
            Elements::Bytes(bytes) => Ok(bytes),
            Elements::Strings(_) => Ok(Bytes::new()),
        },
        Err(source) => {
            let tensor = tensor.name().to_owned();
            Err(FileError::Tensor { place: spot.to_string(), tensor, source })
        }
    }
}

fn place_in(tensor: &mut TensorProto, bytes: Bytes) {
    clear(tensor);
    tensor.raw_data = Some(bytes);
    tensor.external_data.clear();
    tensor.data_location = None;
}

/// Drops the elements that are in the message.
fn clear(tensor: &mut TensorProto) {
    tensor.raw_data = None;
    tensor.float_data = Vec::new();
    tensor.int32_data = Vec::new();
    tensor.int64_data = Vec::new();
    tensor.uint64_data = Vec::new();
    tensor.double_data = Vec::new();
}

/// The name that the data file should have.
fn location(path: &Path, policy: &ExternalPolicy) -> Result<String, FileError> {
    let not_a_name = || FileError::NotAFileName(path.to_owned());
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(not_a_name)?;
    let Some(location) = &policy.location else { return Ok(format!("{name}.data")) };
    let mut parts = Path::new(location).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) if location != name => Ok(location.clone()),
        _ => Err(FileError::NotAFileName(location.into())),
    }
}
