//! How a value is printed, which its type decides.

use preauth_core::value::{
    ApiKeyId, Cnpj, CompanyId, DeliveryId, DueDate, EndpointId, EventId, ExtensionId, InvoiceId,
    MailId, Money, OperationId, OperatorId, PaymentOrderId, SuppressionId, TextEnum, Timestamp,
    UserId, Version,
};
use preauth_core::wire::{Amount, Open};

use crate::http::StoredText;
use crate::language::{Language, Text};
use crate::printable::{printable, reais};

const NONE: &str = "-";
const YES: Text = Text::new("yes", "sim");
const NO: Text = Text::new("no", "não");

/// A value as it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::admin) struct Cell {
    content: Content,
    pub(super) form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Plain(String),
    Word(Text),
}

/// The format of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::admin) enum Form {
    /// Never truncated, because it may be pasted.
    Whole,
    /// Truncated where a table is too wide for the terminal.
    Text,
    /// A word of the API; never truncated, in its colour.
    Word,
    /// An amount in reais.
    Money,
}

/// The meaning of a value, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Title,
    Good,
    Waiting,
    Bad,
}

/// A value that can be printed.
pub(in crate::admin) trait Shown {
    const FORM: Form;

    fn text(&self) -> String;

    fn cell(&self) -> Cell {
        Cell {
            content: Content::Plain(self.text()),
            form: Self::FORM,
        }
    }
}

impl Cell {
    /// The same, truncated where a table is too wide for the terminal.
    pub(in crate::admin) fn cut(self) -> Self {
        Self {
            form: Form::Text,
            ..self
        }
    }

    /// The same, never truncated.
    pub(in crate::admin) fn whole(self) -> Self {
        Self {
            form: Form::Whole,
            ..self
        }
    }

    pub(super) fn text(&self, language: Language) -> &str {
        match &self.content {
            Content::Plain(text) => text,
            Content::Word(word) => word.of(language),
        }
    }

    /// The value in a CSV file: nothing for none, and amounts as spreadsheets of the language read them.
    pub(super) fn in_csv(&self, language: Language) -> String {
        match self.text(language) {
            NONE => String::new(),
            amount if self.form == Form::Money && language == Language::Portuguese => {
                amount.replace('.', ",")
            }
            text => text.to_owned(),
        }
    }

    pub(super) fn tone(&self) -> Tone {
        match &self.content {
            Content::Plain(word) if self.form == Form::Word => tone(word),
            Content::Plain(_) | Content::Word(_) => Tone::Plain,
        }
    }
}

fn tone(word: &str) -> Tone {
    match word {
        "CONCLUDED" | "DELIVERED" | "SENT" | "ACTIVE" | "PAID" => Tone::Good,
        "PENDING" | "HELD" | "PAUSED" | "EXPIRED" | "OPEN" => Tone::Waiting,
        "REPROVED" | "FAILED" | "REVOKED" | "CANCELED" => Tone::Bad,
        _ => Tone::Plain,
    }
}

macro_rules! shown {
    ($($($type:ty),+ => $form:ident, $text:expr;)+) => {
        $($(impl Shown for $type {
            const FORM: Form = Form::$form;

            fn text(&self) -> String {
                let text: fn(&Self) -> String = $text;
                text(self)
            }
        })+)+
    };
}

shown! {
    ApiKeyId, CompanyId, DeliveryId, DueDate, EndpointId, EventId, ExtensionId, InvoiceId, MailId,
    OperationId, OperatorId, PaymentOrderId, SuppressionId, UserId, Version, u16, u32, u64 => Whole, ToString::to_string;
    Cnpj => Whole, |it| it.masked();
    Timestamp => Whole, |it| moment(*it);
    Money => Money, |it| reais(*it);
    Amount => Money, |it| reais(it.money());
    String => Text, |it| printable(it);
}

impl<T> Shown for StoredText<T> {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        printable(self.as_str())
    }
}

impl<T: TextEnum> Shown for Open<T> {
    const FORM: Form = Form::Word;

    fn text(&self) -> String {
        printable(self.as_str())
    }
}

impl<T: Shown> Shown for Vec<T> {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        if self.is_empty() {
            return NONE.to_owned();
        }
        let items: Vec<_> = self.iter().map(Shown::text).collect();
        items.join(", ")
    }
}

impl<T: Shown> Shown for Option<T> {
    const FORM: Form = T::FORM;

    fn text(&self) -> String {
        self.as_ref().map_or_else(|| NONE.to_owned(), Shown::text)
    }
}

impl<T: Shown> Shown for &T {
    const FORM: Form = T::FORM;

    fn text(&self) -> String {
        (**self).text()
    }
}

/// Yes or no.
pub(in crate::admin) const fn yes_or_no(is_so: bool) -> Cell {
    Cell {
        content: Content::Word(if is_so { YES } else { NO }),
        form: Form::Whole,
    }
}

fn moment(moment: Timestamp) -> String {
    let to_the_second = moment.to_datetime().format("%Y-%m-%d %H:%M:%SZ");
    to_the_second.to_string()
}

#[cfg(test)]
mod tests {
    use super::{Language, Shown, Tone, yes_or_no};
    use preauth_core::value::{Cnpj, Money, Scope, Status, Timestamp};
    use preauth_core::wire::Open;

    #[test]
    fn values_are_shown_in_the_form_that_commands_take() {
        let cnpj = Cnpj::parse("12ABC34501DE35").unwrap();
        let at = Timestamp::parse("2026-11-21T13:09:47.549Z").unwrap();
        let amount = Money::parse("12500.50").unwrap();
        let scopes: Vec<Open<Scope>> = vec!["preauth:read".into(), "new:scope".into()];
        for (cell, shown) in [
            (cnpj.cell(), "12.ABC.345/01DE-35"),
            (at.cell(), "2026-11-21 13:09:47Z"),
            (amount.cell(), "12500.50"),
            (Money::parse("500").unwrap().cell(), "500.00"),
            (None::<Money>.cell(), "-"),
            (Vec::<String>::new().cell(), "-"),
            (scopes.cell(), "preauth:read, new:scope"),
            ("\u{1b}[2J".to_owned().cell(), r"\u{1b}[2J"),
        ] {
            assert_eq!(cell.text(Language::English), shown);
        }
        assert_eq!(None::<Money>.cell().form, amount.cell().form);
        assert_eq!(yes_or_no(true).text(Language::English), "yes");
        assert_eq!(yes_or_no(false).text(Language::Portuguese), "não");
    }

    #[test]
    fn only_words_of_the_api_have_a_tone() {
        let status: Open<Status> = "FAILED".into();
        assert_eq!(status.cell().tone(), Tone::Bad);
        assert_eq!(status.cell().cut().tone(), Tone::Plain);
        assert_eq!("FAILED".to_owned().cell().tone(), Tone::Plain);
    }
}
