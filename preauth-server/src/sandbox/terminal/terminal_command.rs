//! The commands of a line.

use std::str::SplitWhitespace;

use preauth_core::operation::{Command, Invoice, InvoiceAmounts, ReprovedBy};
use preauth_core::value::{DueDate, InvoiceNumber, Money, OperationId, Reason};

use crate::language::{Language, Text};
use crate::sandbox::words;
use crate::span;
use crate::typed_amount;

const AN_ID: Text = Text::new("an operation's id", "o id de uma operação");
const AN_AMOUNT: Text = Text::new(
    "an amount like 1950.00, without a separator of thousands",
    "um valor como 1950.00, sem separador de milhar",
);
const AN_INVOICE_AMOUNT: Text = Text::new(
    "an amount of 500 to 10000000, without a separator of thousands",
    "um valor de 500 a 10000000, sem separador de milhar",
);
const AN_INVOICE_NUMBER: Text = Text::new("an invoice number", "um número de nota");
const A_TIME: Text = Text::new(
    "a time like 30s, 15m, 12h or 3d",
    "um tempo como 30s, 15m, 12h ou 3d",
);
const A_DATE: Text = Text::new("a date like 2027-01-10", "uma data como 2027-01-10");
const A_REPROVER: Text = Text::new("company or platform", "empresa ou plataforma");
const A_REASON: Text = Text::new(
    "a reason of 255 characters or less",
    "um motivo de até 255 caracteres",
);

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TerminalCommand {
    Empty,
    Act(OperationId, Command),
    Extend(OperationId, NewExtension),
    EndExtension(OperationId, ExtensionEnd),
    Direct(Box<Invoice>),
    /// A number of seconds.
    Advance(u64),
    Show(OperationId),
    List,
    Now,
    Help,
    Quit,
}

/// An extension that has no id yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NewExtension {
    pub(super) new_due_date: DueDate,
    pub(super) total_amount: Money,
}

/// How an open extension is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtensionEnd {
    Concluded,
    Cancelled,
}

/// A line that could not be parsed; each text names the expected input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    Unknown {
        word: String,
        closest: Option<&'static str>,
    },
    Usage {
        usage: String,
    },
    Value {
        text: String,
        wanted: Text,
        usage: String,
    },
    Erp,
    Time,
}

impl ParseError {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Unknown { word, closest } => {
                let hint = closest.map(|name| words::did_you_mean(language, name));
                words::unknown_command(language, word, &hint.unwrap_or_default())
            }
            Self::Usage { usage } => words::usage(language, usage),
            Self::Value {
                text,
                wanted,
                usage,
            } => words::wrong_value(language, text, wanted.of(language), usage),
            Self::Erp => words::erp_cancels(language),
            Self::Time => words::time_expires(language),
        }
    }
}

/// The words after a command's name.
pub(super) struct Words<'a> {
    /// The syntax of the command.
    usage: String,
    words: SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    pub(super) const fn new(usage: String, words: SplitWhitespace<'a>) -> Self {
        Self { usage, words }
    }

    /// Fails if there are more words.
    pub(super) fn end(mut self) -> Result<(), ParseError> {
        match self.words.next() {
            None => Ok(()),
            Some(_) => Err(self.usage()),
        }
    }

    /// A command on the operation whose id comes first.
    pub(super) fn act(
        &mut self,
        command: impl FnOnce(&mut Self) -> Result<Command, ParseError>,
    ) -> Result<TerminalCommand, ParseError> {
        Ok(TerminalCommand::Act(self.id()?, command(self)?))
    }

    pub(super) fn id(&mut self) -> Result<OperationId, ParseError> {
        self.value(AN_ID, |word| OperationId::parse(word).ok())
    }

    pub(super) fn money(&mut self) -> Result<Money, ParseError> {
        self.value(AN_AMOUNT, |word| typed_amount::parse(word).ok())
    }

    pub(super) fn span(&mut self) -> Result<u64, ParseError> {
        self.value(A_TIME, span::parse)
    }

    pub(super) fn reprover(&mut self) -> Result<ReprovedBy, ParseError> {
        self.value(A_REPROVER, |word| match word {
            "company" | "empresa" => Some(ReprovedBy::Company),
            "platform" | "plataforma" => Some(ReprovedBy::Platform),
            _ => None,
        })
    }

    pub(super) fn extension(&mut self) -> Result<NewExtension, ParseError> {
        Ok(NewExtension {
            new_due_date: self.date()?,
            total_amount: self.money()?,
        })
    }

    pub(super) fn invoice(&mut self) -> Result<Invoice, ParseError> {
        let amounts = self.value(AN_INVOICE_AMOUNT, |word| {
            InvoiceAmounts::from_cents(typed_amount::parse(word).ok()?, Money::ZERO)
        })?;
        let due_date = self.date()?;
        let number = self.words.next().map(|word| {
            InvoiceNumber::parse(word).map_err(|_| self.wrong(word, AN_INVOICE_NUMBER))
        });
        Ok(Invoice {
            amounts,
            due_date,
            number: number.transpose()?,
        })
    }

    /// The rest of the line, if there is any.
    pub(super) fn reason(&mut self) -> Result<Option<Reason>, ParseError> {
        let words: Vec<_> = self.words.by_ref().collect();
        if words.is_empty() {
            return Ok(None);
        }
        let text = words.join(" ");
        let parsed = Reason::parse(&text);
        parsed.map(Some).map_err(|_| self.wrong(&text, A_REASON))
    }

    fn date(&mut self) -> Result<DueDate, ParseError> {
        self.value(A_DATE, |word| DueDate::parse(word).ok())
    }

    /// The next word, which is required.
    fn value<T>(
        &mut self,
        wanted: Text,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ParseError> {
        let word = self.words.next().ok_or_else(|| self.usage())?;
        parse(word).ok_or_else(|| self.wrong(word, wanted))
    }

    fn wrong(&self, text: &str, wanted: Text) -> ParseError {
        ParseError::Value {
            text: text.to_owned(),
            wanted,
            usage: self.usage.clone(),
        }
    }

    fn usage(&self) -> ParseError {
        ParseError::Usage {
            usage: self.usage.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, TerminalCommand};
    use crate::language::Language::{English, Portuguese};
    use crate::sandbox::terminal::commands::read;
    use preauth_core::operation::ReprovedBy;
    use preauth_core::value::{Money, OperationId, Reason};

    fn act(line: &str) -> (i64, Command) {
        match read(line, English) {
            Ok(TerminalCommand::Act(id, command)) => (id.get(), command),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn misread(line: &str) -> String {
        read(line, English).unwrap_err().text(English)
    }

    #[test]
    fn commands_are_read_with_what_they_need() {
        let reason = |text| Some(Reason::parse(text).unwrap());
        assert_eq!(act("request 12"), (12, Command::Request));
        assert_eq!(act("  pay   7 "), (7, Command::Pay));
        assert_eq!(act("decline 1"), (1, Command::Decline { reason: None }));
        assert_eq!(
            act("decline 1 sem interesse"),
            (
                1,
                Command::Decline {
                    reason: reason("sem interesse")
                }
            )
        );
        let net_amount = Money::parse("950.00").unwrap();
        assert_eq!(
            act("release 3 950.00"),
            (3, Command::Release { net_amount })
        );
        let by = ReprovedBy::Platform;
        assert_eq!(
            act("reprove 3 platform nota duplicada"),
            (
                3,
                Command::Reprove {
                    by,
                    reason: reason("nota duplicada")
                }
            )
        );
        assert_eq!(
            read("advance 3d", English),
            Ok(TerminalCommand::Advance(259_200))
        );
        assert_eq!(
            read("show 4", English),
            Ok(TerminalCommand::Show(OperationId::new(4).unwrap()))
        );
        assert_eq!(read("   ", English), Ok(TerminalCommand::Empty));
        assert!(matches!(
            read("extend 12 2027-01-10 1010.00", English),
            Ok(TerminalCommand::Extend(..))
        ));
        assert!(matches!(
            read("direct 12500.50 2027-01-10 NF-9", English),
            Ok(TerminalCommand::Direct(_))
        ));
        assert!(matches!(
            read("direct 12500.50 2027-01-10", English),
            Ok(TerminalCommand::Direct(_))
        ));
    }

    #[test]
    fn a_typo_gets_a_hint() {
        assert_eq!(
            misread("reqest 12"),
            "there is no command \"reqest\"; did you mean request?; type help"
        );
        assert_eq!(
            misread("frobnicate"),
            "there is no command \"frobnicate\"; type help"
        );
        assert_eq!(misread("request"), "type: request ID");
        assert_eq!(misread("request 12 now"), "type: request ID");
        assert_eq!(
            misread("release twelve 950"),
            "\"twelve\" is not an operation's id; type: release ID NET-AMOUNT"
        );
        assert_eq!(
            misread("advance 3"),
            "\"3\" is not a time like 30s, 15m, 12h or 3d; type: advance TIME"
        );
        assert!(misread("cancel").contains("your ERP"));
    }

    #[test]
    fn names_are_read_in_both_languages_and_explained_in_the_chosen_one() {
        for line in ["approve 7", "aprovar 7"] {
            for language in [English, Portuguese] {
                let approve = TerminalCommand::Act(OperationId::new(7).unwrap(), Command::Approve);
                assert_eq!(read(line, language), Ok(approve), "{line}");
            }
        }
        for line in ["avançar 3d", "avancar 3d"] {
            assert_eq!(
                read(line, English),
                Ok(TerminalCommand::Advance(259_200)),
                "{line}"
            );
        }
        assert!(read("reprovar 3 empresa nota errada", Portuguese).is_ok());
        let misread = |line| read(line, Portuguese).unwrap_err().text(Portuguese);
        assert_eq!(
            misread("solictar 12"),
            "o comando \"solictar\" não existe; você quis dizer solicitar?; digite ajuda"
        );
        assert_eq!(misread("request"), "digite: solicitar ID");
        assert_eq!(
            misread("liberar doze 950"),
            "\"doze\" não é o id de uma operação; digite: liberar ID VALOR-LÍQUIDO"
        );
    }
}
