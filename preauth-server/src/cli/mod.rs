//! The command line.

mod abandon_master_key;
mod adopt;
mod audit;
mod backup;
mod completions;
mod config_check;
mod descriptors;
mod doctor;
mod groups;
mod listen;
mod manual;
mod migrate;
mod moment;
mod openapi;
mod probe;
mod reload;
mod restore;
pub(crate) mod sandbox;
mod serve;

use std::fmt;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

use crate::admin::{self, AdminCommand, Failure};
use crate::language::Language;
use crate::log::chain;

/// Receivables-advance pre-authorizations: the integration API, its platform, its sandbox.
#[derive(Debug, Parser)]
#[command(name = "preauth-server", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Language of what commands print; by default that of the locale (`LC_ALL`, `LC_MESSAGES`,
    /// `LANG`). Help and the log are English.
    #[arg(long, global = true, value_name = "LANGUAGE", display_order = 102)]
    lang: Option<Language>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything with demo data, to try the API.
    Sandbox(sandbox::SandboxArgs),
    /// Run the service.
    ///
    /// All other settings stand in the file or in `PREAUTH_` variables; `config check` prints each.
    Serve(serve::RunArgs),
    /// Bring the database's schema up to date, and end.
    ///
    /// There is no way back to an older schema: make a backup before.
    Migrate(migrate::MigrateArgs),
    /// Receive webhooks on this machine: verify and print each, and misbehave on demand.
    Listen(listen::ListenArgs),
    /// Play the sender to a receiver of webhooks, and report what it does right and wrong.
    ///
    /// Use the secret of a test environment: the receiver takes what is sent for genuine. It ends with
    /// 0 when the receiver has no fault, with 1 when it has one, with 2 when nothing could be tried.
    Probe(probe::ProbeArgs),
    /// Examine what `serve` needs: clock, database, disks, secret files, listeners, resolver, mail server.
    ///
    /// It reads the same configuration and changes nothing; run it as the server's user. One line for
    /// each check: ok, warning or failed, with the next step. It ends with 1 when a check failed.
    #[command(
        after_help = "Example:\n  preauth-server doctor --config preauth.toml --url https://erp.example.com/hooks"
    )]
    Doctor(doctor::DoctorArgs),
    /// Check the database against the business rules.
    ///
    /// It may run beside the servers that work on the database. It ends with 0 when every rule holds,
    /// with 1 when one does not, with 2 when it could not look.
    Audit(audit::AuditArgs),
    /// Copy the database and the invoice files to a new folder, beside the servers that work on them.
    #[command(after_help = "Example:\n  preauth-server backup --data preauth-data backups/monday")]
    Backup(backup::BackupArgs),
    /// Restore a backup into an empty database, which stays silent until `adopt`.
    #[command(after_help = "Example:\n  preauth-server restore backups/monday --data preauth-data")]
    Restore(restore::RestoreArgs),
    /// Give up a master key that is lost for good: what it encrypted ends, its endpoints are paused
    /// until each has a new signing secret, and the server starts again. Asks for confirmation.
    #[command(
        after_help = "Example:\n  preauth-server abandon-master-key 5f3a09c1 --config preauth.toml"
    )]
    AbandonMasterKey(abandon_master_key::AbandonArgs),
    /// Make a database this deployment's, so that webhooks and mails go out from it: after a
    /// restore, or when a copy goes into service. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server adopt --config preauth.toml")]
    Adopt(adopt::AdoptArgs),
    /// Look at the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the machine-readable description (OpenAPI 3.1) of an API.
    #[command(subcommand)]
    Openapi(openapi::OpenapiCommand),
    /// Print what a shell needs to complete commands and options.
    #[command(after_help = "Example:\n  preauth-server completions bash")]
    Completions(completions::CompletionsArgs),
    /// Write a page for `man` of each command to a folder.
    Manual(manual::ManualArgs),
    #[command(flatten)]
    Admin(AdminCommand),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every setting with its source, secrets hidden, and report what is wrong.
    Check(serve::ServeArgs),
}

/// The failure of a command: a sentence for the operator, with the next step.
pub type CliError = Box<dyn std::error::Error + Send + Sync>;

/// The failure of a command in its user's language, with its causes.
#[derive(Debug)]
struct LocalizedError(String);

impl fmt::Display for LocalizedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LocalizedError {}

/// The command line, as parsed and as shown by its help.
#[must_use]
pub fn command() -> clap::Command {
    groups::arrange(Cli::command())
}

/// Parses the arguments of this process; prints an error and exits with 2 if they are invalid.
#[must_use]
pub fn read() -> Cli {
    let matches = command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The exit code of an audit that could not run; 1 means that it found violations.
const COULD_NOT_LOOK: u8 = 2;

/// Runs the command line.
pub async fn run(cli: Cli) -> ExitCode {
    if let Err(error) = without_dumps() {
        return failed(&error, ExitCode::FAILURE);
    }
    descriptors::raise_limit();
    let locale = || Language::of_locale(|name| std::env::var(name).ok());
    let language = cli.lang.unwrap_or_else(locale);
    let outcome = match cli.command {
        Command::Sandbox(args) => sandbox::run(args, language).await,
        Command::Serve(args) => serve::run(&args).await,
        Command::Migrate(args) if args.check => {
            return migrate::check(&args)
                .await
                .unwrap_or_else(|error| failed(&*error, ExitCode::from(migrate::UNSUPPORTED)));
        }
        Command::Migrate(args) => migrate::run(&args).await,
        Command::Listen(args) => listen::run(args, language).await,
        Command::Probe(args) => match probe::run(args, language).await {
            Ok(code) => return code,
            Err(error) => {
                ended(Err(error), language);
                return ExitCode::from(probe::NOT_TRIED);
            }
        },
        Command::Audit(args) => {
            return audit::run(&args)
                .await
                .unwrap_or_else(|error| failed(&*error, ExitCode::from(COULD_NOT_LOOK)));
        }
        Command::Doctor(args) => {
            return doctor::run(&args)
                .await
                .unwrap_or_else(|error| failed(&*error, ExitCode::FAILURE));
        }
        Command::Backup(args) => {
            let Some(verification) = args.verification() else {
                return ended(backup::run(&args).await, language);
            };
            return backup::verify(verification)
                .await
                .unwrap_or_else(|error| failed(&*error, ExitCode::from(backup::FAILED)));
        }
        Command::Restore(args) => restore::run(&args).await,
        Command::AbandonMasterKey(args) => abandon_master_key::run(&args, language).await,
        Command::Adopt(args) => adopt::run(&args, language).await,
        Command::Config(ConfigCommand::Check(args)) => config_check::run(&args),
        Command::Openapi(api) => openapi::run(api),
        Command::Completions(args) => completions::run(args),
        Command::Manual(args) => manual::run(&args),
        Command::Admin(command) => {
            return match command.run(language).await {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    report(&failure.report(language));
                    failure.exit_code()
                }
            };
        }
    };
    ended(outcome, language)
}

fn ended(outcome: Result<(), CliError>, language: Language) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    if let Some(failure) = error.downcast_ref::<Failure>() {
        report(&failure.report(language));
        return failure.exit_code();
    }
    if let Some(LocalizedError(text)) = error.downcast_ref() {
        report(&admin::failure_line(language, text));
        return ExitCode::FAILURE;
    }
    failed(&*error, ExitCode::FAILURE)
}

/// The process holds secrets: prevents core dumps, and access by other processes of the same user.
fn without_dumps() -> rustix::io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Reports an error with its causes, in English like the log.
fn failed(error: &(dyn std::error::Error + 'static), code: ExitCode) -> ExitCode {
    report(&format!("error: {}", chain(error)));
    code
}

#[expect(clippy::print_stderr, reason = "the command line speaks to its user")]
fn report(line: &str) {
    eprintln!("{line}");
}
