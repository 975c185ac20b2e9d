//! The supplier's page, on a public listener of its own: what is offered, and the supplier's answer.
//!
//! A link from a mail is the only authority ([`crate::secret::SupplierLinks`]). A GET never changes
//! anything, because scanners of mails open links; each change is a POST from the page that asks for
//! confirmation. The commands are those of the platform API, with the supplier as the actor.

mod answer;
mod asset;
mod behind;
mod confirm;
mod cross_site;
mod decline;
mod field;
mod frame;
mod message;
mod offer;
mod perform;
mod request;
mod shown;
mod unsubscribe;
mod viewing;
mod visit;
mod wrapped;

use std::fmt;
use std::sync::Arc;

use preauth_core::port::{IdSource, Queries};
use preauth_core::service::Operations;
use salvo::{Router, Service};

use crate::clock::Clock;
use crate::directory::Directory;
use crate::hold::Hold;
use crate::secret::{SupplierLinks, SupplierPage};
use crate::telemetry::RequestTelemetry;

use super::UnauthenticatedLimiter;
use super::server;

use answer::Answer;
use behind::Behind;
use wrapped::Wrapped;

/// The listener in the log and in metrics.
pub(super) const LISTENER: &str = "portal";
/// The parameter of routes.
const LINK: &str = "link";
/// The parameter of the page that ends mails to an address.
const ADDRESS: &str = "address";

/// The dependencies of the pages.
pub struct PortalApi {
    /// Recognizes links.
    pub links: SupplierLinks,
    /// The limit of requests per client address.
    pub limiter: UnauthenticatedLimiter,
    /// The use cases.
    pub operations: Arc<Operations>,
    /// The read side of operations.
    pub queries: Arc<dyn Queries>,
    /// Invitations, and the addresses that want no mails.
    pub directory: Arc<dyn Directory>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The source of new ids.
    pub ids: Arc<dyn IdSource>,
    /// Prevents this instance from acting.
    pub hold: Hold,
}

/// The pages as a listener serves them.
#[must_use]
pub fn service(api: PortalApi, telemetry: RequestTelemetry) -> Service {
    let api = Arc::new(api);
    let (clock, ids) = (Arc::clone(&api.clock), Arc::clone(&api.ids));
    let router = Router::new()
        .push(message::home())
        .push(asset::routes())
        .push(route(&api, SupplierPage::Offer, offer::Offer))
        .push(route(&api, SupplierPage::Request, request::Request))
        .push(route(&api, SupplierPage::Decline, decline::Decline))
        .push(route(
            &api,
            SupplierPage::Unsubscribe,
            unsubscribe::Unsubscribe,
        ))
        .push(route_at(
            &api,
            &format!("{}/{{{ADDRESS}}}", path(SupplierPage::Unsubscribe)),
            unsubscribe::Unsubscribe,
        ));
    server::service_with_secret_paths(router, Wrapped, LISTENER, clock, ids, telemetry)
}

fn path(page: SupplierPage) -> String {
    page.path(&format!("{{{LINK}}}"))
}

/// The route of a page; HEAD answers like GET.
fn route<A: Answer + Copy>(api: &Arc<PortalApi>, page: SupplierPage, answer: A) -> Router {
    route_at(api, &path(page), answer)
}

fn route_at<A: Answer + Copy>(api: &Arc<PortalApi>, path: &str, answer: A) -> Router {
    let behind = || Behind::new(Arc::clone(api), path, answer);
    let router = Router::with_path(path).get(behind()).head(behind());
    if A::HAS_FORM {
        router.post(behind())
    } else {
        router
    }
}

impl fmt::Debug for PortalApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortalApi").finish_non_exhaustive()
    }
}
