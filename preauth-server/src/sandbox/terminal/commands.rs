//! The table of commands: their syntax, when they are possible, and their help.

use preauth_core::operation::{Action, Command, Operation, TRANSITIONS};
use preauth_core::value::Status;

use crate::hint;
use crate::language::{LANGUAGES, Language, Text};
use crate::sandbox::words;

use super::terminal_command::{ExtensionEnd, ParseError, TerminalCommand, Words};

/// A command: its first word, its arguments, and its effect.
pub(super) struct CommandLine {
    name: Text,
    /// The arguments after the name.
    arguments: Text,
    help: Text,
    read: Read,
}

/// Every command, in the order of the help. A name is understood in each language.
#[rustfmt::skip]
static COMMANDS: [CommandLine; 24] = [
    line(Text::new("request", "solicitar"), Text::new("ID", "ID"),
        Text::new("the supplier asks for the advance", "o fornecedor solicita a antecipação"),
        |it| it.act(|_| Ok(Command::Request))),
    line(Text::new("decline", "recusar"), Text::new("ID [REASON]", "ID [MOTIVO]"),
        Text::new("the supplier declines", "o fornecedor recusa"),
        |it| it.act(|it| Ok(Command::Decline { reason: it.reason()? }))),
    line(Text::new("withdraw", "retirar"), Text::new("ID [REASON]", "ID [MOTIVO]"),
        Text::new("the company takes the offer back", "a empresa retira a oferta"),
        |it| it.act(|it| Ok(Command::Withdraw { reason: it.reason()? }))),
    line(Text::new("verify", "verificar"), Text::new("ID", "ID"),
        Text::new("the invoice of a direct advance is verified", "a nota de uma antecipação direta é verificada"),
        |it| it.act(|_| Ok(Command::Verify))),
    line(Text::new("approve", "aprovar"), Text::new("ID", "ID"),
        Text::new("the company approves", "a empresa aprova"),
        |it| it.act(|_| Ok(Command::Approve))),
    line(Text::new("release", "liberar"), Text::new("ID NET-AMOUNT", "ID VALOR-LÍQUIDO"),
        Text::new("the analysis releases the payment", "a análise libera o pagamento"),
        |it| it.act(|it| Ok(Command::Release { net_amount: it.money()? }))),
    line(Text::new("pay", "pagar"), Text::new("ID", "ID"),
        Text::new("the supplier is paid", "o fornecedor é pago"),
        |it| it.act(|_| Ok(Command::Pay))),
    line(Text::new("return-payout", "devolver-pagamento"), Text::new("ID", "ID"),
        Text::new("the bank returns the payment", "o banco devolve o pagamento"),
        |it| it.act(|_| Ok(Command::ReturnPayout))),
    line(Text::new("bill", "emitir-boleto"), Text::new("ID", "ID"),
        Text::new("the boleto is issued", "o boleto é emitido"),
        |it| it.act(|_| Ok(Command::Bill))),
    line(Text::new("extend", "prorrogar"), Text::new("ID NEW-DUE-DATE TOTAL", "ID NOVO-VENCIMENTO TOTAL"),
        Text::new("an extension of the boleto is requested", "a prorrogação do boleto é solicitada"),
        |it| Ok(TerminalCommand::Extend(it.id()?, it.extension()?))),
    line(Text::new("conclude-extension", "concluir-prorrogação"), Text::new("ID", "ID"),
        Text::new("the open extension is paid", "a prorrogação em aberto é paga"),
        |it| Ok(TerminalCommand::EndExtension(it.id()?, ExtensionEnd::Concluded))),
    line(Text::new("cancel-extension", "cancelar-prorrogação"), Text::new("ID", "ID"),
        Text::new("the open extension is cancelled", "a prorrogação em aberto é cancelada"),
        |it| Ok(TerminalCommand::EndExtension(it.id()?, ExtensionEnd::Cancelled))),
    line(Text::new("conclude", "concluir"), Text::new("ID", "ID"),
        Text::new("the boleto is paid", "o boleto é pago"),
        |it| it.act(|_| Ok(Command::Conclude))),
    line(Text::new("reprove", "reprovar"), Text::new("ID company|platform [REASON]", "ID empresa|plataforma [MOTIVO]"),
        Text::new("the request is reproved", "a solicitação é reprovada"),
        |it| it.act(|it| Ok(Command::Reprove { by: it.reprover()?, reason: it.reason()? }))),
    line(Text::new("reopen", "reabrir"), Text::new("ID", "ID"),
        Text::new("a reproved request goes on where it was refused", "uma solicitação reprovada continua de onde parou"),
        |it| it.act(|_| Ok(Command::Reopen))),
    line(Text::new("direct", "direta"), Text::new("AMOUNT DUE-DATE [NUMBER]", "VALOR VENCIMENTO [NÚMERO]"),
        Text::new("the supplier advances an invoice without an offer", "o fornecedor antecipa uma nota sem oferta"),
        |it| Ok(TerminalCommand::Direct(Box::new(it.invoice()?)))),
    line(Text::new("advance", "avançar"), Text::new("TIME", "TEMPO"),
        Text::new("time passes: 30s, 15m, 12h, 3d", "o tempo passa: 30s, 15m, 12h, 3d"),
        |it| Ok(TerminalCommand::Advance(it.span()?))),
    line(Text::new("now", "agora"), Text::new("", ""),
        Text::new("what time it is here", "a hora do sandbox"),
        |_| Ok(TerminalCommand::Now)),
    line(Text::new("show", "mostrar"), Text::new("ID", "ID"),
        Text::new("an operation, and what can be done to it", "uma operação e o que é possível fazer com ela"),
        |it| Ok(TerminalCommand::Show(it.id()?))),
    line(Text::new("list", "listar"), Text::new("", ""),
        Text::new("the newest operations", "as operações mais recentes"),
        |_| Ok(TerminalCommand::List)),
    line(Text::new("cancel", "cancelar"), Text::new("", ""),
        Text::new("your ERP cancels, through the integration API", "quem cancela é o seu ERP, pela API de integração"),
        |_| Err(ParseError::Erp)),
    line(Text::new("expire", "expirar"), Text::new("", ""),
        Text::new("time expires an offer: advance past its expiresAt", "é o tempo que expira: avance além do expiresAt"),
        |_| Err(ParseError::Time)),
    line(Text::new("help", "ajuda"), Text::new("", ""),
        Text::new("this list", "esta lista"),
        |_| Ok(TerminalCommand::Help)),
    line(Text::new("quit", "sair"), Text::new("", ""),
        Text::new("end the sandbox", "encerra o sandbox"),
        |_| Ok(TerminalCommand::Quit)),
];

/// Parses the words after a command's name.
type Read = fn(&mut Words<'_>) -> Result<TerminalCommand, ParseError>;

const fn line(name: Text, arguments: Text, help: Text, read: Read) -> CommandLine {
    CommandLine {
        name,
        arguments,
        help,
        read,
    }
}

impl CommandLine {
    /// The syntax of the command.
    fn usage(&self, language: Language) -> String {
        format!("{} {}", self.name.of(language), self.arguments.of(language))
            .trim_end()
            .to_owned()
    }

    /// Whether `word` is its name in any language. Accents may be left out.
    fn is_called(&self, word: &str) -> bool {
        LANGUAGES
            .into_iter()
            .map(|language| self.name.of(language))
            .any(|name| name == word || plain(name) == word)
    }
}

/// Parses a line.
pub(super) fn read(line: &str, language: Language) -> Result<TerminalCommand, ParseError> {
    let mut words = line.split_whitespace();
    let Some(name) = words.next() else {
        return Ok(TerminalCommand::Empty);
    };
    let Some(command) = COMMANDS.iter().find(|command| command.is_called(name)) else {
        let names = COMMANDS.iter().map(|command| command.name.of(language));
        return Err(ParseError::Unknown {
            word: name.to_owned(),
            closest: hint::closest(name, names),
        });
    };
    let mut words = Words::new(command.usage(language), words);
    let parsed = (command.read)(&mut words)?;
    words.end()?;
    Ok(parsed)
}

/// Every command with its effect.
pub(super) fn help(language: Language) -> String {
    let usages = COMMANDS.each_ref().map(|command| command.usage(language));
    let width = usages.iter().map(|usage| usage.chars().count()).max();
    let width = width.unwrap_or_default();
    let lines: Vec<_> = usages
        .iter()
        .zip(&COMMANDS)
        .map(|(usage, command)| format!("{usage:<width$}  {}", command.help.of(language)))
        .collect();
    lines.join("\n")
}

/// The commands that are possible for an operation now.
pub(super) fn possible(operation: &Operation, language: Language) -> String {
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
        .map(|row| typed(row.action).of(language))
        .collect();
    if possible.is_empty() {
        return words::NOTHING.of(language).to_owned();
    }
    possible.join(", ")
}

/// The statuses in which an action is possible.
pub(super) fn statuses_for(action: Action, language: Language) -> String {
    let statuses: Vec<_> = action
        .transition()
        .from
        .iter()
        .copied()
        .map(Status::as_str)
        .collect();
    statuses.join(words::OR.of(language))
}

/// The command for an action.
const fn typed(action: Action) -> Text {
    match action {
        Action::Offer => Text::new("create", "criar"),
        Action::AdvanceDirectly => Text::new("direct", "direta"),
        Action::Request => Text::new("request", "solicitar"),
        Action::Decline => Text::new("decline", "recusar"),
        Action::Cancel => Text::new("cancel (by your ERP)", "cancelar (pelo seu ERP)"),
        Action::Withdraw => Text::new("withdraw", "retirar"),
        Action::Expire => Text::new("expire (by time)", "expirar (pelo tempo)"),
        Action::Verify => Text::new("verify", "verificar"),
        Action::Approve => Text::new("approve", "aprovar"),
        Action::Release => Text::new("release", "liberar"),
        Action::Pay => Text::new("pay", "pagar"),
        Action::ReturnPayout => Text::new("return-payout", "devolver-pagamento"),
        Action::Bill => Text::new("bill", "emitir-boleto"),
        Action::Conclude => Text::new("conclude", "concluir"),
        Action::ReproveByCompany => Text::new("reprove company", "reprovar empresa"),
        Action::ReproveByPlatform => Text::new("reprove platform", "reprovar plataforma"),
        Action::Reopen => Text::new("reopen", "reabrir"),
        Action::CreateExtension => Text::new("extend", "prorrogar"),
        Action::ConcludeExtension => Text::new("conclude-extension", "concluir-prorrogação"),
        Action::CancelExtension => Text::new("cancel-extension", "cancelar-prorrogação"),
    }
}

/// A name without its accents.
fn plain(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        'ã' => 'a',
        'ç' => 'c',
        other => other,
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{COMMANDS, LANGUAGES, TRANSITIONS, help, plain, typed};
    use preauth_core::operation::Action;

    #[test]
    fn every_action_of_the_table_has_a_command() {
        // Offers come from the ERP only.
        for row in TRANSITIONS.iter().filter(|row| row.action != Action::Offer) {
            for language in LANGUAGES {
                let name = typed(row.action).of(language).split(' ').next().unwrap();
                let mut lines = COMMANDS.iter();
                assert!(lines.any(|line| line.name.of(language) == name), "{row:?}");
            }
        }
    }

    #[test]
    fn a_name_is_one_command_in_every_language_and_can_be_typed_without_accents() {
        let names = COMMANDS
            .iter()
            .flat_map(|line| LANGUAGES.map(|each| line.name.of(each)));
        let names: Vec<_> = names.map(plain).collect();
        assert!(names.iter().all(|name| name.is_ascii()), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn the_help_is_a_line_per_command_within_a_terminals_width() {
        for language in LANGUAGES {
            let help = help(language);
            assert_eq!(help.lines().count(), COMMANDS.len());
            for line in help.lines() {
                assert!(line.chars().count() <= 90, "{line}");
            }
        }
    }
}
