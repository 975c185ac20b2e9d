//! The commands of a line.

use std::str::SplitWhitespace;

use preauth_core::operation::{Command, Invoice, InvoiceAmounts, ReprovedBy};
use preauth_core::value::{DueDate, InvoiceNumber, Money, OperationId, Reason};
use thiserror::Error;

use crate::span;

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
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum Misread {
    #[error("there is no command {word:?}{}; type help", .closest.map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    Unknown {
        word: String,
        closest: Option<&'static str>,
    },
    #[error("type: {usage}")]
    Usage { usage: String },
    #[error("{text:?} is not {wanted}; type: {usage}")]
    Value {
        text: String,
        wanted: &'static str,
        usage: String,
    },
    #[error(
        "your ERP cancels: POST /api/integration/v1/pre-authorizations/ID/cancel; the company's own way is withdraw ID"
    )]
    Erp,
    #[error(
        "time expires an offer: show ID tells until when it stands, advance TIME lets time pass"
    )]
    Time,
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
    pub(super) fn end(mut self) -> Result<(), Misread> {
        match self.words.next() {
            None => Ok(()),
            Some(_) => Err(self.usage()),
        }
    }

    /// A command on the operation whose id comes first.
    pub(super) fn act(
        &mut self,
        command: impl FnOnce(&mut Self) -> Result<Command, Misread>,
    ) -> Result<TerminalCommand, Misread> {
        Ok(TerminalCommand::Act(self.id()?, command(self)?))
    }

    pub(super) fn id(&mut self) -> Result<OperationId, Misread> {
        self.value("an operation's id", |word| OperationId::parse(word).ok())
    }

    pub(super) fn money(&mut self) -> Result<Money, Misread> {
        self.value("an amount like 950.00", |word| Money::parse(word).ok())
    }

    pub(super) fn span(&mut self) -> Result<u64, Misread> {
        self.value("a time like 30s, 15m, 12h or 3d", span::parse)
    }

    pub(super) fn reprover(&mut self) -> Result<ReprovedBy, Misread> {
        self.value("company or platform", |word| match word {
            "company" => Some(ReprovedBy::Company),
            "platform" => Some(ReprovedBy::Platform),
            _ => None,
        })
    }

    pub(super) fn extension(&mut self) -> Result<NewExtension, Misread> {
        Ok(NewExtension {
            new_due_date: self.date()?,
            total_amount: self.money()?,
        })
    }

    pub(super) fn invoice(&mut self) -> Result<Invoice, Misread> {
        let amounts = self.value("an amount of 500 to 10000000", |word| {
            InvoiceAmounts::from_cents(Money::parse(word).ok()?, Money::ZERO)
        })?;
        let due_date = self.date()?;
        let number = self.words.next().map(|word| {
            InvoiceNumber::parse(word).map_err(|_| self.wrong(word, "an invoice number"))
        });
        Ok(Invoice {
            amounts,
            due_date,
            number: number.transpose()?,
        })
    }

    /// The rest of the line, if there is any.
    pub(super) fn reason(&mut self) -> Result<Option<Reason>, Misread> {
        let words: Vec<_> = self.words.by_ref().collect();
        if words.is_empty() {
            return Ok(None);
        }
        let text = words.join(" ");
        let parsed = Reason::parse(&text);
        parsed
            .map(Some)
            .map_err(|_| self.wrong(&text, "a reason of 255 characters or less"))
    }

    fn date(&mut self) -> Result<DueDate, Misread> {
        self.value("a date like 2027-01-10", |word| DueDate::parse(word).ok())
    }

    /// The next word, which is required.
    fn value<T>(
        &mut self,
        wanted: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Misread> {
        let word = self.words.next().ok_or_else(|| self.usage())?;
        parse(word).ok_or_else(|| self.wrong(word, wanted))
    }

    fn wrong(&self, text: &str, wanted: &'static str) -> Misread {
        Misread::Value {
            text: text.to_owned(),
            wanted,
            usage: self.usage.clone(),
        }
    }

    fn usage(&self) -> Misread {
        Misread::Usage {
            usage: self.usage.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, TerminalCommand};
    use crate::sandbox::terminal::commands::read;
    use preauth_core::operation::ReprovedBy;
    use preauth_core::value::{Money, OperationId, Reason};

    fn act(line: &str) -> (i64, Command) {
        match read(line) {
            Ok(TerminalCommand::Act(id, command)) => (id.get(), command),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn misread(line: &str) -> String {
        read(line).unwrap_err().to_string()
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
        assert_eq!(read("advance 3d"), Ok(TerminalCommand::Advance(259_200)));
        assert_eq!(
            read("show 4"),
            Ok(TerminalCommand::Show(OperationId::new(4).unwrap()))
        );
        assert_eq!(read("   "), Ok(TerminalCommand::Empty));
        assert!(matches!(
            read("extend 12 2027-01-10 1010.00"),
            Ok(TerminalCommand::Extend(..))
        ));
        assert!(matches!(
            read("direct 12500.50 2027-01-10 NF-9"),
            Ok(TerminalCommand::Direct(_))
        ));
        assert!(matches!(
            read("direct 12500.50 2027-01-10"),
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
}
