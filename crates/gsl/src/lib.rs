//! GSL, the graph substitution language: syntax, checking, matching, mapping.
