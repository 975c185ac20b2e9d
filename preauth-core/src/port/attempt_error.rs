//! Why an attempt failed: one variant for each cause that an operator handles differently.

/// Declares every error with its code and its text.
macro_rules! attempt_errors {
    ($($(#[doc = $doc:literal])+ $error:ident = $code:literal, $text:literal;)+) => {
        /// Why an attempt failed.
        ///
        /// Its text is for logs; hosts store the [`code`](Self::code).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
        pub enum AttemptError {
            $($(#[doc = $doc])+ #[error($text)] $error,)+
        }

        impl AttemptError {
            /// All errors, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$error),+];

            /// The code that hosts store and API responses contain.
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
    /// The response status was not 2xx.
    Status = "STATUS", "answered with a status outside 2xx";
    /// The endpoint's URL is not allowed.
    UrlRefused = "URL_REFUSED", "url is not allowed";
    /// The receiver's name does not exist, or has no address.
    NameUnknown = "NAME_UNKNOWN", "name has no address";
    /// The receiver's name could not be resolved.
    LookupFailed = "LOOKUP_FAILED", "name could not be looked up";
    /// Name resolution timed out.
    LookupTimedOut = "LOOKUP_TIMED_OUT", "name was not looked up in time";
    /// An address of the receiver is not allowed.
    AddressRefused = "ADDRESS_REFUSED", "address is not allowed";
    /// The receiver refused the connection.
    ConnectionRefused = "CONNECTION_REFUSED", "connection was refused";
    /// No route to the host.
    Unreachable = "UNREACHABLE", "receiver cannot be reached";
    /// The connection timed out.
    ConnectTimedOut = "CONNECT_TIMED_OUT", "no connection in time";
    /// The receiver does not speak TLS: it may speak plain HTTP.
    NotTls = "NOT_TLS", "receiver does not speak tls";
    /// TLS version not supported: 1.2 or 1.3 is required.
    TlsVersion = "TLS_VERSION", "receiver speaks neither tls 1.2 nor tls 1.3";
    /// The certificate is for another name.
    CertificateName = "CERTIFICATE_NAME", "certificate is for another name";
    /// The certificate does not lead to a trusted root.
    CertificateUntrusted = "CERTIFICATE_UNTRUSTED", "certificate does not lead to a trusted root";
    /// The certificate has expired or is not valid yet.
    CertificateExpired = "CERTIFICATE_EXPIRED", "certificate has expired or is not valid yet";
    /// The TLS handshake failed for another reason, such as no common cipher suite.
    Tls = "TLS", "tls handshake failed";
    /// The TLS handshake timed out.
    TlsTimedOut = "TLS_TIMED_OUT", "tls handshake did not end in time";
    /// The connection broke before the response.
    Connection = "CONNECTION", "connection broke before the answer";
    /// The response head exceeds the limit.
    AnswerTooLarge = "ANSWER_TOO_LARGE", "answer's head is too large";
    /// The response was not HTTP.
    AnswerMalformed = "ANSWER_MALFORMED", "answer is not http";
    /// The exchange took longer than 10 seconds.
    TimedOut = "TIMED_OUT", "no answer within 10 seconds";
    /// The endpoint's secret could not be opened.
    Secret = "SECRET", "signing secret could not be opened";
}

impl AttemptError {
    /// The error with this code.
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
