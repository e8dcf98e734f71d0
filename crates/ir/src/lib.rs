//! The intermediate representation: operations, regions, blocks, values, types, attributes, text.
