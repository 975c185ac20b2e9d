//! The words of the sandbox's story, in every language.

use preauth_core::port::AttemptError;

use crate::attempt_words::attempt_error;
use crate::language::{Language, Text, texts};

pub(super) const REQUEST: Text = Text::new("request", "chamada");
pub(super) const STATUS: Text = Text::new("status", "situação");
pub(super) const DELIVERY: Text = Text::new("delivery", "entrega");
pub(super) const MAIL: Text = Text::new("mail", "e-mail");
pub(super) const PAGE: Text = Text::new("page", "página");
pub(super) const CLOCK: Text = Text::new("clock", "relógio");
pub(super) const RECEIVER: Text = Text::new("receiver", "receptor");

texts! {
    operation(operation: &str, status: &str, event: &str) {
        en: "operation {operation} is {status} ({event})",
        pt: "operação {operation} em {status} ({event})",
    }
    payment_order(order: &str, status: &str) {
        en: "payment order {order} is {status}",
        pt: "ordem de pagamento {order} em {status}",
    }
    delivery(event: &str, attempt: &str, outcome: &str, verdict: &str, duration_ms: &str) {
        en: "{event} attempt {attempt}: {outcome}, {verdict} ({duration_ms} ms)",
        pt: "{event} tentativa {attempt}: {outcome}, {verdict} ({duration_ms} ms)",
    }
    clock(now: &str, span: &str) {
        en: "it is {now}: {span} passed at once",
        pt: "passaram {span} de uma vez: agora é {now}",
    }
}

/// Before the time of the next attempt.
const RETRY_AT: Text = Text::new("retry at ", "nova tentativa em ");
/// The phrases of the log about deliveries and mails; a log line has several, separated by commas.
const LOGGED: [Text; 11] = [
    Text::new("delivered", "entregue"),
    Text::new("failed", "falhou"),
    Text::new("endpoint paused", "endpoint pausado"),
    Text::new(
        "not recorded: lease lost",
        "não registrado: outra instância assumiu",
    ),
    Text::new(
        "not recorded: database lost",
        "não registrado: banco de dados inacessível",
    ),
    Text::new("sent", "enviado"),
    Text::new("retried", "será repetido"),
    Text::new("given up", "abandonado"),
    Text::new("canceled", "cancelado"),
    Text::new("its offer no longer stands", "a oferta foi encerrada"),
    Text::new(
        "its reader wants no mails",
        "o destinatário não quer e-mails",
    ),
];

/// Phrases of the log in this language; a phrase that is not in the table stays as it is.
pub(super) fn logged(language: Language, text: &str) -> String {
    let phrases = text.split(", ").map(|phrase| {
        if let Some(time) = phrase.strip_prefix(RETRY_AT.of(Language::English)) {
            return format!("{}{time}", RETRY_AT.of(language));
        }
        let mut rows = LOGGED.iter();
        let row = rows.find(|row| row.of(Language::English) == phrase);
        let known = row.copied().or_else(|| failure(language, phrase));
        known.map_or(phrase, |text| text.of(language)).to_owned()
    });
    phrases.collect::<Vec<_>>().join(", ")
}

/// Why an attempt failed. The log's English is the error's own.
fn failure(language: Language, phrase: &str) -> Option<Text> {
    let mut errors = AttemptError::ALL.iter().copied();
    let error = errors.find(|it| language != Language::English && it.to_string() == phrase)?;
    Some(attempt_error(error))
}

#[cfg(test)]
mod tests {
    use super::{AttemptError, logged};
    use crate::language::Language::{English, Portuguese};

    #[test]
    fn phrases_of_the_log_are_translated_one_by_one() {
        let verdict = "retry at 2026-11-21T12:00:00.000Z, endpoint paused";
        assert_eq!(logged(English, verdict), verdict);
        assert_eq!(
            logged(Portuguese, verdict),
            "nova tentativa em 2026-11-21T12:00:00.000Z, endpoint pausado"
        );
        let error = "failed to connect";
        assert_eq!(logged(Portuguese, error), error);
        for error in AttemptError::ALL {
            let text = error.to_string();
            assert_eq!(logged(English, &text), text);
            assert_ne!(logged(Portuguese, &text), text);
        }
    }
}
