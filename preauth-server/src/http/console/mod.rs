//! The operators' console: pages on the private listener, rendered by the server.
//!
//! Whatever a page shows or does goes through the platform API in this process, on behalf of the
//! session's operator, so that roles, the audit log, idempotency keys and refusals are those of the API.
//! A GET changes nothing; every form is checked for its origin and for the session's token.

mod action_form;
mod action_forms;
mod action_link;
mod api_keys;
mod assets;
mod attempt_errors;
mod audit_words;
mod blocked_suppliers;
mod branches;
#[allow(
    unused_qualifications,
    reason = "a template is expanded beside the enum that it matches"
)]
mod cell;
mod closing_reason;
mod companies;
mod company_list;
mod deliveries;
mod excerpt;
mod extensions;
mod facts;
mod failure;
mod frame;
mod guard;
mod health;
mod home;
mod invitations;
mod invoices;
mod language;
mod leaked_key;
mod links;
mod list;
mod list_file;
mod log;
mod mail_errors;
mod mails;
mod master_keys;
mod named_company;
mod names;
mod no_such_page;
mod operations;
mod operators;
mod payment_orders;
mod personal_data;
mod plot;
mod problems;
mod record;
mod record_kinds;
mod report_form;
mod reports;
mod resend_many;
mod routes;
mod seen_sessions;
mod session;
mod sign_in;
mod suppressed_addresses;
mod ticks;
mod users;
mod visit;

use std::sync::Arc;

use salvo::{Router, Service};

use crate::http::platform::{self, InProcess, PlatformApi};
use crate::telemetry::RequestTelemetry;

use no_such_page::NoSuchPage;
use seen_sessions::SeenSessions;

pub use routes::paths;

/// The path of the console, and the beginning of every path of it.
const PREFIX: &str = "/console";

/// What the pages need.
pub(super) struct Console {
    api: Arc<PlatformApi>,
    platform: InProcess,
    seen: SeenSessions,
}

/// The platform API and the console, for the private listener.
#[must_use]
pub fn service(api: PlatformApi, description: String, telemetry: RequestTelemetry) -> Service {
    let api = Arc::new(api);
    let console = Arc::new(Console {
        platform: InProcess::new(&api),
        api: Arc::clone(&api),
        seen: SeenSessions::default(),
    });
    let pages = routes::all(console.api.time_machine.is_some())
        .into_iter()
        .fold(Router::new(), |router, route| {
            router.push(route.router(&console))
        });
    let pages = pages.push(assets::router());
    platform::service(&api, description, telemetry, pages, NoSuchPage(console))
}
