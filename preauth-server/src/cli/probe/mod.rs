//! `probe`: plays the sender to a receiver of webhooks, on a good day and on a bad one, and reports
//! what the receiver did right and wrong.

mod check;
mod count;
mod event;
mod fault;
mod finding;
mod report;
mod run;
mod sender;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use crate::app;
use crate::dispatcher::ExtraRoots;
use crate::language::Language;

use super::listen::signing_secret;
use super::{CliError, LocalizedError};
use count::Counter;
use event::Template;
use report::Report;
use run::Probe;
use sender::ProbeSender;

/// The exit code when a fault was found.
const FAULTY: u8 = 1;
/// The exit code when there was nothing to try: wrong arguments, or no receiver.
pub(super) const NOT_TRIED: u8 = 2;
/// The exit code after a signal, as shells have it.
const INTERRUPTED: u8 = 130;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  preauth-server probe http://127.0.0.1:9000/webhooks --secret-file ready.json"
)]
pub(super) struct ProbeArgs {
    /// The receiver's URL: https, or http on this machine. Nothing is sent anywhere else.
    url: String,
    /// File with the receiver's signing secret, or the ready file of a sandbox; - reads the standard
    /// input. Without it the variable `WEBHOOK_SECRET` has it.
    #[arg(long, value_name = "PATH")]
    secret_file: Option<PathBuf>,
    /// File with an event as JSON, such as one that `listen` has printed, to send instead of
    /// `webhook.test`; each delivery has an id of its own.
    #[arg(long, value_name = "PATH")]
    event: Option<PathBuf>,
    /// A command of the shell that prints how often the receiver has done its work, as a number.
    /// Without it nobody can see from outside whether the work was done twice.
    #[arg(long, value_name = "COMMAND")]
    count_command: Option<String>,
    /// PEM file with certificates to trust in addition to the system's.
    #[arg(long, value_name = "PATH")]
    ca_file: Option<PathBuf>,
    /// One JSON object per line, for scripts: each check, then the totals.
    #[arg(long)]
    json: bool,
}

/// Exits with 0 when there is no fault and with 1 otherwise; an error means that nothing could be
/// tried.
pub(super) async fn run(args: ProbeArgs, language: Language) -> Result<ExitCode, CliError> {
    let failed = LocalizedError;
    let secret = signing_secret(args.secret_file);
    let secret = secret.map_err(|error| failed(error.text(language)))?;
    let template = match &args.event {
        Some(path) => Template::open(path).map_err(|error| failed(error.text(path, language)))?,
        None => Template::default(),
    };
    let roots = match &args.ca_file {
        Some(path) => ExtraRoots::open(path).map_err(|error| {
            failed(words::no_certificates(
                language,
                &path.display().to_string(),
                &error,
            ))
        })?,
        None => ExtraRoots::default(),
    };
    let sender = ProbeSender::open(args.url, secret, roots).await;
    let sender = sender.map_err(|error| failed(error.text(language)))?;
    let counter = args.count_command.map(Counter::new);
    let mut report = Report::new(args.json, language);
    report.begin(sender.url());
    let probe = Probe::new(sender, template, counter, &mut report);
    // A signal does not reach the command that counts, which is in a process group of its own.
    let signalled = app::wait_for_signal()?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let probed = tokio::select! {
        biased;
        probed = probe.run() => probed,
        () = signalled => return Ok(ExitCode::from(INTERRUPTED)),
        _ = hung_up.recv() => return Ok(ExitCode::from(INTERRUPTED)),
    };
    probed.map_err(|error| failed(error.text(language)))?;
    let faults = report.end();
    Ok(if faults == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAULTY)
    })
}
