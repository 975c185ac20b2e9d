//! Parses single values, and collects the problems.

use std::str::FromStr;

use chrono::TimeDelta;

use super::Layers;

/// The values, and the problems found while they are parsed.
pub(super) struct Reader<'a> {
    pub(super) layers: &'a Layers,
    pub(super) problems: Vec<String>,
}

/// How long something is kept; `None`: for good.
pub(super) struct Kept(pub(super) Option<TimeDelta>);

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

    /// A number of days, or `off`.
    pub(super) fn days_or_off(&mut self, key: &str, greatest: u32) -> Option<Kept> {
        let text = self.text(key);
        if text == "off" {
            return Some(Kept(None));
        }
        let days = text.parse().ok().filter(|it| (1..=greatest).contains(it));
        if days.is_none() {
            self.problems.push(format!(
                "{key} must be off or a number of days from 1 to {greatest}, not {text:?}"
            ));
        }
        days.map(|days: u32| Kept(Some(TimeDelta::days(days.into()))))
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
