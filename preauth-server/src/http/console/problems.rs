//! A refusal in the reader's language: the problems of fields beside them, everything else above.

use preauth_core::ErrorCode;

use crate::http::error::ApiError;
use crate::http::pages::words::Words;
use crate::http::problem::{Defect, Problem};
use crate::http::{english, messages};
use crate::language::Language;

/// What a refusal says, as long as no field has taken it.
pub(super) struct Problems<'a> {
    error: &'a ApiError,
    left: Vec<&'a Problem>,
}

impl<'a> Problems<'a> {
    pub(super) fn of(error: &'a ApiError) -> Self {
        let left = error.problems().iter().collect();
        Self { error, left }
    }

    /// Takes the defects of a field, and of what is within it.
    pub(super) fn take(&mut self, field: &str) -> Vec<&'a Defect> {
        let is_of = |problem: &&Problem| {
            let rest = problem.field.strip_prefix(field);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        let (taken, left) = self.left.iter().copied().partition::<Vec<_>, _>(is_of);
        self.left = left;
        taken.into_iter().map(|problem| &problem.defect).collect()
    }

    /// A sentence for each of the others, and for the whole.
    pub(super) fn rest(self, w: Words) -> Vec<String> {
        if self.error.code != ErrorCode::ValidationError || self.error.problems().is_empty() {
            return vec![self.error.sentence(w.0)];
        }
        let marked = w.t(
            "Nothing was done: correct what is marked.",
            "Nada foi feito: corrija o que está marcado.",
        );
        let is_all = self.left.is_empty();
        let left = self.left.iter();
        let left = left.map(|problem| sentence(&problem.field, &problem.defect, w));
        left.chain(is_all.then(|| marked.to_owned())).collect()
    }
}

/// A sentence about the field beside which it stands.
pub(super) fn beside(defect: &Defect, w: Words) -> String {
    sentence(w.t("This field", "Este campo"), defect, w)
}

/// A sentence for each problem of a refusal without fields beside it.
pub(super) fn sentences(error: &ApiError, w: Words) -> Vec<String> {
    Problems::of(error).rest(w)
}

fn sentence(field: &str, defect: &Defect, w: Words) -> String {
    match w.0 {
        Language::English => english::defect(field, defect),
        Language::Portuguese => messages::defect(field, defect),
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiError, Defect, Language, Problem, Problems, Words};

    #[test]
    fn a_field_takes_what_is_within_it() {
        let names = ["scopes", "scopes[1]", "scopesOfOthers", "invoice.amount"];
        let problems = names.map(|name| Problem::new(name, Defect::Required));
        let error = ApiError::validation(problems.into());
        let mut left = Problems::of(&error);
        assert_eq!(left.take("scopes").len(), 2);
        assert_eq!(left.take("invoice").len(), 1);
        let en = Words(Language::English);
        assert_eq!(left.rest(en), ["scopesOfOthers is required."]);
    }
}
