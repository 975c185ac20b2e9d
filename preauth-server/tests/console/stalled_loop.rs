//! A background loop that hangs: overview and health say so, in the words of the probe.
//!
//! No fault from outside makes a loop hang, which is why the server runs in the process of the test, beside a database that reports
//! one that does.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::Policy;
use preauth_core::port::Unavailable;
use preauth_server::access::RateLimit;
use preauth_server::app::{self, Parts};
use preauth_server::clock::SystemClock;
use preauth_server::config::{Config, Layers};
use preauth_server::dispatcher::{EndpointPolicy, EndpointValidator, ExtraRoots};
use preauth_server::hold::Hold;
use preauth_server::http::UnauthenticatedLimiter;
use preauth_server::http::server::ConnectionLimits;
use preauth_server::invoice_files::InvoiceFiles;
use preauth_server::janitor::Retention;
use preauth_server::live::Live;
use preauth_server::mail::Folder;
use preauth_server::secret::{OperatorToken, Vault};
use preauth_server::store::{self, Lifecycle, Moments, Stores, Unfit};
use preauth_server::worker::LoopHealth;
use tempfile::TempDir;
use test_support::{Backend, Scratch, on_each_database};
use tokio::sync::Notify;

use crate::browser::Browser;

on_each_database! {
    a_loop_that_hangs_is_named_in_both_languages,
}

const TOKEN: &str = "operator-token-of-the-tests";

/// A database one of whose loops hangs.
struct WithHangingLoop(Arc<dyn Lifecycle>);

#[async_trait]
impl Lifecycle for WithHangingLoop {
    async fn check(&self) -> Result<(), Unfit> {
        self.0.check().await
    }

    async fn moments(&self) -> Result<Moments, Unavailable> {
        self.0.moments().await
    }

    fn loops(&self) -> Vec<Arc<LoopHealth>> {
        // It has hung from the first moment on.
        let hangs = LoopHealth::new("courier", TimeDelta::milliseconds(-1));
        let mut loops = self.0.loops();
        loops.push(Arc::new(hangs));
        loops
    }

    async fn close(&self) {
        self.0.close().await;
    }

    fn deliveries_waiting(&self) -> Arc<Notify> {
        self.0.deliveries_waiting()
    }
}

/// The parts of a server with these ports and a folder of its own.
fn parts(stores: Stores, folder: &TempDir) -> Parts {
    let data = folder.path();
    let config = Config::from_layers(&Layers::beginning_with(None, data.to_str())).unwrap();
    let place = data.join("invoice-files").display().to_string();
    let ledger = Arc::clone(&stores.files);
    let files = InvoiceFiles::open(&place, data, ledger, Arc::new(SystemClock)).unwrap();
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Parts {
        stores,
        files: Arc::new(files),
        clock: Arc::new(SystemClock),
        vault: Vault::open_or_create(&data.join("master.key")).unwrap(),
        tokens: Arc::new(OperatorToken::parse(TOKEN).unwrap().into()),
        console_hosts: Vec::new(),
        policy: Policy::default(),
        retention: Retention::default(),
        rate_limit: Live::new(RateLimit::default()),
        limiter: UnauthenticatedLimiter::unlimited(),
        connections: ConnectionLimits::default(),
        mails: config.mail.parts(data).unwrap(),
        mail_folder: Folder::in_data(data),
        endpoint_validator: EndpointValidator::by_system(EndpointPolicy::sandbox()),
        extra_roots: ExtraRoots::default(),
        integration: app::bind(any_port).unwrap(),
        platform: app::bind(any_port).unwrap(),
        portal: None,
        time_machine: None,
        hold: Hold::default(),
        watch: None,
        magic: None,
        traces: None,
    }
}

async fn a_loop_that_hangs_is_named_in_both_languages(backend: Backend) {
    let database = Scratch::empty(backend).await;
    store::migrate(database.url()).await.unwrap();
    let mut stores = store::open(database.url()).await.unwrap();
    stores.lifecycle = Arc::new(WithHangingLoop(stores.lifecycle));
    let folder = TempDir::new().unwrap();
    let running = app::start(parts(stores, &folder)).unwrap();
    let url = format!("http://{}", running.platform_address());
    let mut browser = Browser::signed_in(&url, TOKEN).await;
    let probe = browser.get("/livez").await;
    assert_eq!(probe.status, 503, "{}", probe.text);
    assert!(
        probe.text.contains("courier has made no step for"),
        "{}",
        probe.text
    );
    for (language, says, well, calm) in [
        (
            "en",
            "This instance should be restarted: courier has made no step for",
            "This instance serves requests.",
            "Nothing needs attention.",
        ),
        (
            "pt-BR",
            "Esta instância deve ser reiniciada: courier não dá um passo há",
            "Esta instância atende requisições.",
            "Nada precisa de atenção.",
        ),
    ] {
        browser.language = language;
        let health = browser.page("/console/health").await;
        assert!(health.contains(says), "{health}");
        assert!(!health.contains(well), "{health}");
        // The loops that work are not named.
        assert!(!health.contains("sweeper"), "{health}");
        let overview = browser.page("/console").await;
        let link = format!("<a href=\"/console/health\">{says}");
        assert!(overview.contains(&link), "{overview}");
        assert!(!overview.contains(calm), "{overview}");
    }
    running.stop(std::time::Duration::from_secs(1)).await;
}
