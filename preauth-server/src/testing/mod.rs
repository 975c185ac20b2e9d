//! The service within the tests of an ERP that calls it, or of a receiver of its webhooks.
//!
//! [`TestServer`] is the sandbox in the process of the test: the same rules, listeners, database
//! and dispatcher as in production, with demo data, a clock that can be moved, refusals on demand,
//! and no request limit unless one is asked for. Take this crate as a development dependency.
//!
//! ```
//! use std::time::Duration;
//!
//! use preauth_client::value::{Money, Status};
//! use preauth_client::{Client, Ensured, NewPreAuthorization, WaitPolicy, Waited};
//! use preauth_core::operation::Command;
//! use preauth_server::testing::TestServer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = TestServer::start()?;
//! let client = Client::new(server.base_url(), server.api_key())?;
//!
//! let offer = |number: &str| -> Result<_, Box<dyn std::error::Error>> {
//!     Ok(NewPreAuthorization::new(
//!         server.credentials().supplier_cnpj.parse()?,
//!         "financeiro@fornecedor.example.com".parse()?,
//!         Money::parse("12500.50")?,
//!         server.days_ahead(60),
//!         number.parse()?,
//!     ))
//! };
//! let id = client.create(&offer("NF-1")?).await?.id;
//! assert!(matches!(client.create_or_get(&offer("NF-1")?).await?, Ensured::AlreadyExists(it) if it.id == id));
//!
//! // Play the supplier, and see what the ERP sees.
//! server.act(id, &Command::Request)?;
//! let patience = WaitPolicy::new(Duration::from_secs(5));
//! let waited = client.wait_for_status(id, &[Status::ToApprove], patience).await?;
//! assert!(matches!(waited, Waited::Reached(_)));
//!
//! // Any error, on demand.
//! let error = client.create(&offer("sandbox:PRE_AUTH_SUPPLIER_BLOCKED")?).await.unwrap_err();
//! assert_eq!(error.status(), Some(422));
//!
//! // After a month an offer that nobody requested expires.
//! let forgotten = client.create(&offer("NF-2")?).await?.id;
//! server.advance(Duration::from_hours(31 * 24))?;
//! let patience = WaitPolicy::new(Duration::from_secs(60));
//! let waited = client.wait_for_status(forgotten, &[Status::Reproved], patience).await?;
//! assert!(matches!(waited, Waited::Reached(_)));
//! # Ok(())
//! # }
//! ```

mod sandbox_thread;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use chrono::Days;
use preauth_core::operation::Command;
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use preauth_core::value::{DueDate, OperationId, Status, Timestamp, calendar};

use crate::clock::Clock;
use crate::clock::TravelError;
use crate::sandbox::Credentials;

use sandbox_thread::SandboxThread;

/// A service with its data for a test; both end when it is dropped.
///
/// It runs on threads of its own. So its methods are not async, tests with and without a runtime
/// can use it, and several tests may share one.
pub struct TestServer {
    base_url: String,
    platform_url: String,
    sandbox: SandboxThread,
}

/// The settings of a [`TestServer`]; all are optional.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TestServerBuilder {
    rate_limit: Option<u32>,
    webhook_url: Option<String>,
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[error("the test server could not be started")]
pub struct TestServerError(#[source] Box<dyn StdError + Send + Sync>);

impl TestServer {
    /// Starts a server on free ports, which answers when this returns.
    pub fn start() -> Result<Self, TestServerError> {
        Self::builder().start()
    }

    /// The settings of a new server.
    pub fn builder() -> TestServerBuilder {
        TestServerBuilder::default()
    }

    /// The base address of the integration API, for the client.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The base address of the platform API; its token is among the
    /// [`credentials`](Self::credentials).
    #[must_use]
    pub fn platform_url(&self) -> &str {
        &self.platform_url
    }

    /// The key of the demo company with every scope.
    #[must_use]
    pub fn api_key(&self) -> &str {
        &self.credentials().api_key
    }

    /// The demo data: keys of every kind, the signing secret of webhooks, tax ids of companies and
    /// suppliers.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        self.sandbox.credentials()
    }

    /// The current time of the server.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.sandbox.time_machine().clock().now()
    }

    /// The date this number of days after today in São Paulo, whose calendar days decide on due
    /// dates. An offer needs 5 to 180.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "two centuries ahead is still a date"
    )]
    #[must_use]
    pub fn days_ahead(&self, days: u16) -> DueDate {
        let day = calendar::today(self.now()).checked_add_days(Days::new(days.into()));
        day.and_then(DueDate::from_date).expect("a date")
    }

    /// Moves the clock forward for everything that depends on it: expiry, keys, request limit,
    /// retries of webhooks. Work that falls due is done soon after.
    ///
    /// Whole seconds; a jump of more than 366 days is an error.
    pub fn advance(&self, time: Duration) -> Result<Timestamp, TravelError> {
        self.sandbox.time_machine().advance(time.as_secs())
    }

    /// Executes a command of the supplier, company, platform or bank on an operation, and returns
    /// the new status. The actor follows from the command; a command that the rules do not allow
    /// now is an error.
    pub fn act(&self, id: OperationId, command: &Command) -> Result<Status, ServiceError> {
        let (command, now) = (command.clone(), self.now());
        let actor = command.platform_actor();
        let operations = self.sandbox.operations();
        let done = self.sandbox.run(async move {
            operations
                .command(Viewer::Platform, id, &command, actor, now)
                .await
        });
        done.map_err(|ended| ServiceError::NotDone(ended.into()))?
            .map(|done| done.operation.status())
    }
}

impl TestServerBuilder {
    /// Requests per minute and key; by default there is no limit.
    pub const fn rate_limit(mut self, requests: u32) -> Self {
        self.rate_limit = Some(requests);
        self
    }

    /// The URL for webhooks; by default a receiver of the server's own, which only verifies them.
    pub fn webhook_url(mut self, url: impl Into<String>) -> Self {
        self.webhook_url = Some(url.into());
        self
    }

    /// Starts the server, which answers when this returns.
    pub fn start(self) -> Result<TestServer, TestServerError> {
        let sandbox = SandboxThread::begin(self.webhook_url, self.rate_limit.unwrap_or(u32::MAX));
        let sandbox = sandbox.map_err(TestServerError)?;
        let [base_url, platform_url] = sandbox.addresses().map(|it| format!("http://{it}"));
        Ok(TestServer {
            base_url,
            platform_url,
            sandbox,
        })
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer")
            .field("base_url", &self.base_url)
            .field("platform_url", &self.platform_url)
            .finish_non_exhaustive()
    }
}
