//! The days or months of a report.

use chrono::{Datelike as _, Months, NaiveDate, TimeDelta};
use preauth_core::value::{DueDate, DueDateError, Timestamp, calendar};

use crate::directory::{Period, ReportUnit};
use crate::http::fields::Problems;
use crate::http::problem::Defect;
use crate::http::query::Query;

pub(crate) const MAX_DAYS: usize = 92;
pub(crate) const MAX_MONTHS: usize = 36;
/// Days before the last one, unless a first one is given.
const DAYS_BEFORE: i64 = 29;
const MONTHS_BEFORE: u32 = 11;

pub(super) use calendar::today;

/// The days or months from one to another, both included.
#[derive(Debug)]
pub(super) struct Range {
    pub(super) unit: ReportUnit,
    pub(super) periods: Vec<Period>,
}

impl Range {
    /// Reads `since` and `until`.
    pub(super) fn read(
        query: &Query,
        unit: ReportUnit,
        today: NaiveDate,
        problems: &mut Problems,
    ) -> Option<Self> {
        let parse = |text: &str| date(unit, text);
        let until = query.one("until", parse, problems);
        let last = until.or_else(|| first_of(unit, today))?;
        let since = query.one("since", parse, problems);
        let first = since.or_else(|| before(unit, last))?;
        if first > last {
            problems.add("since", Defect::AfterUntil);
            return None;
        }
        let max = max_periods(unit);
        let names = std::iter::successors(Some(first), |date| next(unit, *date));
        let dates: Vec<_> = names
            .take_while(|date| *date <= last)
            .take(max.saturating_add(1))
            .collect();
        if dates.len() > max {
            problems.add("since", Defect::TooManyPeriods { max });
            return None;
        }
        let periods = dates.into_iter().filter_map(|date| period(unit, date));
        Some(Self {
            unit,
            periods: periods.collect(),
        })
    }
}

const fn max_periods(unit: ReportUnit) -> usize {
    match unit {
        ReportUnit::Day => MAX_DAYS,
        ReportUnit::Month => MAX_MONTHS,
    }
}

/// A day, or the first day of a month.
fn date(unit: ReportUnit, text: &str) -> Result<NaiveDate, Defect> {
    match unit {
        ReportUnit::Day => Ok(DueDate::parse(text)?.date()),
        ReportUnit::Month => match DueDate::parse(&format!("{text}-01")) {
            Ok(first) => Ok(first.date()),
            Err(DueDateError::Shape | DueDateError::NoSuchDay) => Err(Defect::NotAMonth),
        },
    }
}

fn first_of(unit: ReportUnit, day: NaiveDate) -> Option<NaiveDate> {
    match unit {
        ReportUnit::Day => Some(day),
        ReportUnit::Month => day.with_day(1),
    }
}

/// Where a report begins that has a last day or month only.
fn before(unit: ReportUnit, last: NaiveDate) -> Option<NaiveDate> {
    match unit {
        ReportUnit::Day => last.checked_sub_signed(TimeDelta::days(DAYS_BEFORE)),
        ReportUnit::Month => last.checked_sub_months(Months::new(MONTHS_BEFORE)),
    }
}

fn next(unit: ReportUnit, date: NaiveDate) -> Option<NaiveDate> {
    match unit {
        ReportUnit::Day => date.succ_opt(),
        ReportUnit::Month => date.checked_add_months(Months::new(1)),
    }
}

fn period(unit: ReportUnit, date: NaiveDate) -> Option<Period> {
    Some(Period {
        name: unit.name_of(date),
        begin: beginning(date)?,
        end: beginning(next(unit, date)?)?,
    })
}

/// The first moment of a day.
fn beginning(date: NaiveDate) -> Option<Timestamp> {
    let before = calendar::end_of_day(date.pred_opt()?);
    Some(before.saturating_add(TimeDelta::milliseconds(1)))
}

#[cfg(test)]
mod tests {
    use super::{Problems, Query, Range, ReportUnit};
    use crate::http::problem::{Defect, Problem};

    fn read(unit: ReportUnit, query: &str) -> Result<Range, Vec<Problem>> {
        let mut problems = Problems::default();
        let today = "2026-11-21".parse().unwrap();
        let range = Range::read(&Query::parse(Some(query)), unit, today, &mut problems);
        problems.unless_any(range)
    }

    fn ends(unit: ReportUnit, query: &str) -> (String, String, usize) {
        let periods = read(unit, query).unwrap().periods;
        let name = |period: Option<&super::Period>| period.unwrap().name.clone();
        (name(periods.first()), name(periods.last()), periods.len())
    }

    #[test]
    fn both_ends_belong_to_a_range_and_today_is_its_last_day_unless_it_has_another() {
        let own = |first: &str, last: &str, length| (first.to_owned(), last.to_owned(), length);
        let (day, month) = (ReportUnit::Day, ReportUnit::Month);
        assert_eq!(ends(day, ""), own("2026-10-23", "2026-11-21", 30));
        assert_eq!(ends(month, ""), own("2025-12", "2026-11", 12));
        let one = "since=2026-11-21&until=2026-11-21";
        assert_eq!(ends(day, one), own("2026-11-21", "2026-11-21", 1));
        let leap = "since=2028-02-28&until=2028-03-01";
        assert_eq!(ends(day, leap), own("2028-02-28", "2028-03-01", 3));
        let whole = "since=2026-01-01&until=2026-04-02";
        assert_eq!(ends(day, whole), own("2026-01-01", "2026-04-02", 92));
        let months = "since=2024-01&until=2026-12";
        assert_eq!(ends(month, months), own("2024-01", "2026-12", 36));
    }

    #[test]
    fn a_period_ends_where_the_next_begins_at_midnight_in_sao_paulo() {
        let moments = |unit, query| -> Vec<_> {
            let periods = read(unit, query).unwrap().periods.into_iter();
            periods
                .map(|it| (it.begin.to_string(), it.end.to_string()))
                .collect()
        };
        let expected = [("2026-11-30T03:00:00.000Z", "2026-12-01T03:00:00.000Z")]
            .map(|(begin, end)| (begin.to_owned(), end.to_owned()));
        let day = moments(ReportUnit::Day, "since=2026-11-30&until=2026-11-30");
        assert_eq!(day, expected);
        // Clocks were changed on 3 November 2018 and on 16 February 2019.
        let months = moments(ReportUnit::Month, "since=2018-11&until=2019-02");
        assert_eq!(months[0].0, "2018-11-01T03:00:00.000Z");
        assert_eq!(months[0].1, "2018-12-01T02:00:00.000Z");
        assert_eq!(months[3].1, "2019-03-01T03:00:00.000Z");
        assert!(months.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }

    #[test]
    fn a_range_that_is_too_long_reversed_or_misspelt_is_refused() {
        let (day, month) = (ReportUnit::Day, ReportUnit::Month);
        let refused = |unit, query| read(unit, query).unwrap_err();
        for (unit, query, defect) in [
            (day, "since=2026-11-22", Defect::AfterUntil),
            (day, "since=2026-11-02&until=2026-11-01", Defect::AfterUntil),
            (
                day,
                "since=2026-01-01&until=2026-04-03",
                Defect::TooManyPeriods { max: 92 },
            ),
            (
                day,
                "since=0001-01-01&until=9999-12-31",
                Defect::TooManyPeriods { max: 92 },
            ),
            (
                month,
                "since=2023-12&until=2026-12",
                Defect::TooManyPeriods { max: 36 },
            ),
            (month, "since=2026-13", Defect::NotAMonth),
            (month, "since=2026-11-01", Defect::NotAMonth),
        ] {
            let expected = [Problem::new("since", defect)];
            assert_eq!(refused(unit, query), expected, "{query}");
        }
        for query in ["until=2026-02-30", "until=2026-11", "until=x", "until="] {
            assert_eq!(refused(day, query).len(), 1, "{query}");
        }
    }
}
