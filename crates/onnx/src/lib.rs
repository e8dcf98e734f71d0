//! ONNX models to and from IR.
