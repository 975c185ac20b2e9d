//! Refusals of the platform API as answers.

use crate::directory::DirectoryError;
use crate::http::error::ApiError;
use crate::http::{english, messages};

pub(in crate::http) use crate::http::refusal::Refusal;

impl Refusal {
    /// Converts a conflict in the directory into this refusal.
    pub(super) fn on_conflict(self) -> impl FnOnce(DirectoryError) -> ApiError {
        |error| match error {
            DirectoryError::Conflict => self.into(),
            DirectoryError::NotFound
            | DirectoryError::InProgress
            | DirectoryError::Unavailable(_)
            | DirectoryError::Unknown(_) => error.into(),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code()).in_both(messages::refusal(&refusal), english::refusal(&refusal))
    }
}
