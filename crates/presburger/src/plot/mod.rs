//! Pictures of sets and relations of one to three dimensions, as SVG.
//!
//! A point of a set is a dot, a pair of a relation an arrow from input to output; each
//! space has a colour. Three dimensions are seen along the diagonal. One-dimensional
//! relations have their inputs on one line and their outputs on another above it.

mod draw;

use crate::{Budget, Error, Integer, Relation, Tuple, Union};

/// Points that a picture shows at the most; more would be a grey area.
pub const MAX_POINTS: usize = 20_000;

/// Keeps the rules of a style to the picture of a class: where pictures stand inline on one page, as
/// in a notebook, the rules of each hold for all of the page. A selector `svg` is the picture itself.
///
/// ```
/// use tangram_presburger::plot::scoped;
/// assert_eq!(scoped("tree", "svg{fill:red}text,.a{x:1}"), ".tree{fill:red}.tree text,.tree .a{x:1}");
/// ```
pub fn scoped(class: &str, style: &str) -> String {
    let own = |selector: &str| match selector.trim() {
        "svg" => format!(".{class}"),
        selector => format!(".{class} {selector}"),
    };
    let mut result = String::new();
    for part in style.split_inclusive(['{', '}']) {
        match part.strip_suffix('{').filter(|start| !start.trim_start().starts_with('@')) {
            Some(selectors) => {
                let all: Vec<String> = selectors.split(',').map(own).collect();
                result.push_str(&all.join(","));
                result.push('{');
            }
            None => result.push_str(part),
        }
    }
    result
}

/// Writes text for the content of an element of SVG, or of any XML.
pub fn escaped(text: &str) -> String {
    let mut result = String::new();
    for letter in text.chars() {
        match letter {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            // Control characters have no place in XML.
            letter if letter.is_control() => result.push('\u{fffd}'),
            letter => result.push(letter),
        }
    }
    result
}

/// What is drawn of one space.
struct Layer {
    /// The tuples, without their dimensions: `S`, `S -> A`.
    label: String,
    dots: Vec<[i128; 3]>,
    arrows: Vec<([i128; 3], [i128; 3])>,
}

/// All layers, and the axes that they share.
struct Scene {
    layers: Vec<Layer>,
    /// One to three.
    dims: usize,
    /// Names of the axes; empty where layers call them differently.
    axes: Vec<String>,
}

/// Draws the points of `union` as a self-contained SVG picture.
///
/// Parameters must be bound to values. Cost: one step of the budget or more for each point.
///
/// # Errors
/// [`Error::Space`] for more than three dimensions, or a relation whose two sides differ in
/// their numbers of dimensions; [`Error::Unbounded`] for an infinite set;
/// [`Error::Points`] for more than [`MAX_POINTS`]; [`Error::Overflow`] for a point that is
/// farther away than 128 bits can say.
pub fn svg(union: &Union, budget: &Budget) -> Result<String, Error> {
    Ok(draw::picture(&Scene::of(union, budget)?))
}

impl Scene {
    fn of(union: &Union, budget: &Budget) -> Result<Self, Error> {
        let mut scene = Self { layers: Vec::new(), dims: 1, axes: Vec::new() };
        let mut left = MAX_POINTS;
        for piece in union.relations() {
            scene.include(piece)?;
            let layer = Layer::of(piece, left, budget)?;
            left -= layer.dots.len() + layer.arrows.len();
            scene.layers.push(layer);
        }
        Ok(scene)
    }

    /// Takes the number and the names of a relation's dimensions into account.
    fn include(&mut self, piece: &Relation) -> Result<(), Error> {
        let space = piece.space();
        let output = &space.output;
        let sides = space.input.iter().chain([output]);
        let same = sides.clone().all(|side| side.dims.len() == output.dims.len());
        if !same || output.dims.len() > 3 {
            return Err(Error::Space {
                expected: "tuples of one to three dimensions, as many on both sides".to_owned(),
                found: space.to_string(),
            });
        }
        self.dims = self.dims.max(output.dims.len());
        for side in sides {
            for (axis, name) in side.dims.iter().enumerate() {
                match self.axes.get_mut(axis) {
                    None => self.axes.push(name.clone()),
                    Some(known) if known != name => known.clear(),
                    Some(_) => (),
                }
            }
        }
        Ok(())
    }
}

impl Layer {
    fn of(piece: &Relation, most: usize, budget: &Budget) -> Result<Self, Error> {
        let space = piece.space();
        let (params, dims) = (space.params.len(), space.output.dims.len());
        let points = piece.points(budget)?;
        if points.len() > most {
            return Err(Error::Points { limit: MAX_POINTS });
        }
        let mut layer = Self { label: label(piece), dots: Vec::new(), arrows: Vec::new() };
        for point in points {
            let tuples = &point[params..];
            match space.is_set() {
                true => layer.dots.push(place(tuples)?),
                false => {
                    let (mut from, mut to) = (place(&tuples[..dims])?, place(&tuples[dims..])?);
                    if dims == 1 {
                        (from[1], to[1]) = (0, 1);
                    }
                    layer.arrows.push((from, to));
                }
            }
        }
        Ok(layer)
    }
}

/// Fills up with zeros.
fn place(coordinates: &[Integer]) -> Result<[i128; 3], Error> {
    let mut result = [0; 3];
    for (to, from) in result.iter_mut().zip(coordinates) {
        *to = from.to_i128().ok_or(Error::Overflow)?;
    }
    Ok(result)
}

fn label(piece: &Relation) -> String {
    let space = piece.space();
    let name = |tuple: &Tuple| match tuple.name.is_empty() {
        true => tuple.to_string(),
        false => tuple.name.clone(),
    };
    match &space.input {
        Some(input) => format!("{} → {}", name(input), name(&space.output)),
        None => name(&space.output),
    }
}
