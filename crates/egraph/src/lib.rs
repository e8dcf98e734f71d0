//! E-graphs: patterns, equality saturation, extraction, explanations.
