//! The life cycle of an operation from `docs/decisions.md`, written a second time for the tests.

/// One row: `action` leads from any status of `from` to `to` and sends `event`.
pub(crate) struct Row {
    pub(crate) action: &'static str,
    pub(crate) from: &'static [&'static str],
    pub(crate) to: &'static str,
    pub(crate) event: &'static str,
    pub(crate) stage: Option<&'static str>,
    /// The default reason.
    pub(crate) default_reason: Option<&'static str>,
}

/// Every action on an operation over HTTP; `cancel` is the ERP's.
pub(crate) const TABLE: [Row; 18] = [
    open(
        "request",
        &["IN_PRE_AUTH"],
        "TO_APPROVE",
        "anticipation.requested",
    ),
    closing(
        "decline",
        &["IN_PRE_AUTH"],
        "pre_authorization.declined",
        "PRE_AUTH",
        "Recusada pelo fornecedor",
    ),
    closing(
        "cancel",
        &["IN_PRE_AUTH"],
        "pre_authorization.revoked",
        "PRE_AUTH",
        "Cancelada via integração",
    ),
    closing(
        "withdraw",
        &["IN_PRE_AUTH"],
        "pre_authorization.revoked",
        "PRE_AUTH",
        "Cancelada pela construtora",
    ),
    open(
        "verify",
        &["IN_VERIFICATION"],
        "TO_APPROVE",
        "anticipation.requested",
    ),
    open(
        "approve",
        &["TO_APPROVE"],
        "IN_ANALYSIS",
        "anticipation.approved",
    ),
    open(
        "release",
        &["IN_ANALYSIS"],
        "TO_PAY",
        "anticipation.analysis_approved",
    ),
    open("pay", &["TO_PAY"], "TO_BILL", "anticipation.paid"),
    open(
        "return-payout",
        &["TO_BILL", "TO_RECEIVE"],
        "TO_PAY",
        "anticipation.payout_returned",
    ),
    open("bill", &["TO_BILL"], "TO_RECEIVE", "anticipation.billed"),
    open(
        "conclude",
        &["TO_RECEIVE"],
        "CONCLUDED",
        "anticipation.concluded",
    ),
    closing(
        "reprove by COMPANY",
        &["IN_VERIFICATION", "TO_APPROVE"],
        "anticipation.reproved",
        "REQUEST",
        "Reprovada pela construtora",
    ),
    closing(
        "reprove by PLATFORM",
        &["IN_VERIFICATION", "TO_APPROVE", "IN_ANALYSIS", "TO_PAY"],
        "anticipation.reproved",
        "SYSTEM",
        "Reprovada pela plataforma",
    ),
    open(
        "reopen",
        &["REPROVED"],
        "IN_ANALYSIS",
        "anticipation.reopened",
    ),
    open(
        "extend",
        &["TO_RECEIVE"],
        "TO_RECEIVE",
        "anticipation.extension_created",
    ),
    open(
        "conclude extension",
        &["TO_RECEIVE"],
        "TO_RECEIVE",
        "anticipation.extension_concluded",
    ),
    open(
        "cancel extension",
        &["TO_RECEIVE"],
        "TO_RECEIVE",
        "anticipation.extension_canceled",
    ),
    closing(
        "expire",
        &["IN_PRE_AUTH"],
        "pre_authorization.expired",
        "SYSTEM",
        "Pré-autorização expirada",
    ),
];

pub(crate) fn row(action: &str) -> &'static Row {
    let found = TABLE.iter().find(|row| row.action == action);
    found.unwrap_or_else(|| panic!("{action} is in the table"))
}

const fn open(
    action: &'static str,
    from: &'static [&'static str],
    to: &'static str,
    event: &'static str,
) -> Row {
    Row {
        action,
        from,
        to,
        event,
        stage: None,
        default_reason: None,
    }
}

const fn closing(
    action: &'static str,
    from: &'static [&'static str],
    event: &'static str,
    stage: &'static str,
    default_reason: &'static str,
) -> Row {
    Row {
        action,
        from,
        to: "REPROVED",
        event,
        stage: Some(stage),
        default_reason: Some(default_reason),
    }
}

/// The status after `row`: a reopening returns to the status of the refusal, at most to
/// `IN_ANALYSIS`.
pub(crate) fn leads(row: &Row, refused_in: &'static str) -> &'static str {
    match (row.action, refused_in) {
        ("reopen", "IN_VERIFICATION" | "TO_APPROVE") => refused_in,
        _ => row.to,
    }
}
