//! Parses single values, and collects the problems.

use std::str::FromStr;

use super::Layers;

/// The values, and the problems found while they are parsed.
pub(super) struct Reader<'a> {
    pub(super) layers: &'a Layers,
    pub(super) problems: Vec<String>,
}

impl Reader<'_> {
    pub(super) fn whole(&mut self, key: &str, greatest: u32) -> Option<u32> {
        let number = self.parse::<u32>(key, "a whole number")?;
        if (1..=greatest).contains(&number) {
            return Some(number);
        }
        self.problems
            .push(format!("{key} must be from 1 to {greatest}"));
        None
    }

    pub(super) fn parse<T: FromStr>(&mut self, key: &str, form: &str) -> Option<T> {
        let text = self.text(key);
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.problems
                .push(format!("{key} must be {form}, not {text:?}"));
        }
        parsed
    }

    pub(super) fn problem(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    pub(super) fn text(&self, key: &str) -> String {
        self.layers.of(key).text
    }
}
