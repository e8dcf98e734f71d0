//! Constants as compiled code wants them: read, and copied once by the functions of a program.

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::constant;
use tangram_ir::Module;
use tangram_lowering::{Buffer, Program, Storage};
use tangram_tensor::Tensor;

use crate::error::SessionError;
use crate::library::{Argument, Fault, Function, Library};
use crate::memory::{Block, readable};
use crate::team::Team;
use crate::weights::Pool;

fn broken(what: &str) -> SessionError {
    SessionError::Broken(what.to_owned())
}

/// Reads the constants that fill buffers: for each buffer its elements, if it is one of these.
pub(crate) fn constants(
    module: &Module,
    program: &Program,
) -> Result<Vec<Option<Tensor>>, SessionError> {
    let read = |buffer: &Buffer| {
        let Storage::Constant(value) = buffer.storage else { return Ok(None) };
        let tensor = constant::constant_tensor(module, value)
            .ok_or_else(|| broken("a buffer of a constant that cannot be read"))?;
        let tensor = readable(&tensor).ok_or_else(|| SessionError::Memory(tensor.byte_len()))?;
        Ok(Some(tensor))
    };
    program.buffers.iter().map(read).collect()
}

/// What a call makes: the function, its numbers, and where what it reads lies.
type Made<'a> = (&'a str, Vec<i64>, Vec<(usize, usize)>);

/// Fills the buffers that are made of constants; equal ones share their memory.
pub(crate) fn run(
    program: &Program,
    library: Option<&Library>,
    filled: &mut [Option<Tensor>],
) -> Result<(), SessionError> {
    let mut functions: FxHashMap<&str, Function> = FxHashMap::default();
    // Layers that share weights pack them alike.
    let mut made: FxHashMap<Made<'_>, Vec<Tensor>> = FxHashMap::default();
    let mut pool = Pool::default();
    for call in &program.setup {
        let arguments: Option<Vec<i64>> = call.arguments.iter().map(Expr::as_int).collect();
        let arguments = arguments.ok_or_else(|| broken("a copy of unknown size"))?;
        let read = call.buffers.iter().filter_map(|&buffer| filled[buffer].as_ref());
        let read = read.map(|tensor| (tensor.bytes().as_ptr().addr(), tensor.byte_len())).collect();
        let what: Made<'_> = (&call.function, arguments.clone(), read);
        let empty = call.buffers.iter().copied().filter(|&buffer| filled[buffer].is_none());
        let empty: Vec<usize> = empty.collect();
        if let Some(known) = made.get(&what).filter(|known| known.len() == empty.len()) {
            for (&buffer, tensor) in empty.iter().zip(known) {
                filled[buffer] = Some(tensor.clone());
            }
            continue;
        }
        let library = library.ok_or_else(|| broken("calls without code"))?;
        if !functions.contains_key(call.function.as_str()) {
            functions.insert(&call.function, library.function(&call.function)?);
        }
        let (mut blocks, mut buffers, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for &buffer in &call.buffers {
            if let Some(tensor) = &filled[buffer] {
                buffers.push(Argument::Shared(tensor.bytes()));
                continue;
            }
            let Buffer { element, size, .. } = &program.buffers[buffer];
            let len = size.as_int().and_then(|size| usize::try_from(size).ok());
            let len = len.ok_or_else(|| SessionError::Size(size.to_string()))?;
            let bytes = element.byte_len(len).ok_or(SessionError::Memory(len))?;
            blocks.push(Block::zeroed(bytes).ok_or(SessionError::Memory(bytes))?);
            buffers.push(Argument::Block(blocks.len() - 1, 0));
            written.push((buffer, *element, len));
        }
        let alone = (&mut Team::alone(), 1);
        let function = &functions[call.function.as_str()];
        function.call(&arguments, &mut blocks, &buffers, alone).map_err(|fault| match fault {
            Fault::Buffer => broken("a copy of a constant lies outside its memory"),
            Fault::Index => SessionError::Index,
            Fault::Division => SessionError::Division,
        })?;
        let mut tensors = Vec::with_capacity(written.len());
        for ((buffer, element, len), block) in written.into_iter().zip(blocks) {
            let tensor = pool.only(Tensor::from_bytes(element, [len], block.into_bytes())?);
            filled[buffer] = Some(tensor.clone());
            tensors.push(tensor);
        }
        made.insert(what, tensors);
    }
    Ok(())
}
