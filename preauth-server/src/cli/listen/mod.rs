//! `listen`: a webhook receiver for developers. It verifies and prints every delivery, and
//! misbehaves on demand.

mod failure_mode;
mod handler;
mod pretty;
mod report;
mod secrets;
mod words;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::app;
use crate::http::Receiver;
use crate::language::Language;
use crate::span;

use super::{CliError, LocalizedError};
use failure_mode::FailureMode;
use handler::ListenHandler;
use report::Report;
use secrets::Secrets;
pub(super) use secrets::signing_secret;

/// Longer than any sender waits.
const MAX_DELAY_SECONDS: u64 = 600;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  preauth-server listen --secret-file ready.json --fail 3 --status 503"
)]
pub(super) struct ListenArgs {
    /// Port on this machine; 0 takes any free one.
    #[arg(long, value_name = "PORT", default_value_t = 9000)]
    port: u16,
    /// File with signing secrets, one per line, or the ready file of a sandbox. It is read with
    /// every delivery, so it may be written, or changed, after the start. With - they are read from
    /// the standard input, once. Without it the variable `WEBHOOK_SECRET` has them, with commas between.
    #[arg(long, value_name = "PATH")]
    secret_file: Option<PathBuf>,
    /// A signing secret, for scripts from before; everybody on this machine sees it here.
    #[arg(long, value_name = "SECRET", value_delimiter = ',', hide = true)]
    secret: Vec<String>,
    /// Misbehave for the first N deliveries only; 500 unless something else is asked for.
    #[arg(long, value_name = "N")]
    fail: Option<u64>,
    /// Answer with this status, whatever arrives.
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(200..=599))]
    status: Option<u16>,
    /// Close the connection and answer nothing.
    #[arg(long, conflicts_with = "status")]
    drop: bool,
    /// Let the sender wait, for 12s or 2m; the service waits 10 s.
    #[arg(long, value_name = "TIME", value_parser = delay)]
    delay: Option<Duration>,
    /// One JSON object per line, for scripts: the address, then each delivery.
    #[arg(long)]
    json: bool,
}

#[expect(clippy::print_stderr, reason = "the command line speaks to its user")]
fn warn_of_secret_argument(language: Language) {
    eprintln!("{}", words::WARNING_OF_ARGUMENT.of(language));
}

pub(super) async fn run(args: ListenArgs, language: Language) -> Result<(), CliError> {
    if !args.secret.is_empty() {
        warn_of_secret_argument(language);
    }
    let secrets = Secrets::given(args.secret, args.secret_file);
    let secrets = secrets.map_err(|error| LocalizedError(error.text(language)))?;
    let failure_mode = FailureMode {
        first: args.fail,
        status: args.status,
        hangs_up: args.drop,
        delay: args.delay,
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let receiver = Receiver::bind(address)
        .map_err(|error| LocalizedError(words::cannot_listen(language, address, &error)))?;
    let report = Report::new(args.json, language);
    let signalled = app::wait_for_signal()?;
    report.begin(&receiver.url(), &secrets, failure_mode);
    receiver.start(ListenHandler::new(secrets, failure_mode, report));
    signalled.await;
    Ok(())
}

fn delay(text: &str) -> Result<Duration, String> {
    let seconds = span::parse(text).ok_or("must be a time like 12s or 2m")?;
    if seconds > MAX_DELAY_SECONDS {
        return Err(format!("must be {MAX_DELAY_SECONDS} s or less"));
    }
    Ok(Duration::from_secs(seconds))
}
