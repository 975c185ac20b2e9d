//! The form that chooses what a report shows: by day or month, from when to when, and rows of each company.

use chrono::{Months, NaiveDate};

use crate::directory::ReportUnit;
use crate::http::pages::words::Words;
use crate::http::platform::reports::{MAX_DAYS, MAX_MONTHS, ReportShape};
use crate::http::problem::Defect;
use crate::labels;
use crate::language::Text;

use super::list::{Field, pair};
use super::problems::{Problems, beside};
use super::record::Part;
use super::visit::Visit;

/// The parameters of the API that the page passes on.
const PARAMETERS: [&str; 5] = [BY, SINCE, UNTIL, COMPANY, PER_COMPANY];
const BY: &str = "by";
const SINCE: &str = "since";
const UNTIL: &str = "until";
pub(super) const COMPANY: &str = "companyId";
const PER_COMPANY: &str = "perCompany";

/// The parameters as the API reads them, with an `&` at the end. By month, a day stands for its month.
pub(super) fn api_query(visit: &Visit) -> String {
    let is_by_month = visit.query.one(BY) == Some(ReportUnit::Month.as_str());
    let values = PARAMETERS.iter().filter_map(|name| {
        let typed = visit.query.one(name)?;
        let day = typed.parse::<NaiveDate>().ok();
        let month = day.filter(|_| is_by_month && [SINCE, UNTIL].contains(name));
        let value = month.map(|day| day.format("%Y-%m").to_string());
        Some(pair(name, value.as_deref().unwrap_or(typed)))
    });
    values.collect()
}

/// The form. What was not chosen is what the report shows; what is wrong with a field stands beside it.
pub(super) fn form(
    visit: &Visit,
    report: Option<&ReportShape>,
    mut problems: Option<&mut Problems<'_>>,
) -> Part {
    let w = visit.words;
    let mut error = |name| {
        let defects = problems.as_mut()?.take(name);
        defects.first().map(|defect| sentence(defect, w))
    };
    let by = visit.query.one(BY).unwrap_or(ReportUnit::Day.as_str());
    let mut period = |name, label: Text, shown: Option<&String>, is_end| {
        let value = visit.query.one(name).or(shown.map(String::as_str));
        Field {
            is_day: true,
            error: error(name),
            ..Field::new(
                name,
                label.of(w.0),
                as_day(value.unwrap_or_default(), is_end),
            )
        }
    };
    let units = [
        (ReportUnit::Day, w.t("day", "dia")),
        (ReportUnit::Month, w.t("month", "mês")),
    ];
    let units = units.map(|(unit, name)| (unit.as_str(), name.to_owned(), unit.as_str() == by));
    let mut fields = vec![
        Field {
            choices: units.to_vec(),
            ..Field::new(BY, labels::BY.of(w.0), String::new())
        },
        period(SINCE, FROM, report.map(|it| &it.since), false),
        period(UNTIL, TO, report.map(|it| &it.until), true),
    ];
    fields.push(match visit.query.one(COMPANY) {
        Some(id) => Field {
            is_hidden: true,
            ..Field::new(COMPANY, labels::COMPANY.of(w.0), id.to_owned())
        },
        None => Field {
            all: Some(w.t("all together", "todas juntas")),
            choices: vec![(
                "true",
                w.t("each by itself", "cada uma").to_owned(),
                visit.query.one(PER_COMPANY) == Some("true"),
            )],
            ..Field::new(PER_COMPANY, w.t("companies", "empresas"), String::new())
        },
    });
    Part::Filters {
        fields,
        hint: w.t(
            "Both days belong to the report, as days of São Paulo; by month, both months as a whole.",
            "Os dois dias fazem parte do relatório, como dias de São Paulo; por mês, os dois meses inteiros.",
        ),
    }
}

const FROM: Text = Text::new("from", "de");
const TO: Text = Text::new("to", "até");

/// What is wrong with a field, in the words of what was typed.
fn sentence(defect: &Defect, w: Words) -> String {
    match defect {
        Defect::AfterUntil => w
            .t(
                "The first day is after the last one. Unless you choose it, the last one is today.",
                "O primeiro dia vem depois do último. Se você não o escolher, o último é hoje.",
            )
            .to_owned(),
        Defect::TooManyPeriods { .. } => {
            let most = w.t("A report has at most", "Um relatório tem no máximo");
            let days = w.t("days, or", "dias, ou");
            let months = w.t("months.", "meses.");
            format!("{most} {MAX_DAYS} {days} {MAX_MONTHS} {months}")
        }
        _ => beside(defect, w),
    }
}

/// A day, or the first day of a month.
fn first_day(text: &str) -> Option<NaiveDate> {
    let day = text.parse().or_else(|_| format!("{text}-01").parse());
    day.ok()
}

/// A day as a field has it: of a month its first day, or its last one; another text stays.
fn as_day(text: &str, is_end: bool) -> String {
    if text.parse::<NaiveDate>().is_ok() {
        return text.to_owned();
    }
    let Some(first) = first_day(text) else {
        return text.to_owned();
    };
    let last = || first.checked_add_months(Months::new(1))?.pred_opt();
    let day = if is_end { last() } else { Some(first) };
    day.unwrap_or(first).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Defect, Words, as_day, sentence};
    use crate::language::Language;

    #[test]
    fn a_month_fills_the_fields_with_its_days() {
        assert_eq!(as_day("2026-02", false), "2026-02-01");
        assert_eq!(as_day("2026-02", true), "2026-02-28");
        assert_eq!(as_day("2028-02", true), "2028-02-29");
        assert_eq!(as_day("2026-11-21", true), "2026-11-21");
        assert_eq!(as_day("soon", false), "soon");
    }

    #[test]
    fn what_is_wrong_with_a_range_is_said_in_words() {
        let (en, pt) = (Words(Language::English), Words(Language::Portuguese));
        let reversed = sentence(&Defect::AfterUntil, pt);
        assert!(reversed.starts_with("O primeiro dia"), "{reversed}");
        let too_many = Defect::TooManyPeriods { max: 92 };
        assert_eq!(
            sentence(&too_many, en),
            "A report has at most 92 days, or 36 months."
        );
        assert_eq!(sentence(&Defect::Required, en), "This field is required.");
    }
}
