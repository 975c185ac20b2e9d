//! Paths of the integration API.
//! [Contract, "Endpoints"](https://example.com/preauth/blob/main/docs/reference.md#endpoints).

use crate::value::OperationId;

/// The prefix of every path.
pub const PREFIX: &str = "/api/integration/v1";

/// Create (POST) and list (GET).
pub const PRE_AUTHORIZATIONS: &str = "/api/integration/v1/pre-authorizations";

/// Create many (POST).
pub const BATCH: &str = "/api/integration/v1/pre-authorizations/batch";

/// Try a create without making it (POST).
pub const VALIDATE: &str = "/api/integration/v1/pre-authorizations/validate";

/// Events on request (GET).
pub const EVENTS: &str = "/api/integration/v1/events";

/// Get (GET), as a route with the parameter `id`.
pub const PRE_AUTHORIZATION_ROUTE: &str = "/api/integration/v1/pre-authorizations/{id}";

/// Cancel (POST), as a route with the parameter `id`.
pub const CANCEL_ROUTE: &str = "/api/integration/v1/pre-authorizations/{id}/cancel";

/// The path to get one operation.
///
/// ```
/// use preauth_core::value::OperationId;
/// use preauth_core::wire::path;
///
/// let id = OperationId::parse("42")?;
/// assert_eq!(path::pre_authorization(id), "/api/integration/v1/pre-authorizations/42");
/// # Ok::<(), preauth_core::value::IntegerIdError>(())
/// ```
#[must_use]
pub fn pre_authorization(id: OperationId) -> String {
    format!("{PRE_AUTHORIZATIONS}/{id}")
}

/// The path to cancel one operation.
#[must_use]
pub fn cancel(id: OperationId) -> String {
    format!("{PRE_AUTHORIZATIONS}/{id}/cancel")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Contract: service/four-operations version/v1
    #[test]
    fn routes_and_paths_agree() {
        let id = OperationId::new(7).unwrap();
        assert_eq!(
            PRE_AUTHORIZATION_ROUTE.replace("{id}", "7"),
            pre_authorization(id)
        );
        assert_eq!(CANCEL_ROUTE.replace("{id}", "7"), cancel(id));
        assert!(PRE_AUTHORIZATIONS.starts_with(PREFIX));
    }
}
