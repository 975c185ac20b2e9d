//! Why an attempt to deliver an event failed, in words for people.

use preauth_core::port::AttemptError;

use crate::language::Text;

/// Why an attempt failed; the log has the English of its own.
pub(crate) const fn attempt_error(error: AttemptError) -> Text {
    match error {
        AttemptError::Status => Text::new("answered with an error", "resposta de erro"),
        AttemptError::UrlRefused => Text::new("URL not allowed", "URL não permitida"),
        AttemptError::NameUnknown => Text::new("name has no address", "nome sem endereço"),
        AttemptError::LookupFailed => Text::new(
            "name could not be looked up",
            "não foi possível resolver o nome",
        ),
        AttemptError::LookupTimedOut => {
            Text::new("name not looked up in time", "nome não resolvido a tempo")
        }
        AttemptError::AddressRefused => {
            Text::new("address not allowed", "endereço IP não permitido")
        }
        AttemptError::ConnectionRefused => Text::new("connection refused", "conexão recusada"),
        AttemptError::Unreachable => Text::new("unreachable", "inacessível"),
        AttemptError::ConnectTimedOut => Text::new("no connection in time", "sem conexão a tempo"),
        AttemptError::NotTls => Text::new("does not speak TLS", "não usa TLS"),
        AttemptError::TlsVersion => Text::new("neither TLS 1.2 nor 1.3", "nem TLS 1.2 nem 1.3"),
        AttemptError::CertificateName => {
            Text::new("certificate for another name", "certificado de outro nome")
        }
        AttemptError::CertificateUntrusted => Text::new(
            "certificate of no trusted authority",
            "certificado sem autoridade confiável",
        ),
        AttemptError::CertificateExpired => {
            Text::new("certificate not valid now", "certificado fora da validade")
        }
        AttemptError::Tls => Text::new("TLS handshake failed", "falha na negociação TLS"),
        AttemptError::TlsTimedOut => Text::new(
            "TLS handshake not ended in time",
            "negociação TLS não terminou a tempo",
        ),
        AttemptError::Connection => Text::new(
            "connection broke before the answer",
            "conexão caiu antes da resposta",
        ),
        AttemptError::AnswerTooLarge => Text::new(
            "head of the answer too large",
            "cabeçalho da resposta grande demais",
        ),
        AttemptError::AnswerMalformed => Text::new("answer is not HTTP", "a resposta não é HTTP"),
        AttemptError::TimedOut => {
            Text::new("no answer within 10 seconds", "sem resposta em 10 segundos")
        }
        AttemptError::Secret => Text::new(
            "signing secret could not be opened",
            "não foi possível abrir o segredo de assinatura",
        ),
    }
}
