//! The operator token, judged before anything else is looked at.

use preauth_core::ErrorCode;
use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::http::authorization::bearer;
use crate::http::error::ApiError;
use crate::http::handler;
use crate::secret::OperatorToken;

use super::PREFIX;

/// Refuses a request that does not present the operator token.
pub(super) fn judge(token: &OperatorToken, req: &Request) -> Result<(), ApiError> {
    match bearer(req) {
        Some(presented) if token.admits(&presented) => Ok(()),
        Some(_) | None => Err(ApiError::new(ErrorCode::PlatformTokenInvalid)),
    }
}

/// A layer of the private listener's service that judges the token where no endpoint does: on paths
/// and methods of this API that do not exist, so that strangers cannot tell which do.
#[derive(Clone, Debug)]
pub(super) struct Unmatched {
    /// What every caller presents.
    pub(super) token: OperatorToken,
}

#[async_trait]
impl Handler for Unmatched {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        // The framework sets a status before the service's layers only when no route matched.
        let is_unmatched = res.status_code.is_some();
        if is_unmatched
            && req.uri().path().starts_with(PREFIX)
            && let Err(refusal) = judge(&self.token, req)
        {
            handler::refuse(refusal, depot, res);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::secret::OperatorToken;
    use salvo::http::Request;
    use salvo::http::header::{AUTHORIZATION, HeaderValue};

    fn is_admitted(headers: &[&'static str]) -> bool {
        let token = OperatorToken::parse("operator-token-of-the-tests").unwrap();
        let mut req = Request::new();
        for header in headers {
            req.headers_mut()
                .append(AUTHORIZATION, HeaderValue::from_static(header));
        }
        judge(&token, &req).is_ok()
    }

    #[test]
    fn only_the_operator_token_is_admitted() {
        assert!(is_admitted(&["Bearer operator-token-of-the-tests"]));
        for refused in [
            &[][..],
            &["Bearer operator-token-of-the-testS"],
            &["Bearer operator-token-of-the-test"],
            &["Basic operator-token-of-the-tests"],
            &["operator-token-of-the-tests"],
            &[
                "Bearer operator-token-of-the-tests",
                "Bearer operator-token-of-the-tests",
            ],
        ] {
            assert!(!is_admitted(refused), "{refused:?}");
        }
    }
}
