//! Iteration domains as SVG: a dot for each instance, lines for order, tiles, dependences.
//!
//! Each statement has axes of its own: the first dimension of its instances goes to the
//! right and the second one up, a third one beside, as more axes.

use std::collections::BTreeMap;

use tangram_presburger::{Budget, Relation, Space, Tuple, Union, narrow};

use super::svg::Drawing;
use crate::{Error, Node, NodeKind, ScheduleTree};

/// Colours follow what the reader's system prefers, on whatever lies behind.
const STYLE: &str = "text{font:12px monospace;fill:#222}.axis{stroke:#bbb}.order{stroke:#93c5fd;\
    fill:none;stroke-width:2}.tile{fill:#16a34a;stroke:#16a34a;stroke-width:20;opacity:.16;\
    stroke-linejoin:round;stroke-linecap:round}.dependence{stroke:#dc2626;fill:none;\
    marker-end:url(#arrow)}circle{fill:#1e3a8a}\
    @media(prefers-color-scheme:dark){svg{background:#17191c}text{fill:#e4e6e9}\
    .axis{stroke:#7f8aa3}.order{stroke:#3b82f6}.tile{opacity:.3}circle{fill:#bfdbfe}}";
const ARROW: &str = "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"9\" refY=\"4\" \
    markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M 0 0 L 8 4 L 0 8 z\" \
    fill=\"#dc2626\"/></marker></defs>";
/// Pixels from one instance to the next.
const CELL: f64 = 30.0;
/// More instances make no picture.
const LIMIT: usize = 5_000;

/// What is drawn of a schedule, for fixed values of the parameters.
#[derive(Debug, Clone)]
pub struct Domains<'a> {
    /// Says which instances there are and in which order they run.
    pub tree: &'a ScheduleTree,
    /// Pairs of instances that are joined by arrows.
    pub dependences: Option<&'a Union>,
    /// Values of parameters by name.
    pub params: &'a [(String, i128)],
    /// Whether a line joins the instances of a statement in their order.
    pub order: bool,
    /// Whether the instances of one iteration of an outermost band over a band, as tiles
    /// are, are drawn on one ground.
    pub tiles: bool,
}

/// A statement's name and the values of an instance.
type Point = (String, Vec<i128>);

/// Where a statement is drawn: the axes of each value of the outer dimensions.
struct Axes {
    left: f64,
    low: [i128; 2],
    high: [i128; 2],
}

impl Domains<'_> {
    /// Draws the instances as SVG.
    ///
    /// # Errors
    /// [`Error::Presburger`] if a parameter has no value, as the instances are then
    /// infinite, if there are more than 5,000, or if the budget ends.
    pub fn to_svg(&self, budget: &Budget) -> Result<String, Error> {
        let times = self.fixed(&self.tree.to_map(budget)?, budget)?;
        let mut instances: Vec<(Vec<i128>, Point)> =
            pairs(&times, budget)?.into_iter().map(|(from, to)| (to.1, from)).collect();
        instances.sort();
        if instances.len() > LIMIT {
            return Err(tangram_presburger::Error::Steps { limit: LIMIT as u64 }.into());
        }
        let axes = axes(instances.iter().map(|(_, point)| point));
        let mut drawing = Drawing::default();
        drawing.add(ARROW, 0.0, 0.0);
        for ((name, outer), axes) in &axes {
            frame(&mut drawing, name, outer, axes);
        }
        let place = |point: &Point| place(&axes, point);
        if self.tiles {
            for tile in self.tiles(budget)? {
                let points: Vec<(f64, f64)> = tile.iter().filter_map(place).collect();
                drawing.add(
                    &format!("<path class=\"tile\" d=\"{} Z\"/>", path(&hull(points))),
                    0.0,
                    0.0,
                );
            }
        }
        if self.order {
            let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
            for (_, point) in &instances {
                lines.entry(&point.0).or_default().extend(place(point));
            }
            for line in lines.values() {
                drawing.add(&format!("<path class=\"order\" d=\"{}\"/>", path(line)), 0.0, 0.0);
            }
        }
        for (_, point) in &instances {
            let Some((x, y)) = place(point) else { continue };
            let label: Vec<String> = point.1.iter().map(ToString::to_string).collect();
            let element = format!(
                "<circle cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"4\"><title>{}[{}]</title></circle>",
                super::svg::escaped(&point.0),
                label.join(", ")
            );
            drawing.add(&element, x + CELL, y + CELL);
        }
        if let Some(dependences) = self.dependences {
            for (from, to) in pairs(&self.fixed(dependences, budget)?, budget)? {
                if let (Some(from), Some(to)) = (place(&from), place(&to)) {
                    drawing.add(&arrow(from, to), 0.0, 0.0);
                }
            }
        }
        Ok(drawing.finish("tangram-domain", STYLE))
    }

    /// Gives parameters their values.
    fn fixed(&self, map: &Union, budget: &Budget) -> Result<Union, Error> {
        let (names, values): (Vec<String>, Vec<i128>) = self.params.iter().cloned().unzip();
        let point = Relation::point(Space::set(names, Tuple::anonymous(0)), &values)?;
        Ok(map.intersect_params(&point, budget)?)
    }

    /// Groups instances by the iterations of outermost bands that have a band below.
    fn tiles(&self, budget: &Budget) -> Result<Vec<Vec<Point>>, Error> {
        let is_band = |node: Node| matches!(self.tree.kind(node), NodeKind::Band(_));
        let mut tiles: BTreeMap<(usize, Vec<i128>), Vec<Point>> = BTreeMap::new();
        for node in self.tree.nodes().filter(|node| is_band(*node)) {
            let inner = self.tree.children(node).next().is_some_and(is_band);
            let above = std::iter::successors(self.tree.parent(node), |n| self.tree.parent(*n));
            if !inner || above.into_iter().any(is_band) {
                continue;
            }
            let child = self.tree.children(node).next().unwrap_or(node);
            let map = self.fixed(&self.tree.prefix(child, budget)?, budget)?;
            for (from, to) in pairs(&map, budget)? {
                tiles.entry((node.index(), to.1)).or_default().push(from);
            }
        }
        Ok(tiles.into_values().collect())
    }
}

/// Lists the pairs of relations without free parameters.
fn pairs(map: &Union, budget: &Budget) -> Result<Vec<(Point, Point)>, Error> {
    let mut all = Vec::new();
    for relation in map.relations() {
        let space = relation.space();
        let Some(input) = &space.input else { continue };
        for point in relation.points(budget)? {
            let point = narrow(&point[space.params.len()..])?;
            let (from, to) = point.split_at(input.dims.len());
            let to = (space.output.name.clone(), to.to_vec());
            all.push(((input.name.clone(), from.to_vec()), to));
        }
    }
    Ok(all)
}

/// Splits an instance into the values before its last two and these two.
fn split(point: &Point) -> (Vec<i128>, [i128; 2]) {
    let values = &point.1;
    match values.len() {
        0 => (Vec::new(), [0, 0]),
        1 => (Vec::new(), [values[0], 0]),
        count => (values[..count - 2].to_vec(), [values[count - 2], values[count - 1]]),
    }
}

/// Finds room for each statement and each value of its outer dimensions.
fn axes<'a>(points: impl Iterator<Item = &'a Point>) -> BTreeMap<(String, Vec<i128>), Axes> {
    let mut all: BTreeMap<(String, Vec<i128>), Axes> = BTreeMap::new();
    for point in points {
        let (outer, [x, y]) = split(point);
        let new = || Axes { left: 0.0, low: [x, y], high: [x, y] };
        let axes = all.entry((point.0.clone(), outer)).or_insert_with(new);
        axes.low = [axes.low[0].min(x), axes.low[1].min(y)];
        axes.high = [axes.high[0].max(x), axes.high[1].max(y)];
    }
    // One range upwards for all, so that rows can be compared.
    let low = all.values().map(|axes| axes.low[1]).min().unwrap_or(0);
    let high = all.values().map(|axes| axes.high[1]).max().unwrap_or(0);
    let mut left = 0.0;
    for axes in all.values_mut() {
        (axes.low[1], axes.high[1], axes.left) = (low, high, left);
        left += CELL * ((axes.high[0] - axes.low[0]) as f64 + 3.0);
    }
    all
}

fn place(axes: &BTreeMap<(String, Vec<i128>), Axes>, point: &Point) -> Option<(f64, f64)> {
    let (outer, [x, y]) = split(point);
    let axes = axes.get(&(point.0.clone(), outer))?;
    let right = axes.left + CELL * ((x - axes.low[0]) as f64 + 1.0);
    Some((right, CELL * ((axes.high[1] - y) as f64 + 1.5)))
}

/// Draws axes with the numbers at their ends.
fn frame(drawing: &mut Drawing, name: &str, outer: &[i128], axes: &Axes) {
    let columns = (axes.high[0] - axes.low[0]) as f64;
    let (left, bottom) =
        (axes.left + CELL / 2.0, CELL * ((axes.high[1] - axes.low[1]) as f64 + 2.0));
    let right = axes.left + CELL * (columns + 1.5);
    let top = CELL;
    let line = format!(
        "<path class=\"axis\" fill=\"none\" d=\"M {left:.0} {top:.0} V {bottom:.0} H {right:.0}\"/>"
    );
    drawing.add(&line, right, bottom);
    let mut title = name.to_owned();
    for value in outer {
        title.push_str(&format!(" {value}"));
    }
    drawing.text(left, CELL / 2.0, "name", &title);
    drawing.text(axes.left + CELL - 4.0, bottom + 14.0, "number", &axes.low[0].to_string());
    if columns > 0.0 {
        let x = axes.left + CELL * (columns + 1.0) - 4.0;
        drawing.text(x, bottom + 14.0, "number", &axes.high[0].to_string());
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        text.push_str(&format!("{}{x:.0} {y:.0}", if at == 0 { "M " } else { " L " }));
    }
    text
}

/// Draws an arrow that bends, so that it is seen beside others on its line.
fn arrow(from: (f64, f64), to: (f64, f64)) -> String {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = (dx * dx + dy * dy).sqrt().max(1.0);
    let bend = 0.12 * length.min(60.0) / length;
    let (x, y) = ((from.0 + to.0) / 2.0 + bend * dy, (from.1 + to.1) / 2.0 - bend * dx);
    format!(
        "<path class=\"dependence\" d=\"M {:.0} {:.0} Q {x:.0} {y:.0} {:.0} {:.0}\"/>",
        from.0, from.1, to.0, to.1
    )
}

/// The corners of the smallest convex area around points (Andrew's chain).
fn hull(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let turn = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
        (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
    };
    let half = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut chain: Vec<(f64, f64)> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && turn(a, b, point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut points.iter().copied());
    lower.extend(half(&mut points.iter().rev().copied()));
    lower
}
