//! The table of commands: their syntax, when they are possible, and their help.

use preauth_core::operation::{Action, Command, Operation, TRANSITIONS};
use preauth_core::value::Status;

use super::hint;
use super::terminal_command::{ExtensionEnd, Misread, TerminalCommand, Words};

/// A command: its first word, its arguments, and its effect.
pub(super) struct CommandLine {
    pub(super) name: &'static str,
    /// The arguments after the name.
    pub(super) arguments: &'static str,
    help: &'static str,
    pub(super) read: Read,
}

/// Every command, in the order of the help.
#[rustfmt::skip]
pub(super) static COMMANDS: [CommandLine; 24] = [
    line("request", "ID", "the supplier asks for the advance",
        |it| it.act(|_| Ok(Command::Request))),
    line("decline", "ID [REASON]", "the supplier declines",
        |it| it.act(|it| Ok(Command::Decline { reason: it.reason()? }))),
    line("withdraw", "ID [REASON]", "the company takes the offer back",
        |it| it.act(|it| Ok(Command::Withdraw { reason: it.reason()? }))),
    line("verify", "ID", "the invoice of a direct advance is verified",
        |it| it.act(|_| Ok(Command::Verify))),
    line("approve", "ID", "the company approves",
        |it| it.act(|_| Ok(Command::Approve))),
    line("release", "ID NET-AMOUNT", "the analysis releases the payment",
        |it| it.act(|it| Ok(Command::Release { net_amount: it.money()? }))),
    line("pay", "ID", "the supplier is paid",
        |it| it.act(|_| Ok(Command::Pay))),
    line("return-payout", "ID", "the bank returns the payment",
        |it| it.act(|_| Ok(Command::ReturnPayout))),
    line("bill", "ID", "the boleto is issued",
        |it| it.act(|_| Ok(Command::Bill))),
    line("extend", "ID NEW-DUE-DATE TOTAL", "an extension of the boleto is requested",
        |it| Ok(TerminalCommand::Extend(it.id()?, it.extension()?))),
    line("conclude-extension", "ID", "the open extension is paid",
        |it| Ok(TerminalCommand::EndExtension(it.id()?, ExtensionEnd::Concluded))),
    line("cancel-extension", "ID", "the open extension is cancelled",
        |it| Ok(TerminalCommand::EndExtension(it.id()?, ExtensionEnd::Cancelled))),
    line("conclude", "ID", "the boleto is paid",
        |it| it.act(|_| Ok(Command::Conclude))),
    line("reprove", "ID company|platform [REASON]", "the request is reproved",
        |it| it.act(|it| Ok(Command::Reprove { by: it.reprover()?, reason: it.reason()? }))),
    line("reopen", "ID", "a reproved request goes on where it was refused",
        |it| it.act(|_| Ok(Command::Reopen))),
    line("direct", "AMOUNT DUE-DATE [NUMBER]", "the supplier advances an invoice without an offer",
        |it| Ok(TerminalCommand::Direct(Box::new(it.invoice()?)))),
    line("advance", "TIME", "time passes: 30s, 15m, 12h, 3d",
        |it| Ok(TerminalCommand::Advance(it.span()?))),
    line("now", "", "what time it is here",
        |_| Ok(TerminalCommand::Now)),
    line("show", "ID", "an operation, and what can be done to it",
        |it| Ok(TerminalCommand::Show(it.id()?))),
    line("list", "", "the newest operations",
        |_| Ok(TerminalCommand::List)),
    line("cancel", "", "your ERP cancels, through the integration API",
        |_| Err(Misread::Erp)),
    line("expire", "", "time expires an offer: advance past its expiresAt",
        |_| Err(Misread::Time)),
    line("help", "", "this list",
        |_| Ok(TerminalCommand::Help)),
    line("quit", "", "end the sandbox",
        |_| Ok(TerminalCommand::Quit)),
];

/// Parses the words after a command's name.
type Read = fn(&mut Words<'_>) -> Result<TerminalCommand, Misread>;

const fn line(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    read: Read,
) -> CommandLine {
    CommandLine {
        name,
        arguments,
        help,
        read,
    }
}

impl CommandLine {
    /// The syntax of the command.
    pub(super) fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments)
            .trim_end()
            .to_owned()
    }
}

/// Parses a line.
pub(super) fn read(line: &str) -> Result<TerminalCommand, Misread> {
    let mut words = line.split_whitespace();
    let Some(name) = words.next() else {
        return Ok(TerminalCommand::Empty);
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names = COMMANDS.iter().map(|command| command.name);
        return Err(Misread::Unknown {
            word: name.to_owned(),
            closest: hint::closest(name, names),
        });
    };
    let mut words = Words::new(command.usage(), words);
    let order = (command.read)(&mut words)?;
    words.end()?;
    Ok(order)
}

/// Every command with its effect.
pub(super) fn help() -> String {
    let lines: Vec<_> = COMMANDS
        .iter()
        .map(|command| format!("{:<37} {}", command.usage(), command.help))
        .collect();
    lines.join("\n")
}

/// The commands that are possible for an operation now.
pub(super) fn possible(operation: &Operation) -> String {
    let status = operation.status();
    let may_reopen = operation.closing().is_some_and(|closing| {
        matches!(
            closing.action,
            Action::ReproveByCompany | Action::ReproveByPlatform
        )
    });
    let possible: Vec<_> = TRANSITIONS
        .iter()
        .filter(|row| row.from.contains(&status))
        .filter(|row| row.action != Action::Reopen || may_reopen)
        .map(|row| typed(row.action))
        .collect();
    if possible.is_empty() {
        return "nothing".to_owned();
    }
    possible.join(", ")
}

/// The statuses in which an action is possible.
pub(super) fn statuses_for(action: Action) -> String {
    let statuses: Vec<_> = action
        .transition()
        .from
        .iter()
        .copied()
        .map(Status::as_str)
        .collect();
    statuses.join(" or ")
}

/// The command for an action.
const fn typed(action: Action) -> &'static str {
    match action {
        Action::Offer => "create",
        Action::AdvanceDirectly => "direct",
        Action::Request => "request",
        Action::Decline => "decline",
        Action::Cancel => "cancel (by your ERP)",
        Action::Withdraw => "withdraw",
        Action::Expire => "expire (by time)",
        Action::Verify => "verify",
        Action::Approve => "approve",
        Action::Release => "release",
        Action::Pay => "pay",
        Action::ReturnPayout => "return-payout",
        Action::Bill => "bill",
        Action::Conclude => "conclude",
        Action::ReproveByCompany => "reprove company",
        Action::ReproveByPlatform => "reprove platform",
        Action::Reopen => "reopen",
        Action::CreateExtension => "extend",
        Action::ConcludeExtension => "conclude-extension",
        Action::CancelExtension => "cancel-extension",
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, TRANSITIONS, help, typed};
    use preauth_core::operation::Action;

    #[test]
    fn every_action_of_the_table_has_a_command() {
        // Offers come from the ERP only.
        for row in TRANSITIONS.iter().filter(|row| row.action != Action::Offer) {
            let name = typed(row.action).split(' ').next().unwrap();
            assert!(COMMANDS.iter().any(|line| line.name == name), "{row:?}");
        }
    }

    #[test]
    fn the_help_is_a_line_per_command_within_a_terminals_width() {
        assert_eq!(help().lines().count(), COMMANDS.len());
        for line in help().lines() {
            assert!(line.len() <= 90, "{line}");
        }
    }
}
