//! What a request is about, for the audit log: the record and the company that its path names; and which
//! refusals of a role leave a row.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;
use preauth_core::value::{CompanyId, OperatorId, Timestamp};
use salvo::http::Request;

use crate::http::path_id;

use super::PREFIX;

/// Maximum length of an id in a path.
const MAX_ID_CHARS: usize = 36;
/// A refusal leaves a row unless the same one has left one within this time.
const REFUSED_AGAIN_AFTER: TimeDelta = TimeDelta::minutes(1);
/// Maximum number of refusals that are remembered; beyond it, further ones leave no row.
const MAX_REMEMBERED: usize = 4096;

/// The record that a path names, and its company if the path names that.
pub(super) struct Named {
    pub(super) record: String,
    pub(super) company: Option<CompanyId>,
}

impl Named {
    /// By a path's template and the values of its parameters. Nobody has validated these yet, so that what
    /// cannot be an id is left out.
    pub(super) fn by(template: &str, req: &Request) -> Self {
        let rest = template.strip_prefix(PREFIX).unwrap_or(template);
        let mut segments = rest.trim_start_matches('/').split('/');
        let kind = segments.next().unwrap_or_default();
        let parameter = segments.next();
        if parameter == Some("{cnpj}")
            && let Ok(cnpj) = path_id::cnpj(req)
        {
            return Self {
                record: format!("{kind}/{}", cnpj.as_str()),
                company: None,
            };
        }
        let has_id = parameter == Some("{id}");
        let id = req.params().get("id").filter(|id| has_id && is_id(id));
        let Some(id) = id.map(|id| id.to_ascii_lowercase()) else {
            return Self {
                record: kind.to_owned(),
                company: None,
            };
        };
        let company = CompanyId::parse(&id).ok().filter(|_| kind == "companies");
        let mut record = format!("{kind}/{id}");
        if let Ok(cnpj) = path_id::cnpj(req) {
            record = format!("{record}/blocked-suppliers/{}", cnpj.as_str());
        }
        Self { record, company }
    }
}

fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MAX_ID_CHARS).contains(&text.len()) && text.bytes().all(is_plain)
}

/// The refusals of roles that have left a row lately; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals(Arc<Mutex<HashMap<Refusal, Timestamp>>>);

/// An operator, `None` for `root`, and the action that was refused.
type Refusal = (Option<OperatorId>, &'static str);

impl Refusals {
    /// Whether a refusal at `now` leaves a row, which is remembered.
    pub(super) fn is_first(&self, refusal: Refusal, now: Timestamp) -> bool {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: Timestamp| now.since(at) < REFUSED_AGAIN_AFTER;
        if remembered.get(&refusal).copied().is_some_and(is_recent) {
            return false;
        }
        if remembered.len() >= MAX_REMEMBERED {
            remembered.retain(|_, at| is_recent(*at));
        }
        if remembered.len() >= MAX_REMEMBERED {
            return false;
        }
        remembered.insert(refusal, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_REMEMBERED, Refusals, TimeDelta, Timestamp};
    use preauth_core::value::OperatorId;
    use uuid::Uuid;

    #[test]
    fn a_refusal_leaves_one_row_a_minute() {
        let refusals = Refusals::default();
        let start = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let at = |seconds| start.saturating_add(TimeDelta::seconds(seconds));
        assert!(refusals.is_first((None, "payOperation"), at(0)));
        assert!(!refusals.is_first((None, "payOperation"), at(59)));
        assert!(refusals.is_first((None, "billOperation"), at(59)));
        assert!(refusals.is_first((None, "payOperation"), at(60)));
        for number in 0..10_000 {
            let operator = OperatorId::new(Uuid::from_u128(number));
            refusals.is_first((Some(operator), "payOperation"), at(60));
        }
        assert!(refusals.0.lock().unwrap().len() <= MAX_REMEMBERED);
        let other = OperatorId::new(Uuid::from_u128(20_000));
        assert!(!refusals.is_first((Some(other), "payOperation"), at(61)));
        assert!(refusals.is_first((Some(other), "payOperation"), at(120)));
    }
}
