//! The value of an expression: a form, a minimum or maximum of forms, or a choice of them.

use crate::basic_map::BasicMap;
use crate::function::affine::Affine;
use crate::{Error, Integer};

/// A form and where it is the value; without a condition, everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub when: Option<BasicMap>,
    pub form: Affine,
}

/// The value of an expression. Minima and maxima are kept: in comparisons they are no choice.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    Plain(Affine),
    Min(Vec<Affine>),
    Max(Vec<Affine>),
    Cases(Vec<Case>),
}

impl From<Affine> for Expr {
    fn from(form: Affine) -> Self {
        Self::Plain(form)
    }
}

impl Expr {
    /// Moves to a scope of more dimensions.
    pub fn widened(self, dims: usize) -> Self {
        let wide = |form: &Affine| form.place(dims, &(0..form.dims).collect::<Vec<_>>());
        let all = |forms: Vec<Affine>| forms.iter().map(wide).collect();
        match self {
            Self::Plain(form) => Self::Plain(wide(&form)),
            Self::Min(forms) => Self::Min(all(forms)),
            Self::Max(forms) => Self::Max(all(forms)),
            Self::Cases(cases) => {
                let place = |part: &BasicMap| part.place(dims, &(0..part.dims).collect::<Vec<_>>());
                let wide = |case: &Case| Case {
                    when: case.when.as_ref().map(place),
                    form: wide(&case.form),
                };
                Self::Cases(cases.iter().map(wide).collect())
            }
        }
    }

    /// Returns the least (or greatest) of `forms`, which is NaN if one of them is.
    fn of_extreme(forms: Vec<Affine>, least: bool) -> Self {
        match forms.iter().find(|form| form.is_nan()) {
            Some(nan) => Self::Plain(nan.clone()),
            None if least => Self::Min(forms),
            None => Self::Max(forms),
        }
    }

    /// Splits into forms with conditions that do not overlap.
    pub fn cases(&self) -> Result<Vec<Case>, Error> {
        let (forms, least) = match self {
            Self::Plain(form) => return Ok(vec![Case { when: None, form: form.clone() }]),
            Self::Cases(cases) => return Ok(cases.clone()),
            Self::Min(forms) => (forms, true),
            Self::Max(forms) => (forms, false),
        };
        let mut cases = Vec::new();
        'form: for (index, form) in forms.iter().enumerate() {
            let mut when: Option<BasicMap> = None;
            for (other_index, other) in forms.iter().enumerate().filter(|(i, _)| *i != index) {
                let (low, high) = if least { (form, other) } else { (other, form) };
                // Of equal forms, the first is the value.
                let Some(fact) = high.at_least(low, other_index < index) else { continue 'form };
                when = match when {
                    None => Some(fact),
                    Some(old) => match old.intersect(&fact) {
                        None => continue 'form,
                        both => both,
                    },
                };
            }
            cases.push(Case { when, form: form.clone() });
        }
        Ok(cases)
    }

    pub(super) fn scaled(self, num: &Integer, den: &Integer) -> Result<Self, Error> {
        let all = |forms: Vec<Affine>| forms.iter().map(|form| form.scaled(num, den)).collect();
        let kept = num.sign() >= 0;
        Ok(match self {
            Self::Plain(form) => Self::Plain(form.scaled(num, den)),
            Self::Min(forms) => Self::of_extreme(all(forms), kept),
            Self::Max(forms) => Self::of_extreme(all(forms), !kept),
            Self::Cases(_) => self.mapped(|form| form.scaled(num, den))?,
        })
    }

    pub(super) fn negated(self) -> Result<Self, Error> {
        self.scaled(&Integer::MINUS_ONE, &Integer::ONE)
    }

    /// Applies `f` to each case.
    pub(super) fn mapped(self, f: impl Fn(&Affine) -> Affine) -> Result<Self, Error> {
        if let Self::Plain(form) = &self {
            return Ok(Self::Plain(f(form)));
        }
        let mut cases = self.cases()?;
        for case in &mut cases {
            case.form = f(&case.form);
        }
        Ok(Self::Cases(cases))
    }

    pub(super) fn plus(self, other: Self) -> Result<Self, Error> {
        let all =
            |forms: Vec<Affine>, by: &Affine| forms.iter().map(|form| form.plus(by)).collect();
        Ok(match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => Self::Plain(a.plus(&b)),
            (Self::Plain(a), Self::Min(b)) | (Self::Min(b), Self::Plain(a)) => {
                Self::of_extreme(all(b, &a), true)
            }
            (Self::Plain(a), Self::Max(b)) | (Self::Max(b), Self::Plain(a)) => {
                Self::of_extreme(all(b, &a), false)
            }
            (a, b) => {
                let (a, b) = (a.cases()?, b.cases()?);
                let pairs = pairs(&a, &b)?;
                let add = |(when, a, b): (_, &Affine, &Affine)| Case { when, form: a.plus(b) };
                Self::Cases(pairs.into_iter().map(add).collect())
            }
        })
    }

    /// Returns the least (or greatest) of both.
    pub(super) fn extreme(self, other: Self, least: bool) -> Result<Self, Error> {
        let forms = |expr: &Self| match expr {
            Self::Plain(form) => Some(vec![form.clone()]),
            Self::Min(forms) if least => Some(forms.clone()),
            Self::Max(forms) if !least => Some(forms.clone()),
            _ => None,
        };
        if let (Some(a), Some(b)) = (forms(&self), forms(&other)) {
            return Ok(Self::of_extreme([a, b].concat(), least));
        }
        let mut cases = Vec::new();
        for (when, a, b) in pairs(&self.cases()?, &other.cases()?)? {
            for case in Self::of_extreme(vec![a.clone(), b.clone()], least).cases()? {
                cases.extend(
                    within(when.as_ref(), case.when.as_ref())?
                        .map(|when| Case { when, form: case.form }),
                );
            }
        }
        Ok(Self::Cases(cases))
    }
}

/// Intersects two conditions; the outer `None` is a contradiction.
pub(super) fn within(
    a: Option<&BasicMap>,
    b: Option<&BasicMap>,
) -> Result<Option<Option<BasicMap>>, Error> {
    Ok(match (a, b) {
        (Some(a), Some(b)) => a.intersect(b).map(Some),
        (a, b) => Some(a.or(b).cloned()),
    })
}

pub(super) type Pair<'a> = (Option<BasicMap>, &'a Affine, &'a Affine);

pub(super) fn pairs<'a>(a: &'a [Case], b: &'a [Case]) -> Result<Vec<Pair<'a>>, Error> {
    let mut result = Vec::new();
    for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
        let when = within(x.when.as_ref(), y.when.as_ref())?;
        result.extend(when.map(|when| (when, &x.form, &y.form)));
    }
    Ok(result)
}
