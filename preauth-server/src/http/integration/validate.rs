//! POST /pre-authorizations/validate: tries a create, and makes nothing.

use preauth_core::value::Scope;
use preauth_core::wire::{ValidatedSupplier, Validation};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::body;
use crate::http::caller::Caller;
use crate::http::convert::{self, Texts};
use crate::http::error::ApiError;
use crate::http::reply::Reply;

use super::{Endpoint, IntegrationApi, create};

pub(super) struct Validate;

#[async_trait]
impl Endpoint for Validate {
    const SCOPE: Scope = Scope::PreauthWrite;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        caller.require_construction_head_office()?;
        let tree = body::json(req).await?;
        let offer = convert::offer(&tree, None, caller.head_office, Texts::Sent)?;
        if let Some(magic) = api.magic {
            magic.check_offer(api, &caller, &offer).await?;
        }
        api.gate.check_again(&caller, Self::SCOPE, req).await?;
        let now = api.clock.now();
        let accepted = api.operations.validate(&offer, now).await;
        let accepted = accepted.map_err(|error| create::refused(error, &offer, now))?;
        let operation = accepted.operation;
        let supplier = ValidatedSupplier::new(
            operation.supplier.cnpj,
            operation.supplier.name.as_str().to_owned(),
            accepted.supplier_is_known,
        );
        let Some(expires_at) = operation.expires_at else {
            return Err(ApiError::internal("an offer without an end"));
        };
        let ignored = convert::ignored_fields(&tree);
        let validation = Validation::new(expires_at, supplier).ignoring(ignored);
        let json = serde_json::to_string(&validation).map_err(ApiError::internal)?;
        Ok(Reply::json(StatusCode::OK, json))
    }
}
