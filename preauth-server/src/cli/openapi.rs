//! `openapi`: the machine-readable description of an API, as it is served and checked in.

use clap::Subcommand;

use crate::http::openapi::{self, Form};
use crate::stdout;

use super::CliError;

#[derive(Clone, Copy, Debug, Subcommand)]
pub(super) enum OpenapiCommand {
    /// The API for ERPs, with its webhook.
    Integration,
    /// The same in OpenAPI 3.0.3 with JSON bodies only, for code generators.
    #[command(name = "integration-3.0")]
    IntegrationIn30,
    /// The same with multipart bodies only, for creates with an invoice file.
    #[command(name = "integration-3.0-multipart")]
    MultipartIn30,
    /// The API of the platform's own people.
    Platform,
}

pub(super) fn run(api: OpenapiCommand) -> Result<(), CliError> {
    let text = match api {
        OpenapiCommand::Integration => openapi::integration(),
        OpenapiCommand::IntegrationIn30 => openapi::integration_in_3_0(Form::Json),
        OpenapiCommand::MultipartIn30 => openapi::integration_in_3_0(Form::Multipart),
        OpenapiCommand::Platform => openapi::platform(),
    };
    Ok(stdout::print(&text)?)
}
