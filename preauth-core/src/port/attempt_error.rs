//! Why an attempt failed, in as many ways as an operator can do something different about.

/// Declares every error with its code and its text, in the order in which an attempt meets them.
macro_rules! attempt_errors {
    ($($(#[doc = $doc:literal])+ $error:ident = $code:literal, $text:literal;)+) => {
        /// Why an attempt failed.
        ///
        /// Its text is for logs; hosts keep the [`code`](Self::code).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
        pub enum AttemptError {
            $($(#[doc = $doc])+ #[error($text)] $error,)+
        }

        impl AttemptError {
            /// All of them, in the order in which an attempt meets them.
            pub const ALL: &'static [Self] = &[$(Self::$error),+];

            /// How hosts keep it and answers show it.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$error => $code,)+
                }
            }
        }
    };
}

attempt_errors! {
    /// The answer was not 2xx.
    Status = "STATUS", "answered with a status outside 2xx";
    /// The endpoint's URL is none that requests may be sent to.
    UrlRefused = "URL_REFUSED", "url is not allowed";
    /// The receiver's name does not exist, or has no address.
    NameUnknown = "NAME_UNKNOWN", "name has no address";
    /// The receiver's name could not be resolved.
    LookupFailed = "LOOKUP_FAILED", "name could not be looked up";
    /// As before, within the time there is.
    LookupTimedOut = "LOOKUP_TIMED_OUT", "name was not looked up in time";
    /// An address of the receiver is none that may be connected to.
    AddressRefused = "ADDRESS_REFUSED", "address is not allowed";
    /// Nobody listens there.
    ConnectionRefused = "CONNECTION_REFUSED", "connection was refused";
    /// There is no way there.
    Unreachable = "UNREACHABLE", "receiver cannot be reached";
    /// Nobody answers there.
    ConnectTimedOut = "CONNECT_TIMED_OUT", "no connection in time";
    /// The receiver does not speak TLS, but plain HTTP, say.
    NotTls = "NOT_TLS", "receiver does not speak tls";
    /// It speaks TLS of no version that is allowed: 1.2 or 1.3.
    TlsVersion = "TLS_VERSION", "receiver speaks neither tls 1.2 nor tls 1.3";
    /// The certificate is for another name.
    CertificateName = "CERTIFICATE_NAME", "certificate is for another name";
    /// No root that is trusted has issued the certificate.
    CertificateUntrusted = "CERTIFICATE_UNTRUSTED", "certificate does not lead to a trusted root";
    /// The certificate is not valid yet, or not any more.
    CertificateExpired = "CERTIFICATE_EXPIRED", "certificate has expired or is not valid yet";
    /// TLS failed in another way: no common cipher suite, say.
    Tls = "TLS", "tls handshake failed";
    /// The handshake did not end within the time there is.
    TlsTimedOut = "TLS_TIMED_OUT", "tls handshake did not end in time";
    /// The connection broke before there was an answer.
    Connection = "CONNECTION", "connection broke before the answer";
    /// What came before the answer's body was more than anybody reads.
    AnswerTooLarge = "ANSWER_TOO_LARGE", "answer's head is too large";
    /// What came was not HTTP.
    AnswerMalformed = "ANSWER_MALFORMED", "answer is not http";
    /// The exchange took longer than 10 seconds.
    TimedOut = "TIMED_OUT", "no answer within 10 seconds";
    /// The endpoint's secret could not be opened.
    Secret = "SECRET", "signing secret could not be opened";
}

impl AttemptError {
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
