//! Model files: opened through a memory map, saved as a stream.
