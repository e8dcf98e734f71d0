//! Shared libraries of compiled functions: with [`Team`], the only unsafe code of this crate.
//!
//! A compiled function reads and writes memory by pointers; nothing checks it. What makes calls
//! sound is the promise of `tangram_lowering::Program`: a function stays within the buffers of its
//! calls, as large as the program states them, writes none but those that the call names, and
//! keeps nothing. [`Function::call`] takes its buffers as slices, and whoever calls it has given
//! them the sizes that the program states.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_lowering::OUTSIDE;

use crate::error::CompileError;
use crate::memory::Block;
use crate::team::Team;

type Entry = unsafe extern "C" fn(*const i64, *const *mut c_void, i64, i64) -> c_int;

/// A loaded library; its functions keep it.
pub(crate) struct Library {
    loaded: Arc<libloading::Library>,
    path: PathBuf,
    /// The functions, where the library lists them: it may not name them to others.
    listed: Option<FxHashMap<String, Entry>>,
}

/// A function in the list of a library; the last one has no name.
#[repr(C)]
struct Listed {
    name: *const c_char,
    entry: Option<Entry>,
}

/// A compiled function.
#[derive(Clone)]
pub(crate) struct Function {
    entry: Entry,
    /// What the code lies in.
    _library: Arc<libloading::Library>,
}

/// Calls of at most that many buffers allocate nothing.
pub(crate) const INLINE: usize = 16;

/// A buffer of a call.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a> {
    /// Bytes that the function only reads.
    Shared(&'a [u8]),
    /// The bytes from an offset on of a block.
    Block(usize, usize),
}

/// Why a call did not do what it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A buffer lies outside of its block; nothing was done.
    Buffer,
    /// An index that was computed is outside of the tensor that it is for. What was read in its
    /// place is 0.
    Index,
    /// An integer was divided by zero.
    Division,
}

impl Library {
    /// Loads what [`crate::Compiler`] made of the functions of a program.
    pub(crate) fn load(path: &Path) -> Result<Library, CompileError> {
        // SAFETY: the library was built by us from generated C, which has no initialisers, and
        // is as it was when it was built: the cache has compared it with its stamp.
        let library = unsafe { open(path) };
        let library = library.map_err(|error| refused(&error))?;
        Ok(Library { loaded: Arc::new(library), path: path.to_owned(), listed: None })
    }

    /// Loads a library that lists its functions, and returns what it says of itself.
    ///
    /// # Safety
    /// Whatever the library does when it is loaded is done. If it has the symbols `tangram_session`
    /// and `tangram_functions`, they are what [`crate::described`] says.
    pub(crate) unsafe fn described(path: &Path) -> Result<(Library, String), CompileError> {
        // A name without a slash would be looked for where the system has its libraries.
        let path = std::path::absolute(path)
            .map_err(|source| CompileError::File { path: path.to_owned(), source })?;
        let silent = |_| {
            let why = "it does not say what it is: `tangram compile` writes libraries that do";
            CompileError::Load(why.to_owned())
        };
        // SAFETY: the caller's promise.
        let loaded = unsafe { open(&path) }.map_err(|error| refused(&error))?;
        // SAFETY: symbols of an array are pointers to its first element; the text ends with a zero,
        // the list with an element without a name.
        let (json, listed) = unsafe {
            let json = loaded.get::<*const c_char>("tangram_session").map_err(silent)?;
            let json = CStr::from_ptr(*json).to_string_lossy().into_owned();
            let mut at = *loaded.get::<*const Listed>("tangram_functions").map_err(silent)?;
            let mut listed = FxHashMap::default();
            while let (false, Some(entry)) = ((*at).name.is_null(), (*at).entry) {
                listed.insert(CStr::from_ptr((*at).name).to_string_lossy().into_owned(), entry);
                at = at.add(1);
            }
            (json, listed)
        };
        Ok((Library { loaded: Arc::new(loaded), path, listed: Some(listed) }, json))
    }

    /// The file that it was loaded from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Finds a function of the program that the library was built from.
    pub(crate) fn function(&self, name: &str) -> Result<Function, CompileError> {
        let entry = match &self.listed {
            Some(listed) => listed.get(name).copied(),
            // SAFETY: every function of a program that calls name has the type `Entry`; the pointer
            // is used as long as the library is loaded, which `Function` keeps.
            None => unsafe { self.loaded.get::<Entry>(name) }.ok().map(|entry| *entry),
        };
        let entry =
            entry.ok_or_else(|| CompileError::Load(format!("it has no function `{name}`")))?;
        Ok(Function { entry, _library: self.loaded.clone() })
    }
}

/// Loads a library; where the system maps no code of the file, as on a mount without execution, a copy
/// of it in memory.
///
/// # Safety
/// That of `libloading::Library::new`.
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the caller's promise.
    let first = unsafe { libloading::Library::new(path) };
    #[cfg(target_os = "linux")]
    if let (Err(_), Some(file)) = (&first, in_memory(path)) {
        use std::os::fd::AsRawFd;
        let copy = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: it is the same library.
        if let Ok(loaded) = unsafe { libloading::Library::new(copy) } {
            return Ok(loaded);
        }
    }
    first
}

/// A copy of a file that has no place in the file system.
#[cfg(target_os = "linux")]
fn in_memory(path: &Path) -> Option<std::fs::File> {
    let bytes = std::fs::read(path).ok()?;
    let file = rustix::fs::memfd_create("tangram", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = std::fs::File::from(file);
    std::io::Write::write_all(&mut file, &bytes).ok()?;
    Some(file)
}

/// Why a library was not loaded, in the words of the system.
fn refused(error: &libloading::Error) -> CompileError {
    let more = std::error::Error::source(error).map(|source| format!(": {source}"));
    CompileError::Load(format!("{error}{}", more.unwrap_or_default()))
}

impl Function {
    /// Calls the function with these numbers, on buffers that are shared or lie in `blocks`, in
    /// `parts` that the threads of `team` run at the same time.
    ///
    /// # Errors
    /// [`Fault`].
    pub(crate) fn call(
        &self,
        arguments: &[i64],
        blocks: &mut [Block],
        buffers: &[Argument<'_>],
        (team, parts): (&mut Team, usize),
    ) -> Result<(), Fault> {
        // One pointer for each block, which those of its buffers come from.
        let starts: SmallVec<[(*mut u8, usize); INLINE]> =
            blocks.iter_mut().map(|block| (block.bytes_mut().as_mut_ptr(), block.len())).collect();
        let pointer = |argument: &Argument<'_>| match *argument {
            Argument::Shared(bytes) => Some(bytes.as_ptr().cast_mut().cast::<c_void>()),
            Argument::Block(block, offset) => {
                let &(start, len) = starts.get(block)?;
                (offset <= len).then(|| start.wrapping_add(offset).cast())
            }
        };
        let pointers: Option<SmallVec<[*mut c_void; INLINE]>> =
            buffers.iter().map(pointer).collect();
        let pointers = pointers.ok_or(Fault::Buffer)?;
        let (entry, faults) = (self.entry, AtomicI32::new(0));
        let shared = Shared { entry, arguments, pointers: &pointers, parts, faults };
        team.run(parts.max(1), &|part| shared.run(part));
        match shared.faults.into_inner() {
            0 => Ok(()),
            faults if faults & OUTSIDE != 0 => Err(Fault::Index),
            _ => Err(Fault::Division),
        }
    }
}

/// A call that several threads make, each another part.
struct Shared<'a> {
    entry: Entry,
    arguments: &'a [i64],
    pointers: &'a [*mut c_void],
    parts: usize,
    /// What went wrong in any part.
    faults: AtomicI32,
}

// SAFETY: the pointers are to memory that is borrowed for as long as this lives, exclusively where
// the function writes; that parts of a call do not write what others read or write is the promise
// of a program.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    fn run(&self, part: usize) {
        let (part, parts) = (part as i64, self.parts.max(1) as i64);
        // SAFETY: the promise of the module's documentation. The blocks are borrowed exclusively
        // for the call, shared bytes are not written, and all outlive the call.
        let faults =
            unsafe { (self.entry)(self.arguments.as_ptr(), self.pointers.as_ptr(), part, parts) };
        self.faults.fetch_or(faults, Ordering::Relaxed);
    }
}
