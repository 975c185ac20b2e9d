//! `sandbox`: everything with demo data, no configuration.

mod own;

use std::error::Error as StdError;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use preauth_core::Policy;
use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{Cnpj, OperationId};
use url::Url;
use webhook_verify::Secret;

use crate::access::RateLimit;
use crate::announcement::Announcement;
use crate::app::{self, Parts, Running};
use crate::clock::TimeMachine;
use crate::clock::{Clock, SystemClock, TravelClock};
use crate::config::{Config, Layers};
use crate::dispatcher::{EndpointPolicy, EndpointValidator, ExtraRoots};
use crate::files;
use crate::hold::Hold;
use crate::http::integration::Magic;
use crate::http::server::{Bound, ConnectionLimits};
use crate::http::{Receiver, UnauthenticatedLimiter};
use crate::ids::random_bytes;
use crate::invoice_files::InvoiceFiles;
use crate::janitor::Retention;
use crate::language::Language;
use crate::live::Live;
use crate::mail::{Folder, MailParts};
use crate::sandbox::terminal::{self, Player};
use crate::sandbox::{
    Credentials, HEAD_OFFICE_CNPJ, ReadyFile, SandboxHandler, TEMPORARY_FOLDER_PREFIX,
    add_endpoint, greeting, seed,
};
use crate::secret::{self, OperatorToken, SupplierLinks, Vault};
use crate::stdout;
use crate::store::{self, Stores};
use crate::telemetry::traces::Traces;
use crate::telemetry::{self, Console, StoryPages};

use super::CliError;

const GRACE: Duration = Duration::from_secs(5);
const SETTINGS_PREFIXES: [&str; 3] = ["PREAUTH_MAIL_", "PREAUTH_CONSOLE_", "PREAUTH_TRACES_"];
/// The address of the supplier's page if no other is given, so that links stay valid between starts.
const USUAL_PORTAL: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8082));
/// The address of the sandbox's own receiver.
const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// Arguments of a sandbox; all are optional.
#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    /// Address of the integration API; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// Address of the platform API; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081", value_parser = address)]
    pub(crate) platform_listen: SocketAddr,
    /// Address of the supplier's page; by default 127.0.0.1:8082, or any free port if that one is taken.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) portal_listen: Option<SocketAddr>,
    /// Folder that keeps everything; by default a temporary one that ends with the sandbox.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Where the database is; by default a file in the data folder.
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Where webhooks go (http and loopback are fine here); by default to a receiver of its own.
    #[arg(long, value_name = "URL")]
    pub(crate) webhook_url: Option<String>,
    /// Requests per minute and API key.
    #[arg(long, value_name = "N", default_value_t = RateLimit::default().requests,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate_limit: u32,
    /// Write addresses and credentials as JSON to this file once everything answers.
    #[arg(long, value_name = "PATH")]
    pub(crate) ready_file: Option<PathBuf>,
}

pub(super) async fn run(args: SandboxArgs, language: Language) -> Result<(), CliError> {
    let (console, pages) = (Console::default(), StoryPages::default());
    telemetry::start_story(&console, language, &pages);
    let folder = DataFolder::of(args.data.as_deref())?;
    let outcome = run_in(&args, folder.path(), &console, &pages, language).await;
    folder.end();
    outcome
}

async fn run_in(
    args: &SandboxArgs,
    data: &Path,
    console: &Console,
    pages: &StoryPages,
    language: Language,
) -> Result<(), CliError> {
    if let Some(path) = &args.ready_file {
        make_way(path)?;
    }
    let sandbox = start(args, data, language).await?;
    pages.show(sandbox.pages.clone());
    let ready = sandbox.ready_file();
    let now = sandbox.time_machine.clock().now();
    stdout::print(&greeting(
        &ready,
        &sandbox.webhook_url,
        sandbox.next,
        now,
        language,
    ))?;
    // It may be stopped as soon as it says that it is ready.
    let signalled = app::wait_for_signal()?;
    if let Some(path) = &args.ready_file {
        ready
            .write(path)
            .map_err(|error| format!("cannot write ready file {}: {error}", path.display()))?;
    }
    let player = Player {
        operations: Arc::clone(sandbox.running.operations()),
        queries: sandbox.stores.queries,
        directory: sandbox.stores.directory,
        time_machine: sandbox.time_machine,
        language,
    };
    tokio::select! {
        () = signalled => {}
        () = terminal::run(&player, console) => {}
    }
    // The database closes when its last user is dropped.
    drop(player);
    sandbox.running.stop(GRACE).await;
    Ok(())
}

/// A running sandbox.
pub(crate) struct Started {
    pub(crate) running: Running,
    pub(crate) credentials: Credentials,
    pub(crate) time_machine: Arc<TimeMachine>,
    pub(crate) pages: SupplierLinks,
    stores: Stores,
    webhook_url: String,
    _announced: Announcement,
    /// The id that the next operation will probably have.
    next: OperationId,
}

impl Started {
    fn ready_file(&self) -> ReadyFile<'_> {
        ReadyFile {
            base_url: format!("http://{}", self.running.address()),
            platform_url: format!("http://{}", self.running.platform_address()),
            portal_url: self.pages.base().as_str().trim_end_matches('/').to_owned(),
            credentials: &self.credentials,
        }
    }
}

/// Starts a sandbox with its data in `data`; its receiver prints in this language.
pub(crate) async fn start(
    args: &SandboxArgs,
    data: &Path,
    language: Language,
) -> Result<Started, CliError> {
    let settings = settings()?;
    let url = own::database(args.database.clone(), data)?;
    // Checks first to whom the folder and the database belong, so that nothing of another owner is
    // changed.
    let mark = own::claim(&url, data).await?;
    let time_machine = Arc::new(TimeMachine::open(data).map_err(|error| {
        let data = data.display();
        format!("cannot read the sandbox's time in {data}: {error}")
    })?);
    let clock = Arc::clone(time_machine.clock());
    let vault = Vault::open_or_create(&data.join("master.key"))?;
    let stores = own::open(&url, &mark).await?;
    secret::check_keys(&vault, &*stores.directory, clock.now()).await?;
    let receiver = Receiver::bind(ANY_PORT)?;
    let webhook_url = args.webhook_url.clone().unwrap_or_else(|| receiver.url());
    let endpoint_validator = endpoint_validator(&webhook_url)?;
    let credentials = if mark.is_seeded {
        credentials(&stores, &vault, data, &webhook_url, &*clock).await?
    } else {
        let credentials = seed(&*stores.directory, &vault, &webhook_url, clock.now()).await?;
        credentials.keep(data)?;
        store::sandbox::seeded(&url).await?;
        credentials
    };
    let next = next_operation(&stores).await?;
    let token = OperatorToken::parse(&credentials.platform_token)
        .ok_or("the kept operator token is too short; start with another --data folder")?;
    let portal = portal(args.portal_listen, &vault)?;
    let pages = portal.links.clone();
    let (integration, platform, announced) = listeners(args, data, &credentials.platform_token)?;
    let running = app::start(Parts {
        stores: stores.clone(),
        files: Arc::new(files(data, &stores)?),
        clock: Arc::<TravelClock>::clone(&clock),
        vault,
        tokens: Arc::new(token.into()),
        console_hosts: settings.console_hosts.clone(),
        policy: Policy::default(),
        retention: Retention::default(),
        rate_limit: Live::new(RateLimit {
            requests: args.rate_limit,
            ..RateLimit::default()
        }),
        limiter: UnauthenticatedLimiter::unlimited(),
        connections: ConnectionLimits::default(),
        mails: mails(&settings, data, &pages)?,
        mail_folder: Folder::in_data(data),
        endpoint_validator,
        extra_roots: ExtraRoots::default(),
        integration,
        platform,
        portal: Some(portal),
        time_machine: Some(Arc::clone(&time_machine)),
        hold: Hold::default(),
        watch: None,
        traces: Traces::start(settings.traces.as_ref())?,
        magic: Some(Magic::of_a_sandbox()),
    })?;
    let secret = Secret::parse(&credentials.webhook_secret)?;
    receiver.start(SandboxHandler::new(secret, language));
    Ok(Started {
        running,
        credentials,
        time_machine,
        pages,
        stores,
        webhook_url,
        next,
        _announced: announced,
    })
}

/// Mails with links to the supplier's pages.
fn mails(settings: &Config, data: &Path, pages: &SupplierLinks) -> Result<MailParts, CliError> {
    let mut mails = settings.mail.parts(data)?;
    mails.letterhead.pages = Some(pages.clone());
    Ok(mails)
}

/// The supplier's page, at `listen`, or where there is room.
fn portal(listen: Option<SocketAddr>, vault: &Vault) -> Result<app::Portal, CliError> {
    let bound = match listen {
        Some(address) => app::bind(address)?,
        None => app::bind(USUAL_PORTAL).or_else(|_| app::bind(ANY_PORT))?,
    };
    let url = Url::parse(&format!("http://{}", bound.address()))?;
    Ok(app::Portal {
        bound,
        links: SupplierLinks::new(vault, url),
        limiter: UnauthenticatedLimiter::unlimited(),
    })
}

/// The server settings that apply here as well: mails become files in the data folder unless a mail
/// server is configured.
fn settings() -> Result<Config, CliError> {
    let mut layers = Layers::default();
    let counts = |name: &str| SETTINGS_PREFIXES.iter().any(|it| name.starts_with(it));
    layers.environment(std::env::vars().filter(|(name, _)| counts(name)));
    Ok(Config::from_layers(&layers)?)
}

/// Parses where to listen; a port or a name alone is what people type first.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let port = text.rsplit(':').next().and_then(|it| it.parse().ok());
        let port: u16 = port.unwrap_or(8080);
        format!("an IP address and a port are needed, like 127.0.0.1:{port}")
    })
}

/// The policy for webhooks, which must allow the configured URL.
fn endpoint_validator(webhook_url: &str) -> Result<EndpointValidator, CliError> {
    let endpoint_validator = EndpointValidator::by_system(EndpointPolicy::sandbox());
    endpoint_validator.parse(webhook_url).map_err(|refusal| {
        format!(
            "--webhook-url {webhook_url:?} is refused: {refusal}; give it whole, like \
             http://127.0.0.1:9000/webhooks"
        )
    })?;
    Ok(endpoint_validator)
}

/// Invoice files are in the data folder, and are cleaned up by the machine's own clock.
fn files(data: &Path, stores: &Stores) -> Result<InvoiceFiles, CliError> {
    let place = data.join("invoice-files").display().to_string();
    let ledger = Arc::clone(&stores.files);
    Ok(InvoiceFiles::open(
        &place,
        data,
        ledger,
        Arc::new(SystemClock),
    )?)
}

/// Removes an earlier start's ready file; fails if its folder does not exist.
fn make_way(ready_file: &Path) -> Result<(), CliError> {
    let folder = ready_file.parent();
    let folder = folder.filter(|it| !it.as_os_str().is_empty());
    let made = ReadyFile::clear(ready_file)
        .and_then(|()| std::fs::metadata(folder.unwrap_or(Path::new("."))));
    match made {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("cannot use ready file {}: {error}", ready_file.display()).into())
        }
    }
}

/// Binds the listeners, and lets the administration commands of this machine find the sandbox before a
/// probe says that it is ready.
fn listeners(
    args: &SandboxArgs,
    data: &Path,
    token: &str,
) -> Result<(Bound, Bound, Announcement), CliError> {
    let (integration, platform) = (app::bind(args.listen)?, app::bind(args.platform_listen)?);
    files::replace_private(&OperatorToken::file_in(data), token.as_bytes())?;
    let announced = Announcement::publish(data, platform.address())?;
    Ok((integration, platform, announced))
}

/// The credentials of the demo data of an earlier start.
async fn credentials(
    stores: &Stores,
    vault: &Vault,
    data: &Path,
    webhook_url: &str,
    clock: &dyn Clock,
) -> Result<Credentials, CliError> {
    let directory = &*stores.directory;
    let head_office = directory
        .company_by_cnpj(&Cnpj::parse(HEAD_OFFICE_CNPJ)?)
        .await?;
    let (Some(credentials), Some(head_office)) = (Credentials::load(data)?, head_office) else {
        return Err(
            "the data folder has lost the sandbox's credentials; start with another --data \
                    folder and another database"
                .into(),
        );
    };
    if let Some(endpoint) = directory.endpoint(head_office.id).await? {
        let events = endpoint.events;
        directory
            .update_endpoint(head_office.id, webhook_url, events)
            .await?;
    } else {
        let secret = credentials.webhook_secret.clone().into();
        let (company, now) = (head_office.id, clock.now());
        add_endpoint(directory, vault, company, webhook_url, &secret, now).await?;
    }
    Ok(credentials)
}

/// The id that the next operation will probably have.
async fn next_operation(stores: &Stores) -> Result<OperationId, Box<dyn StdError + Send + Sync>> {
    let newest = PageRequest { page: 1, limit: 1 };
    let page = stores
        .queries
        .list(Viewer::Platform, &Filter::default(), newest)
        .await?;
    let last = page
        .operations
        .first()
        .map_or(0, |operation| operation.id.get());
    Ok(OperationId::new(last.saturating_add(1)).ok_or("the ids are used up")?)
}

/// The folder of a sandbox: the developer's, or a temporary one that is removed with it.
pub(crate) enum DataFolder {
    Given(PathBuf),
    Temporary(PathBuf),
}

impl DataFolder {
    fn of(given: Option<&Path>) -> Result<Self, CliError> {
        match given {
            Some(path) => Self::Given(path.to_owned()).created(),
            None => Self::temporary(TEMPORARY_FOLDER_PREFIX),
        }
    }

    /// A new temporary folder whose name has this prefix.
    pub(crate) fn temporary(prefix: &str) -> Result<Self, CliError> {
        let name = format!("{prefix}{}", hex::encode(random_bytes::<8>()));
        Self::Temporary(std::env::temp_dir().join(name)).created()
    }

    fn created(self) -> Result<Self, CliError> {
        files::create_private_directory(self.path())
            .map_err(|error| format!("cannot create folder {}: {error}", self.path().display()))?;
        Ok(self)
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(path) | Self::Temporary(path) => path,
        }
    }

    pub(crate) fn end(self) {
        if let Self::Temporary(path) = self
            && let Err(error) = std::fs::remove_dir_all(&path)
        {
            tracing::warn!(path = %path.display(), %error, "temporary folder was not removed");
        }
    }
}
