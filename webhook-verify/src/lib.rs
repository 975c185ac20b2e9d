//! Verifies signed webhooks.
