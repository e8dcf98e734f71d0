//! Programs to native code: built by a C compiler, cached, loaded and run.
