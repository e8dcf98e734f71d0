//! Tangram rearranges tensor and loop programs into faster ones that compute the same.
