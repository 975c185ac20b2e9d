//! Why an attempt to deliver an event failed, in words.

use preauth_core::port::AttemptError;

use crate::http::pages::words::Words;

use super::cell::Cell;

/// The words for the code of a stored error; a code of another version stands as it is.
pub(super) fn words(code: &str, w: Words) -> String {
    let known = AttemptError::of_code(code);
    known.map_or_else(|| code.to_owned(), |error| text(error, w).to_owned())
}

/// The error, with its code for those who hover over it, and for files.
pub(super) fn cell(code: &str, w: Words) -> Cell {
    Cell::coded(code, words(code, w))
}

const fn text(error: AttemptError, w: Words) -> &'static str {
    match error {
        AttemptError::Status => w.t("answered with an error", "resposta de erro"),
        AttemptError::UrlRefused => w.t("URL not allowed", "URL não permitida"),
        AttemptError::NameUnknown => w.t("name has no address", "nome sem endereço"),
        AttemptError::LookupFailed => w.t(
            "name could not be looked up",
            "não foi possível resolver o nome",
        ),
        AttemptError::LookupTimedOut => {
            w.t("name not looked up in time", "nome não resolvido a tempo")
        }
        AttemptError::AddressRefused => w.t("address not allowed", "endereço IP não permitido"),
        AttemptError::ConnectionRefused => w.t("connection refused", "conexão recusada"),
        AttemptError::Unreachable => w.t("unreachable", "inacessível"),
        AttemptError::ConnectTimedOut => w.t("no connection in time", "sem conexão a tempo"),
        AttemptError::NotTls => w.t("does not speak TLS", "não usa TLS"),
        AttemptError::TlsVersion => w.t("neither TLS 1.2 nor 1.3", "nem TLS 1.2 nem 1.3"),
        AttemptError::CertificateName => {
            w.t("certificate for another name", "certificado de outro nome")
        }
        AttemptError::CertificateUntrusted => w.t(
            "certificate of no trusted authority",
            "certificado sem autoridade confiável",
        ),
        AttemptError::CertificateExpired => {
            w.t("certificate not valid now", "certificado fora da validade")
        }
        AttemptError::Tls => w.t("TLS handshake failed", "falha na negociação TLS"),
        AttemptError::TlsTimedOut => w.t(
            "TLS handshake not ended in time",
            "negociação TLS não terminou a tempo",
        ),
        AttemptError::Connection => w.t(
            "connection broke before the answer",
            "conexão caiu antes da resposta",
        ),
        AttemptError::AnswerTooLarge => w.t(
            "head of the answer too large",
            "cabeçalho da resposta grande demais",
        ),
        AttemptError::AnswerMalformed => w.t("answer is not HTTP", "a resposta não é HTTP"),
        AttemptError::TimedOut => w.t("no answer within 10 seconds", "sem resposta em 10 segundos"),
        AttemptError::Secret => w.t(
            "signing secret could not be opened",
            "não foi possível abrir o segredo de assinatura",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{AttemptError, Words, words};
    use crate::language::Language;

    #[test]
    fn no_code_is_shown_but_that_of_another_version() {
        for language in [Language::English, Language::Portuguese] {
            let w = Words(language);
            for error in AttemptError::ALL {
                assert_ne!(words(error.code(), w), error.code());
            }
            assert_eq!(words("OF_ANOTHER_VERSION", w), "OF_ANOTHER_VERSION");
        }
    }
}
