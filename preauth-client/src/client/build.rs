//! From settings to a client.

use std::sync::Arc;

use super::{Client, Inner};
use crate::{ClientBuilder, ConfigError};

impl ClientBuilder {
    /// Validates the settings and builds the client. Nothing is sent.
    pub fn build(self) -> Result<Client, ConfigError> {
        let (base_url, caller) = self.into_parts()?;
        let inner = Arc::new(Inner { base_url, caller });
        Ok(Client { inner })
    }
}
