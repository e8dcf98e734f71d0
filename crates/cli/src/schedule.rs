//! `tangram schedule`.

use crate::exit::ExitCode;
use std::path::Path;

use tangram_polyhedral::ast::MapInput;
use tangram_polyhedral::representation::Form;
use tangram_polyhedral::schedule::{Algorithm, Constraints, Fusion, Options};
use tangram_polyhedral::transform::{Editor, STEPS, Script};
use tangram_polyhedral::{Error as Fault, ScheduleTree, legality};
use tangram_presburger::{Budget, Relation, Union};

use crate::args::{
    AlgorithmArg, FormArg, FormatArg, FuseArg, LOOP_STEPS, ScheduleArgs, ScheduleFormat,
};
use crate::error::{self, Error};
use crate::out;

impl From<FuseArg> for Fusion {
    fn from(arg: FuseArg) -> Self {
        match arg {
            FuseArg::None => Self::None,
            FuseArg::Smart => Self::Smart,
            FuseArg::Max => Self::Max,
        }
    }
}

impl From<AlgorithmArg> for Algorithm {
    fn from(arg: AlgorithmArg) -> Self {
        match arg {
            AlgorithmArg::Pluto => Self::Pluto,
            AlgorithmArg::Feautrier => Self::Feautrier,
        }
    }
}

impl From<FormArg> for Form {
    fn from(arg: FormArg) -> Self {
        match arg {
            FormArg::Map => Self::Map,
            FormArg::ManyValued => Self::ManyValued,
            FormArg::Kelly => Self::Kelly,
            FormArg::Regular => Self::Regular,
            FormArg::Affine => Self::Affine,
        }
    }
}

/// A tree with what it must keep to.
struct Start {
    tree: ScheduleTree,
    validity: Union,
    coincidence: Union,
}

/// Computes or reads a schedule, applies steps to its tree, and prints it.
pub(crate) fn run(args: &ScheduleArgs) -> Result<ExitCode, Error> {
    if args.steps.iter().any(|steps| steps == "help") {
        for (name, _, does) in STEPS {
            out::print(format_args!("{name:<24} {does}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let text = out::read(&args.input)?;
    let budget = Budget::steps(args.max_steps.unwrap_or(LOOP_STEPS));
    let kind = Input::of(&text);
    kind.check(args)?;
    let mut places = Vec::new();
    let mut start = match start(&text, kind, args, &mut places, &budget) {
        Ok(start) => start,
        Err(error) => return Ok(error::refuse(&args.input, &error, &places)),
    };
    if let Some(given) = &args.respecting {
        let (path, text) = text_or_file(given, "--respecting")?;
        match Union::parse(&text, &budget) {
            Ok(pairs) => (start.validity, start.coincidence) = (pairs.clone(), pairs),
            Err(error) => return Ok(error::refuse(Path::new(&path), &error.into(), &[])),
        }
    }
    if args.respecting.is_some() {
        // Pairs may be given for all there is; what the tree does not run says nothing of it.
        match legality::within(&start.tree, &start.validity, &budget) {
            Ok(pairs) => (start.validity, start.coincidence) = (pairs.clone(), pairs),
            Err(error) => return Ok(error::refuse(&args.input, &error, &places)),
        }
    }
    let Start { tree, validity, coincidence } = start;
    // What is given is checked before it is changed; a computed tree was checked already.
    let tree = if args.steps.is_empty() && args.respecting.is_none() {
        tree
    } else {
        let mut editor = match Editor::with_coincidence(tree, validity, coincidence, &budget) {
            Ok(editor) => editor,
            Err(error) => return Ok(error::refuse(&args.input, &error, &places)),
        };
        for steps in &args.steps {
            let (path, text) = text_or_file(steps, "--do")?;
            let root = editor.tree().root();
            let applied = Script::parse(&text).and_then(|script| script.apply(&mut editor, root));
            if let Err(error) = applied {
                return Ok(error::refuse(Path::new(&path), &error, &[]));
            }
        }
        match editor.finish() {
            Ok(tree) => tree,
            Err(error) => return Ok(error::refuse(&args.input, &error, &[])),
        }
    };
    match shown(&tree, args.format, &budget) {
        Ok(text) => out::print(text)?,
        Err(error) => return Ok(error::refuse(&args.input, &error, &[])),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq)]
enum Input {
    Constraints,
    Tree,
    Map,
}

impl Input {
    fn of(text: &str) -> Self {
        if MapInput::is_notation(text) {
            Self::Map
        } else if text.contains("child:") || text.contains("\"child\"") {
            Self::Tree
        } else {
            Self::Constraints
        }
    }

    /// Refuses options that mean nothing for the input.
    fn check(self, args: &ScheduleArgs) -> Result<(), Error> {
        let computes = [
            ("--fuse", args.fuse.is_some()),
            ("--algorithm", args.algorithm.is_some()),
            ("--inner-parallel", args.inner_parallel),
            ("--max-coefficient", args.max_coefficient.is_some()),
        ];
        let unused = match self {
            Self::Constraints if args.respecting.is_some() => {
                Some(("--respecting", "a file of constraints says what it respects"))
            }
            Self::Constraints => None,
            _ => {
                let given = computes.iter().find(|(_, given)| *given);
                given.map(|(name, _)| (*name, "the file holds a schedule, none is computed"))
            }
        };
        let from = (args.from.is_some() && self != Self::Map)
            .then_some(("--from", "the file does not hold a map"));
        match unused.or(from) {
            Some((name, why)) => Err(Error::Usage(format!("`{name}` has no effect: {why}"))),
            None => Ok(()),
        }
    }
}

fn start(
    text: &str,
    kind: Input,
    args: &ScheduleArgs,
    places: &mut Vec<(usize, usize)>,
    budget: &Budget,
) -> Result<Start, Fault> {
    let tree = match kind {
        Input::Constraints => return computed(text, args, budget),
        Input::Tree => {
            let (tree, found) = ScheduleTree::parse_with_places(text, budget)?;
            *places = found;
            tree.check(budget)?;
            tree
        }
        Input::Map => {
            let map = MapInput::parse_schedule(text, budget)?;
            let sets = map.relations().all(Relation::is_set);
            match args.from {
                None if sets => ScheduleTree::from_domain(map),
                form => Form::from(form.unwrap_or(FormArg::Map)).to_tree(&map, budget)?,
            }
        }
    };
    Ok(Start { tree, validity: Union::empty(), coincidence: Union::empty() })
}

fn computed(text: &str, args: &ScheduleArgs, budget: &Budget) -> Result<Start, Fault> {
    let options = Options {
        algorithm: args.algorithm.unwrap_or(AlgorithmArg::Pluto).into(),
        fusion: args.fuse.unwrap_or(FuseArg::Smart).into(),
        outer_coincidence: args.inner_parallel,
        max_coefficient: args.max_coefficient.map(Into::into),
    };
    let constraints = Constraints::parse(text, budget)?;
    let scheduled = constraints.schedule(&options, None, budget)?;
    let Constraints { validity, coincidence, .. } = constraints;
    Ok(Start { tree: scheduled.tree, validity, coincidence })
}

/// Returns a text and the name of what it comes from; `@FILE` is what a file holds.
fn text_or_file(given: &str, option: &str) -> Result<(String, String), Error> {
    match given.strip_prefix('@') {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(error::io(Path::new(path)))?;
            Ok((path.to_owned(), text))
        }
        None => Ok((option.to_owned(), given.to_owned())),
    }
}

fn shown(tree: &ScheduleTree, format: ScheduleFormat, budget: &Budget) -> Result<String, Fault> {
    let form = match format {
        ScheduleFormat::Text => return Ok(written(tree, FormatArg::Text)),
        ScheduleFormat::Svg => return Ok(written(tree, FormatArg::Svg)),
        ScheduleFormat::Map => Form::Map,
        ScheduleFormat::ManyValued => Form::ManyValued,
        ScheduleFormat::Kelly => Form::Kelly,
        ScheduleFormat::Regular => Form::Regular,
        ScheduleFormat::Affine => Form::Affine,
    };
    Ok(format!("{}\n", form.of_tree(tree, budget)?))
}

/// Writes a tree as isl's text or as a picture.
pub(crate) fn written(tree: &ScheduleTree, format: FormatArg) -> String {
    match format {
        FormatArg::Text => tree.to_string(),
        FormatArg::Svg => tree.to_svg(),
    }
}
