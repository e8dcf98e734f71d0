//! The times of nodes, from a profile of onnxruntime.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What the name of an event ends in that is the run of a node.
const OF_A_NODE: &str = "_kernel_time";

/// How long the nodes of a model took, by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Microseconds of one run, the mean over all runs.
    nodes: BTreeMap<String, f64>,
}

/// An event of the trace that onnxruntime writes, with what is used of it.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: String,
    /// Microseconds.
    #[serde(default)]
    dur: f64,
}

impl Times {
    /// Reads the file that onnxruntime writes where `SessionOptions.enable_profiling` is set.
    ///
    /// # Errors
    /// The text is no such file, or it tells of no node.
    pub fn from_profile(text: &str) -> Result<Times, String> {
        let events: Vec<Event> = serde_json::from_str(text).map_err(|why| {
            format!("expected a profile of onnxruntime, a list of events in JSON: {why}")
        })?;
        let mut sums: BTreeMap<String, (f64, u32)> = BTreeMap::new();
        for event in &events {
            let Some(node) = event.name.strip_suffix(OF_A_NODE) else { continue };
            let (sum, count) = sums.entry(node.to_owned()).or_default();
            (*sum, *count) = (*sum + event.dur, *count + 1);
        }
        if sums.is_empty() {
            return Err("the profile tells of no node that was run".to_owned());
        }
        let mean = |(node, (sum, count)): (String, (f64, u32))| (node, sum / f64::from(count));
        Ok(Times { nodes: sums.into_iter().map(mean).collect() })
    }

    /// The microseconds of the node of this name.
    pub(super) fn of(&self, name: &str) -> Option<f64> {
        self.nodes.get(name).copied()
    }

    /// The nodes that have none of these names: the runtime made them.
    pub(super) fn others<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<(&str, f64)> {
        let names: std::collections::BTreeSet<&str> = names.collect();
        let mut others: Vec<(&str, f64)> =
            self.nodes.iter().map(|(n, &t)| (n.as_str(), t)).collect();
        others.retain(|(name, _)| !names.contains(name));
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        others
    }
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn times_are_means_over_runs() {
        let text = r#"[
            {"cat": "Session", "name": "model_run", "dur": 90, "ts": 1},
            {"cat": "Node", "name": "a_kernel_time", "dur": 10, "args": {"op_name": "Relu"}},
            {"cat": "Node", "name": "a_fence_before", "dur": 1, "args": {"op_name": "Relu"}},
            {"cat": "Node", "name": "a_kernel_time", "dur": 30},
            {"cat": "Node", "name": "fused_kernel_time", "dur": 5}
        ]"#;
        let times = Times::from_profile(text).expect("a profile");
        assert_eq!((times.of("a"), times.of("b")), (Some(20.0), None));
        assert_eq!(times.others(["a", "b"].into_iter()), [("fused", 5.0)]);
    }

    #[test]
    fn what_is_no_profile_is_an_error() {
        for text in ["", "{}", "[1]", "[]", r#"[{"name": "model_run", "dur": 3}]"#] {
            assert!(Times::from_profile(text).is_err(), "{text}");
        }
    }
}
