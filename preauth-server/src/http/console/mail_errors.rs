//! Why a mail was not accepted, in words: the record has an English sentence around the mail server's own text,
//! which stays as it is.

use crate::http::pages::words::Words;
use crate::language::{Language, Text};
use crate::mail::{PHRASES, Phrase};

use super::cell::Cell;

/// How records begin, as [`crate::mail::NotTaken`] writes them.
const BEGINNINGS: [Text; 3] = [
    Text::new("refused: ", "recusado: "),
    Text::new("not taken yet: ", "ainda não aceito: "),
    Text::new(
        "no mail can be handed over: ",
        "nenhum e-mail pode ser entregue ao servidor: ",
    ),
];

const SILENCE: Text = Text::new("no answer within ", "sem resposta em ");

/// The error, with the record's text for those who hover over it, and for files.
pub(super) fn cell(recorded: &str, w: Words) -> Cell {
    let shown = words(recorded, w);
    if shown == recorded {
        return Cell::text(recorded);
    }
    Cell::coded(recorded, shown)
}

fn words(recorded: &str, w: Words) -> String {
    let begins = BEGINNINGS.iter().find_map(|begin| {
        let rest = recorded.strip_prefix(begin.of(Language::English))?;
        Some((begin.of(w.0), rest))
    });
    let (begin, rest) = begins.unwrap_or(("", recorded));
    let step = PHRASES.iter().find_map(|it| step(rest, *it, w));
    format!("{begin}{}", step.unwrap_or_else(|| silence(rest, w)))
}

/// The failure of a step before the mail itself: the server, what it does not do, why, and what to do.
fn step(text: &str, Phrase { what, next }: Phrase, w: Words) -> Option<String> {
    let middle = format!(" {}: ", what.of(Language::English));
    let (server, rest) = text.split_once(&middle)?;
    let why = rest.strip_suffix(next.of(Language::English))?;
    let why = silence(why.strip_suffix("; ")?, w);
    let (what, next) = (what.of(w.0), next.of(w.0));
    Some(format!("{server} {what}: {why}; {next}"))
}

fn silence(why: &str, w: Words) -> String {
    let seconds = why.strip_prefix(SILENCE.of(Language::English));
    seconds.map_or_else(
        || why.to_owned(),
        |seconds| format!("{}{seconds}", SILENCE.of(w.0)),
    )
}

#[cfg(test)]
mod tests {
    use super::{BEGINNINGS, Language, Words, words};
    use crate::mail::NotTaken;

    const PT: Words = Words(Language::Portuguese);

    #[test]
    fn every_record_begins_in_the_reader_s_language() {
        let reason = || "550 5.1.1 no such user".into();
        let failures = [
            NotTaken::Refused(reason()),
            NotTaken::NotYet(reason()),
            NotTaken::Nobody(reason()),
        ];
        for (failure, begin) in failures.iter().zip(BEGINNINGS) {
            let recorded = failure.to_string();
            let shown = format!("{}550 5.1.1 no such user", begin.of(PT.0));
            assert_eq!(words(&recorded, PT), shown);
            assert_eq!(words(&recorded, Words(Language::English)), recorded);
        }
    }

    #[test]
    fn a_failed_step_names_the_next_one() {
        let recorded = "no mail can be handed over: mail.example.com:587 cannot be reached: no answer within 10 s; \
                        check mail.smtp_host, mail.smtp_port and mail.smtp_tls";
        assert_eq!(
            words(recorded, PT),
            "nenhum e-mail pode ser entregue ao servidor: mail.example.com:587 não pode ser acessado: sem resposta \
             em 10 s; confira mail.smtp_host, mail.smtp_port e mail.smtp_tls"
        );
        assert_eq!(words("of another version", PT), "of another version");
    }
}
