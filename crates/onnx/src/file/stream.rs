//! Encoding straight into a writer.
//!
//! `prost` encodes into a `BufMut`. [`Stream`] is one whose memory is a fixed block: small fields
//! gather there, long slices pass by it to the writer, so that a weight is never copied.

use std::io::{self, Write};

use bytes::buf::UninitSlice;
use bytes::{Buf, BufMut};
use prost::Message;

const BLOCK: usize = 1 << 16;

/// Writes a message without ever holding it whole.
pub(super) fn write_message(message: &impl Message, writer: &mut impl Write) -> io::Result<()> {
    let mut stream = Stream::new(writer);
    message.encode(&mut stream).map_err(io::Error::other)?;
    stream.finish()
}

/// A `BufMut` in front of a writer. After an error it takes everything and keeps nothing.
struct Stream<'a, W: Write> {
    writer: &'a mut W,
    block: Box<[u8]>,
    filled: usize,
    state: io::Result<()>,
}

impl<'a, W: Write> Stream<'a, W> {
    fn new(writer: &'a mut W) -> Self {
        Self { writer, block: vec![0; BLOCK].into(), filled: 0, state: Ok(()) }
    }

    fn flush_block(&mut self) {
        if self.state.is_ok() {
            self.state = self.writer.write_all(&self.block[..self.filled]);
        }
        self.filled = 0;
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush_block();
        self.state?;
        self.writer.flush()
    }
}

// SAFETY: `chunk_mut` gives the unfilled part of an initialised block, never empty, and
// `advance_mut` moves within it.
unsafe impl<W: Write> BufMut for Stream<'_, W> {
    fn remaining_mut(&self) -> usize {
        usize::MAX
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        self.filled += count;
        assert!(self.filled <= BLOCK, "advanced past the chunk");
    }

    fn chunk_mut(&mut self) -> &mut UninitSlice {
        if self.filled == BLOCK {
            self.flush_block();
        }
        UninitSlice::new(&mut self.block[self.filled..])
    }

    fn put_slice(&mut self, bytes: &[u8]) {
        if bytes.len() > BLOCK - self.filled {
            self.flush_block();
        }
        if bytes.len() < BLOCK {
            self.block[self.filled..][..bytes.len()].copy_from_slice(bytes);
            self.filled += bytes.len();
        } else if self.state.is_ok() {
            self.state = self.writer.write_all(bytes);
        }
    }

    fn put<T: Buf>(&mut self, mut source: T)
    where
        Self: Sized,
    {
        while source.has_remaining() {
            let count = source.chunk().len();
            self.put_slice(source.chunk());
            source.advance(count);
        }
    }
}
