//! Exact dependences: which write each read takes its value from.
//!
//! For a read `S` of a cell `a`, let `L` be the last instances before `S` that certainly
//! write `a` (must sources) or end its value (kills). What `S` may see are the instances
//! `L` and the may sources that are not before them. If that is a single instance, and it
//! is a must source, then the dependence is certain.
//!
//! With `for i < N: T(i) writes a; then S reads a`, `S` depends on `T[N - 1]` if `N > 0`,
//! and takes its value from before the program otherwise.
//!
//! # Source
//! Feautrier: Dataflow analysis of array and scalar references (1991); isl's
//! `isl_union_access_info_compute_flow`, whose inputs and outputs these are. Divergence:
//! the order is always that of a map; the children of a set node count as ordered.

use std::fmt;

use tangram_presburger::{Budget, Order, Relation, Tuple, Union};

use crate::schedule_tree::read::Reader;
use crate::yaml::Document;
use crate::{Error, ScheduleTree};

/// The keys of isl's form.
const KEYS: [&str; 6] = ["sink", "must_source", "may_source", "kill", "schedule_map", "schedule"];

/// Who accesses what, and when.
#[derive(Debug, Clone, Default)]
pub struct Accesses {
    /// Reads, or whatever the sources are looked for: instances to cells.
    pub sink: Union,
    /// Writes that certainly happen.
    pub must_source: Union,
    /// Writes that may happen.
    pub may_source: Union,
    /// Ends of values: nothing written before is seen after.
    pub kill: Union,
    /// Instances to points of one tuple, run in lexicographic order.
    pub schedule: Union,
}

/// The sources of all sinks.
#[derive(Debug, Clone)]
pub struct Flow {
    /// From a source to `[sink -> cell]`, where this is certainly the source.
    pub must_dependence: Union,
    /// From a source to `[sink -> cell]`, where this may be the source; holds the certain ones.
    pub may_dependence: Union,
    /// Sinks and cells before which there is neither a source nor a kill.
    pub must_no_source: Union,
    /// Sinks and cells before which there is neither a must source nor a kill.
    pub may_no_source: Union,
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "must_dependence: \"{}\"", self.must_dependence)?;
        writeln!(f, "may_dependence: \"{}\"", self.may_dependence)?;
        writeln!(f, "must_no_source: \"{}\"", self.must_no_source)?;
        writeln!(f, "may_no_source: \"{}\"", self.may_no_source)
    }
}

impl Accesses {
    /// Parses isl's YAML form: `sink`, `must_source`, `may_source`, `kill`, and `schedule`
    /// (a tree) or `schedule_map`.
    ///
    /// # Errors
    /// [`Error::Structure`], [`Error::Key`] and [`Error::Notation`] with the place;
    /// [`Error::MissingKey`] without a sink or an order.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let document = Document::parse(text)?;
        let reader = Reader { document: &document, budget };
        let mut accesses = Self::default();
        for (key, value) in document.entries(document.root())? {
            let place = match key.as_str() {
                "sink" => &mut accesses.sink,
                "must_source" => &mut accesses.must_source,
                "may_source" => &mut accesses.may_source,
                "kill" => &mut accesses.kill,
                "schedule_map" => &mut accesses.schedule,
                "schedule" => {
                    let tree = ScheduleTree::from_value(&document, *value, budget)?;
                    tree.check(budget)?;
                    accesses.schedule = tree.to_map(budget)?;
                    continue;
                }
                _ => return Err(document.unknown_key(key, *value, &KEYS)),
            };
            *place = reader.union(key, *value)?;
        }
        let given = |name: &str| {
            let entries = document.entries(document.root());
            entries.is_ok_and(|entries| entries.iter().any(|(key, _)| key == name))
        };
        if !given("sink") {
            return Err(Error::MissingKey { expected: "`sink`: the accesses that see values" });
        }
        if !given("schedule_map") && !given("schedule") {
            let expected = "`schedule_map` or `schedule`: the order of the instances";
            return Err(Error::MissingKey { expected });
        }
        Ok(accesses)
    }

    /// Finds the source of the value that each sink sees.
    ///
    /// Simultaneous instances are not before each other. Exact. The cost is that of one
    /// parametric lexicographic maximum for each pair of sink and cell tuples.
    ///
    /// # Errors
    /// [`tangram_presburger::Error`] as [`Error::Presburger`], also for schedules of
    /// different dimensions.
    pub fn flow(&self, budget: &Budget) -> Result<Flow, Error> {
        let Visible { sink, last, later } = self.visible(budget)?;
        let seen = last.union(&later)?;
        let certain = self.without_kills(&last, &self.must_source, &sink, budget)?;
        let open = if later.is_empty(budget)? && self.schedule.is_injective(budget)? {
            // One time is one instance.
            Union::empty()
        } else {
            many_valued(&seen, budget)?
        };
        let pairs = sink.wrap()?;
        let writes = self.must_source.union(&self.may_source)?;
        let sources = self.without_kills(&seen, &writes, &sink, budget)?;
        Ok(Flow {
            must_dependence: certain.subtract_domain(&open, budget)?.inverse()?,
            may_dependence: sources.inverse()?,
            must_no_source: pairs.subtract(&seen.domain(budget)?, budget)?.unwrap()?,
            may_no_source: pairs.subtract(&last.domain(budget)?, budget)?.unwrap()?,
        })
    }

    /// Finds [`Flow::may_dependence`] alone, which costs less.
    pub(crate) fn may_dependence(&self, budget: &Budget) -> Result<Union, Error> {
        let Visible { sink, last, later } = self.visible(budget)?;
        let seen = last.union(&later)?;
        let writes = self.must_source.union(&self.may_source)?;
        Ok(self.without_kills(&seen, &writes, &sink, budget)?.inverse()?)
    }

    /// Keeps those of `seen` that are in `sources`, and are not the end of a value alone.
    fn without_kills(
        &self,
        seen: &Union,
        sources: &Union,
        sink: &Union,
        budget: &Budget,
    ) -> Result<Union, Error> {
        if self.kill.is_empty(budget)? {
            return Ok(seen.clone());
        }
        Ok(seen.intersect_composition(&sink.range_map()?, &sources.inverse()?, budget)?)
    }

    /// Finds the accesses that may be the nearest before each sink.
    fn visible(&self, budget: &Budget) -> Result<Visible, Error> {
        let earlier = earlier(&self.schedule)?;
        let ending = self.must_source.union(&self.kill)?;
        let scheduled = self.schedule.domain(budget)?;
        let sink = self.sink.intersect_domain(&scheduled, budget)?;
        let instances = self.schedule.inverse()?;
        let ends = self.candidates(&sink, &ending, budget)?;
        let time = ends.apply_range(&self.schedule, budget)?.lexmax(budget)?;
        let last = ends.intersect_composition(&time, &instances, budget)?;
        // A certain access is the last one, or hidden by it.
        let uncertain = self.may_source.subtract(&ending, budget)?;
        let mut later = self.candidates(&sink, &uncertain, budget)?;
        if !later.is_empty(budget)? {
            let before = time.apply_range(&earlier, budget)?;
            let hidden = later.intersect_composition(&before, &instances, budget)?;
            later = later.subtract(&hidden, budget)?;
        }
        Ok(Visible { sink, last, later })
    }

    /// Relates `[sink -> cell]` to every instance that accesses the cell before.
    fn candidates(&self, sink: &Union, accesses: &Union, budget: &Budget) -> Result<Union, Error> {
        let touching = sink.range_map()?.apply_range(&accesses.inverse()?, budget)?;
        Ok(touching.intersect_ordered(&self.schedule, Order::Greater, budget)?)
    }
}

/// What the sinks see.
struct Visible {
    /// Instances that are scheduled, and the cells that they read.
    sink: Union,
    /// From `[sink -> cell]` to the last certain access, or kill, before it.
    last: Union,
    /// To the accesses that are not certain and not before the last certain one.
    later: Union,
}

/// Relates each point of a schedule's tuple to all earlier ones.
fn earlier(schedule: &Union) -> Result<Union, Error> {
    let mut outputs = schedule.relations().map(|piece| &piece.space().output);
    let first = outputs.next().cloned().unwrap_or_else(|| Tuple::anonymous(0));
    if let Some(other) = outputs.find(|other| **other != first) {
        let (expected, found) = (first.to_string(), other.to_string());
        return Err(tangram_presburger::Error::Space { expected, found }.into());
    }
    Ok(Relation::lexicographic(Vec::new(), first, Order::Greater).into())
}

/// Returns the inputs that have several outputs.
fn many_valued(map: &Union, budget: &Budget) -> Result<Union, Error> {
    let twice = map.range_product(map, budget)?;
    let same = map.range(budget)?.identity(budget)?.wrap()?;
    Ok(twice.subtract_range(&same, budget)?.domain(budget)?)
}
