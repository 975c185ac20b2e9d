//! POST /extensions/{id}/conclude and /cancel: close an open extension.

use preauth_core::operation::Command;
use preauth_core::value::ExtensionId;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::path_id;
use crate::http::platform::endpoint::Endpoint;
use crate::http::platform::{PlatformApi, operations};
use crate::http::reply::Reply;

/// The extension was paid: the boleto is replaced.
pub(in crate::http::platform) const CONCLUDE: Settle = Settle {
    command: |id| Command::ConcludeExtension { id },
};
/// The boleto stays unchanged.
pub(in crate::http::platform) const CANCEL: Settle = Settle {
    command: |id| Command::CancelExtension { id },
};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Settle {
    command: fn(ExtensionId) -> Command,
}

#[async_trait]
impl Endpoint for Settle {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, ExtensionId::parse)?;
        let operation = super::extension(api, id).await?.operation;
        operations::perform(api, operation, &(self.command)(id)).await?;
        super::reply(api, StatusCode::OK, id).await
    }
}
