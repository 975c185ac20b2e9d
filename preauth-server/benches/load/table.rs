//! The table of all figures: what was measured, its target, and the spread over the pairs.

use std::fmt;

use crate::statistics::{grouped, hundredths, ratio, spread};

/// The target of a figure. Those of ratios are in hundredths.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtLeast(u64),
    AtMost(u64),
    None,
}

/// All rows, in the order in which their first pair was added.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    notes: Vec<String>,
}

struct Row {
    what: String,
    /// The baseline of a ratio's figures.
    beside: Option<&'static str>,
    unit: &'static str,
    target: Target,
    ours: Vec<u64>,
    others: Vec<u64>,
}

impl Table {
    /// Adds one pair of a ratio: our figure, and what was measured beside it.
    pub(crate) fn ratio(
        &mut self,
        what: &str,
        beside: &'static str,
        target: Target,
        unit: &'static str,
        (ours, other): (u64, u64),
    ) {
        let row = self.row(what, Some(beside), target, unit);
        row.ours.push(ours);
        row.others.push(other);
        println!("{}", row.last());
    }

    /// Adds one figure that is compared with nothing.
    pub(crate) fn figure(&mut self, what: &str, target: Target, unit: &'static str, figure: u64) {
        let row = self.row(what, None, target, unit);
        row.ours.push(figure);
        println!("{}", row.last());
    }

    /// Adds a line below the table.
    pub(crate) fn note(&mut self, note: String) {
        println!("{note}");
        self.notes.push(note);
    }

    fn row(
        &mut self,
        what: &str,
        beside: Option<&'static str>,
        target: Target,
        unit: &'static str,
    ) -> &mut Row {
        let known = self.rows.iter().position(|row| row.what == what);
        let place = known.unwrap_or(self.rows.len());
        if known.is_none() {
            self.rows.push(Row {
                what: what.to_owned(),
                beside,
                unit,
                target,
                ours: Vec::new(),
                others: Vec::new(),
            });
        }
        self.rows.get_mut(place).unwrap()
    }
}

impl Row {
    /// The values that the target is about, one for each pair.
    fn values(&self) -> Vec<u64> {
        match self.beside {
            Some(_) => (self.ours.iter().zip(&self.others))
                .map(|(ours, other)| ratio(*ours, *other))
                .collect(),
            None => self.ours.clone(),
        }
    }

    fn shown(&self, value: u64) -> String {
        match self.beside {
            Some(_) => hundredths(value),
            None => self.with_unit(value),
        }
    }

    fn with_unit(&self, value: u64) -> String {
        format!("{}{}", grouped(value), self.unit)
    }

    fn last(&self) -> String {
        let last = |values: &[u64]| values.last().map(|it| self.with_unit(*it));
        match (last(&self.ours), last(&self.others), self.values().last()) {
            (Some(ours), Some(other), Some(ratio)) => {
                format!("{}: {} ({ours}, {other})", self.what, hundredths(*ratio))
            }
            (ours, _, _) => format!("{}: {}", self.what, ours.unwrap_or_default()),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lowest, median, highest] = spread(&self.values());
        let (target, is_reached) = match self.target {
            Target::AtLeast(least) => (format!("at least {}", self.shown(least)), median >= least),
            Target::AtMost(most) => (format!("at most {}", self.shown(most)), median <= most),
            Target::None => (String::new(), true),
        };
        let reached = match (self.target, is_reached) {
            (Target::None, _) => "",
            (_, true) => "yes",
            (_, false) => "no",
        };
        let [lowest, middle, highest] = [lowest, median, highest].map(|it| self.shown(it));
        let middle_of = |values: &[u64]| {
            let [_, middle, _] = spread(values);
            self.with_unit(middle)
        };
        let (ours, beside) = match self.beside {
            Some(beside) => {
                let other = middle_of(&self.others);
                (middle_of(&self.ours), format!("{beside}: {other}"))
            }
            None => (String::new(), String::new()),
        };
        write!(
            out,
            "| {} | {target} | {lowest} – {middle} – {highest} | {reached} | {ours} | {beside} |",
            self.what
        )
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "| what | target | lowest – median – highest | reached | ours | beside |"
        )?;
        writeln!(out, "| --- | --- | --- | --- | --- | --- |")?;
        for row in &self.rows {
            writeln!(out, "{row}")?;
        }
        for note in &self.notes {
            write!(out, "\n- {note}")?;
        }
        Ok(())
    }
}
