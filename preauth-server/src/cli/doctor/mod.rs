//! `doctor`: examines what `serve` needs of this machine, its network and its database, and changes nothing but an
//! object that it writes to the bucket of the invoice files and removes.

mod clock;
mod database;
mod disk;
mod files;
mod listeners;
mod master_keys;
mod network;
mod report;
mod secrets;

use std::process::ExitCode;

use clap::Args;

use crate::config::{Config, Layers};

use super::serve::ServeArgs;
use super::{CliError, descriptors};

use report::Report;

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// A receiver to reach, like `https://erp.example.com/hooks`: its name is looked up and its TLS
    /// certificate checked, nothing is sent. May be repeated; without it nothing is connected to but
    /// the configured database, resolver, mail server and bucket, in which an object is written and removed.
    #[arg(long = "url", value_name = "URL")]
    urls: Vec<String>,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

/// Exits with 0 when no check failed, and with 1 otherwise.
pub(super) async fn run(args: &DoctorArgs) -> Result<ExitCode, CliError> {
    let mut report = Report::new(args.json);
    let version = env!("CARGO_PKG_VERSION");
    report.ok("version", &format!("preauth-server {version}"));
    clock::time_zone(&mut report);
    network::modules(&mut report);
    let layers = args.serve.layers();
    if let Some(config) = configuration(&layers, &mut report) {
        machine(&config, &mut report);
        let checkup = database::examine(&config, &mut report).await;
        master_keys::examine(&config, checkup.as_ref(), &mut report);
        clock::compare(checkup.as_ref(), &mut report);
        files::examine(&config, &mut report).await;
        listeners::examine(&config, &mut report);
        network::examine(&config, &args.urls, &mut report).await;
    }
    report.end()
}

fn configuration(layers: &Layers, report: &mut Report) -> Option<Config> {
    match Config::from_layers(layers) {
        Ok(config) => {
            report.ok("configuration", "every setting is usable");
            Some(config)
        }
        Err(error) => {
            for problem in &error.0 {
                report.failed("configuration", problem, None);
            }
            None
        }
    }
}

fn machine(config: &Config, report: &mut Report) {
    secrets::examine(config, report);
    disk::examine(config, report);
    match descriptors::shortage(config.connections.max_connections) {
        None => report.ok(
            "descriptors",
            "enough file descriptors for every connection",
        ),
        Some(descriptors::Shortage { limit, needed }) => report.warning(
            "descriptors",
            &format!("{}: {limit} of {needed}", descriptors::SHORT),
            descriptors::RAISE,
        ),
    }
}
