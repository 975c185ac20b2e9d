//! The command line.

mod config_check;
mod migrate;
mod sandbox;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::log::chain;

/// Receivables-advance pre-authorizations: the integration API, its platform, its sandbox.
#[derive(Debug, Parser)]
#[command(name = "preauth-server", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything with demo data, to try the API.
    Sandbox(sandbox::SandboxArgs),
    /// Run the service.
    Serve(serve::ServeArgs),
    /// Bring the database's schema up to date, and end.
    Migrate(serve::ServeArgs),
    /// Look at the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every setting with its source, secrets hidden, and say what is wrong.
    Check(serve::ServeArgs),
}

/// What a command failed with: a sentence for the operator, next step included.
pub type CliError = Box<dyn std::error::Error + Send + Sync>;

/// Runs the command line.
pub async fn run(cli: Cli) -> ExitCode {
    let outcome = match cli.command {
        Command::Sandbox(args) => sandbox::run(args).await,
        Command::Serve(args) => serve::run(&args).await,
        Command::Migrate(args) => migrate::run(&args).await,
        Command::Config(ConfigCommand::Check(args)) => config_check::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the command line speaks to its user")]
fn report(error: &(dyn std::error::Error + 'static)) {
    eprintln!("error: {}", chain(error));
}
