//! Why an attempt failed, in as many ways as an operator can do something different about.

/// Why an attempt failed.
///
/// Its text is for logs; hosts keep the [`code`](Self::code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum AttemptError {
    /// The answer was not 2xx.
    #[error("answered with a status outside 2xx")]
    Status,
    /// The endpoint's URL is none that requests may be sent to.
    #[error("url is not allowed")]
    UrlRefused,
    /// The receiver's name does not exist, or has no address.
    #[error("name has no address")]
    NameUnknown,
    /// The receiver's name could not be resolved.
    #[error("name could not be looked up")]
    LookupFailed,
    /// As before, within the time there is.
    #[error("name was not looked up in time")]
    LookupTimedOut,
    /// An address of the receiver is none that may be connected to.
    #[error("address is not allowed")]
    AddressRefused,
    /// Nobody listens there.
    #[error("connection was refused")]
    ConnectionRefused,
    /// There is no way there.
    #[error("receiver cannot be reached")]
    Unreachable,
    /// Nobody answers there.
    #[error("no connection in time")]
    ConnectTimedOut,
    /// The receiver does not speak TLS, but plain HTTP, say.
    #[error("receiver does not speak tls")]
    NotTls,
    /// It speaks TLS of no version that is allowed: 1.2 or 1.3.
    #[error("receiver speaks neither tls 1.2 nor tls 1.3")]
    TlsVersion,
    /// The certificate is for another name.
    #[error("certificate is for another name")]
    CertificateName,
    /// No root that is trusted has issued the certificate.
    #[error("certificate does not lead to a trusted root")]
    CertificateUntrusted,
    /// The certificate is not valid yet, or not any more.
    #[error("certificate has expired or is not valid yet")]
    CertificateExpired,
    /// TLS failed in another way: no common cipher suite, say.
    #[error("tls handshake failed")]
    Tls,
    /// The handshake did not end within the time there is.
    #[error("tls handshake did not end in time")]
    TlsTimedOut,
    /// The connection broke before there was an answer.
    #[error("connection broke before the answer")]
    Connection,
    /// What came before the answer's body was more than anybody reads.
    #[error("answer's head is too large")]
    AnswerTooLarge,
    /// What came was not HTTP.
    #[error("answer is not http")]
    AnswerMalformed,
    /// The exchange took longer than 10 seconds.
    #[error("no answer within 10 seconds")]
    TimedOut,
    /// The endpoint's secret could not be opened.
    #[error("signing secret could not be opened")]
    Secret,
}

impl AttemptError {
    /// All of them, in the order in which an attempt meets them.
    pub const ALL: &'static [Self] = &[
        Self::Status,
        Self::UrlRefused,
        Self::NameUnknown,
        Self::LookupFailed,
        Self::LookupTimedOut,
        Self::AddressRefused,
        Self::ConnectionRefused,
        Self::Unreachable,
        Self::ConnectTimedOut,
        Self::NotTls,
        Self::TlsVersion,
        Self::CertificateName,
        Self::CertificateUntrusted,
        Self::CertificateExpired,
        Self::Tls,
        Self::TlsTimedOut,
        Self::Connection,
        Self::AnswerTooLarge,
        Self::AnswerMalformed,
        Self::TimedOut,
        Self::Secret,
    ];

    /// How hosts keep it and answers show it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Status => "STATUS",
            Self::UrlRefused => "URL_REFUSED",
            Self::NameUnknown => "NAME_UNKNOWN",
            Self::LookupFailed => "LOOKUP_FAILED",
            Self::LookupTimedOut => "LOOKUP_TIMED_OUT",
            Self::AddressRefused => "ADDRESS_REFUSED",
            Self::ConnectionRefused => "CONNECTION_REFUSED",
            Self::Unreachable => "UNREACHABLE",
            Self::ConnectTimedOut => "CONNECT_TIMED_OUT",
            Self::NotTls => "NOT_TLS",
            Self::TlsVersion => "TLS_VERSION",
            Self::CertificateName => "CERTIFICATE_NAME",
            Self::CertificateUntrusted => "CERTIFICATE_UNTRUSTED",
            Self::CertificateExpired => "CERTIFICATE_EXPIRED",
            Self::Tls => "TLS",
            Self::TlsTimedOut => "TLS_TIMED_OUT",
            Self::Connection => "CONNECTION",
            Self::AnswerTooLarge => "ANSWER_TOO_LARGE",
            Self::AnswerMalformed => "ANSWER_MALFORMED",
            Self::TimedOut => "TIMED_OUT",
            Self::Secret => "SECRET",
        }
    }

    /// The one that is kept under this code.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|error| error.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::AttemptError;

    #[test]
    fn every_code_is_that_of_one_error() {
        for error in AttemptError::ALL {
            assert_eq!(AttemptError::of_code(error.code()), Some(*error));
        }
        assert_eq!(AttemptError::of_code("status"), None);
    }
}
