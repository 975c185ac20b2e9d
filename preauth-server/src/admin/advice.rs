//! The next step after a refusal, where it is known: for operators, in English.

/// The next step after a refusal with this code.
pub(super) fn on(code: &str) -> Option<&'static str> {
    let row = ADVICE.iter().find(|(known, _)| *known == code);
    row.map(|(_, advice)| *advice)
}

const ADVICE: &[(&str, &str)] = &[
    (
        "RESOURCE_NOT_FOUND",
        "check the id; `company list` shows companies, and the `list` of each noun its records",
    ),
    (
        "ANTICIPATION_NOT_FOUND",
        "`operation list` shows the operations",
    ),
    (
        "ANTICIPATION_INVALID_TRANSITION",
        "it does not stand where this can be done; its `show` says where it stands",
    ),
    (
        "PRE_AUTH_DUPLICATE_INVOICE",
        "`operation show` tells about the operation that holds the invoice",
    ),
    (
        "IDEMPOTENCY_KEY_REUSED",
        "this key has created something else; give another --idempotency-key, or none",
    ),
    (
        "IDEMPOTENCY_IN_PROGRESS",
        "the first request with this key is still being processed; repeat the command",
    ),
    (
        "RESPONSIBLE_USER_REFUSED",
        "the user must be active, of this very company, and have both permissions; see `user set`",
    ),
    (
        "ENDPOINT_NOT_HEAD_OFFICE",
        "name the head office; `company show` tells which it is",
    ),
    (
        "ENDPOINT_URL_REFUSED",
        "webhooks go to https on port 443 of a public address, without user and password",
    ),
    (
        "CREDIT_ANALYSIS_DUE_DATE_EXCEEDED",
        "`credit show` tells what the company may offer",
    ),
    (
        "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED",
        "`credit show` tells what the company may offer",
    ),
    (
        "NOT_FOUND",
        "that server has no such command; is it the platform's address, and of this version?",
    ),
    (
        "METHOD_NOT_ALLOWED",
        "that server has no such command; is it of this version?",
    ),
    (
        "SERVICE_UNAVAILABLE",
        "nothing was done; try again in a moment",
    ),
    (
        "INTERNAL_ERROR",
        "the server's log has the cause under the request id",
    ),
];

#[cfg(test)]
mod tests {
    use super::ADVICE;
    use preauth_core::ErrorCode;

    #[test]
    fn advice_is_given_on_codes_that_exist() {
        for (code, _) in ADVICE {
            assert!(ErrorCode::parse(code).is_ok(), "{code}");
        }
    }
}
