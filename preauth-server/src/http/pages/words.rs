//! Texts, times and amounts in the reader's language. Times are those of São Paulo, with UTC in the title.

use askama::Template;
use askama::filters::HtmlSafe;
use chrono::NaiveDate;
use preauth_core::value::calendar::local_time;
use preauth_core::value::{DueDate, Money, Timestamp};

use crate::language::Language;

/// What a template needs to write in the reader's language.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Words(pub(in crate::http) Language);

/// A moment, with UTC for those who hover over it.
#[derive(Debug, Template)]
#[template(
    source = r#"<time datetime="{{ utc }}" title="{{ utc }}">{{ local }}</time>"#,
    ext = "html"
)]
pub(in crate::http) struct Moment {
    utc: String,
    pub(in crate::http) local: String,
}

// Its template escapes what it contains.
impl HtmlSafe for Moment {}

impl Words {
    /// The text of the reader's language.
    pub(in crate::http) const fn t(self, en: &'static str, pt: &'static str) -> &'static str {
        match self.0 {
            Language::English => en,
            Language::Portuguese => pt,
        }
    }

    /// The language as HTML names it.
    pub(in crate::http) const fn tag(self) -> &'static str {
        self.t("en", "pt-BR")
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    pub(in crate::http) fn time(self, at: &Timestamp) -> Moment {
        let format = self.t("%Y-%m-%d %H:%M:%S", "%d/%m/%Y %H:%M:%S");
        Moment {
            utc: at.to_string(),
            local: local_time(*at).format(format).to_string(),
        }
    }

    pub(in crate::http) fn day(self, date: NaiveDate) -> String {
        date.format(self.t("%Y-%m-%d", "%d/%m/%Y")).to_string()
    }

    pub(in crate::http) fn due(self, date: DueDate) -> String {
        self.day(date.date())
    }

    /// An amount in reais: `R$ 12.500,50` or `BRL 12,500.50`.
    pub(in crate::http) fn money(self, amount: Money) -> String {
        let cents = amount.cents();
        let (whole, part) = (cents / 100, cents % 100);
        let whole = self.number(&u64::try_from(whole).unwrap_or_default());
        match self.0 {
            Language::English => format!("BRL\u{a0}{whole}.{part:02}"),
            Language::Portuguese => format!("R$\u{a0}{whole},{part:02}"),
        }
    }

    /// A number with its thousands apart.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    pub(in crate::http) fn number(self, number: &u64) -> String {
        let digits = number.to_string();
        let mut grouped = String::with_capacity(digits.len().saturating_mul(2));
        for (index, digit) in digits.chars().enumerate() {
            let left = digits.len().saturating_sub(index);
            if index > 0 && left % 3 == 0 {
                grouped.push_str(self.t(",", "."));
            }
            grouped.push(digit);
        }
        grouped
    }
}

#[cfg(test)]
mod tests {
    use askama::Template as _;
    use preauth_core::value::{Money, Timestamp};

    use super::{Language, Words};

    const EN: Words = Words(Language::English);
    const PT: Words = Words(Language::Portuguese);

    #[test]
    fn times_are_those_of_sao_paulo_with_utc_in_the_title() {
        let at = Timestamp::parse("2026-11-21T01:09:47.549Z").unwrap();
        let utc = "2026-11-21T01:09:47.549Z";
        for (words, local) in [(EN, "2026-11-20 22:09:47"), (PT, "20/11/2026 22:09:47")] {
            let expected = format!(r#"<time datetime="{utc}" title="{utc}">{local}</time>"#);
            assert_eq!(words.time(&at).render().unwrap(), expected);
        }
    }

    #[test]
    fn amounts_have_their_thousands_apart() {
        let amount = Money::parse("9000012500.05").unwrap();
        assert_eq!(EN.money(amount), "BRL\u{a0}9,000,012,500.05");
        assert_eq!(PT.money(amount), "R$\u{a0}9.000.012.500,05");
        assert_eq!(EN.number(&999), "999");
        assert_eq!(PT.number(&1_000), "1.000");
    }
}
