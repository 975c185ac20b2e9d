//! The facts that an endpoint passes to the log and the metrics.

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::value::{ApiKeyId, OperatorName};
use salvo::Depot;

/// The facts about a request for the log and the metrics.
#[derive(Debug, Default)]
pub(super) struct RequestNotes {
    /// The template of the path, if an endpoint matched.
    pub route: Option<Arc<str>>,
    /// The key, if it was recognised.
    pub key: Option<ApiKeyId>,
    /// The operator, if one was recognised.
    pub operator: Option<OperatorName>,
    /// The code of the refusal, if there is one.
    pub code: Option<ErrorCode>,
    /// The cause, for the log only.
    pub cause: Option<String>,
    /// Its head office has too many requests in progress.
    pub is_crowded: bool,
    /// More writes come than are done. Thousands a second may be refused for it.
    pub is_of_overload: bool,
}

impl RequestNotes {
    /// The notes of this request.
    pub(super) fn of(depot: &mut Depot) -> &mut Self {
        if !depot.contains_typed::<Self>() {
            depot.insert_typed(Self::default());
        }
        #[expect(clippy::expect_used, reason = "it was put there just now")]
        depot
            .get_typed_mut::<Self>()
            .expect("the notes are in the depot")
    }
}
