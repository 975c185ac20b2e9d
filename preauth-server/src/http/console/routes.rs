//! Every page and form of the console, in one place.

use std::sync::Arc;

use salvo::Router;
use salvo::http::Method;

use super::action_form::ActionPage;
use super::guard::{Guarded, Open, Page, Place, Submit};
use super::list::{List, Shown};
use super::list_file::Csv;
use super::{
    Console, PREFIX, action_forms, api_keys, blocked_suppliers, branches, companies, company_list,
    deliveries, extensions, health, home, invitations, invoices, language, leaked_key, log, mails,
    master_keys, operations, operators, payment_orders, personal_data, reports, resend_many,
    sign_in, suppressed_addresses, users,
};

/// A method of a path.
pub(super) struct Route {
    method: Method,
    path: String,
    place: Place,
}

/// Method and path of every page and form, so that tests can go over them. A sandbox has some more.
#[must_use]
pub fn paths() -> Vec<(String, String)> {
    let routes = all(false).into_iter();
    routes
        .map(|route| (route.method.to_string(), route.path))
        .collect()
}

pub(super) fn all(is_sandbox: bool) -> Vec<Route> {
    let mut routes = vec![
        open(Method::GET, "/sign-in", sign_in::Ask),
        open(Method::POST, "/sign-in", sign_in::SignIn),
        submit("/sign-out", sign_in::SignOut),
        open(Method::POST, "/language", language::Switch),
        page("", home::Home),
        page("/health", health::Health),
        page("/master-keys", master_keys::MasterKeys),
        page("/reports", reports::Reports),
        page("/reports.csv", reports::ReportFile),
        page("/operations/{id}", operations::One),
        page("/operations/{id}/invoice-file", operations::InvoiceFile),
        page("/deliveries/{id}", deliveries::One),
        page("/companies/{id}", companies::One),
        page("/users/{id}", users::One),
        page("/api-keys/{id}", api_keys::One),
        page("/operators/{id}", operators::One),
        page("/extensions/{id}", extensions::One),
        page("/mails/{id}", mails::One),
        page("/payment-orders/{id}", payment_orders::One),
        page("/invoices/{id}", invoices::One),
        page("/personal-data/{cnpj}", personal_data::PersonalData),
        page("/personal-data/{cnpj}/export", personal_data::Export),
    ];
    routes.push(page(resend_many::PATH, resend_many::ResendMany));
    routes.push(submit(resend_many::PATH, resend_many::ResendMany));
    routes.push(page(leaked_key::PATH, leaked_key::LeakedKey));
    routes.push(submit(leaked_key::PATH, leaked_key::LeakedKey));
    routes.extend(list(|| operations::All));
    routes.extend(list(|| deliveries::All));
    routes.extend(list(|| deliveries::OfCompany));
    routes.extend(list(|| company_list::All));
    routes.extend(list(|| branches::Branches));
    routes.extend(list(|| invitations::Invitations));
    routes.extend(list(|| users::Users));
    routes.extend(list(|| api_keys::ApiKeys));
    routes.extend(list(|| blocked_suppliers::BlockedSuppliers));
    routes.extend(list(|| mails::All));
    routes.extend(list(|| mails::OfCompany));
    routes.extend(list(|| suppressed_addresses::All));
    routes.extend(list(|| payment_orders::All));
    routes.extend(list(|| invoices::All));
    routes.extend(list(|| operators::All));
    routes.extend(list(|| log::All));
    let sandbox = is_sandbox.then_some(&action_forms::sandbox::ADVANCE);
    for action in action_forms::all().chain(sandbox) {
        routes.push(page(&format!("/{}", action.page), ActionPage(action)));
        routes.push(submit(&format!("/{}", action.page), ActionPage(action)));
    }
    routes
}

/// The page of a list, and its CSV file.
fn list<L: List>(list: fn() -> L) -> [Route; 2] {
    [
        page(L::PATH, Shown(list())),
        page(&format!("{}.csv", L::PATH), Csv(list())),
    ]
}

fn page(path: &str, page: impl Page) -> Route {
    route(Method::GET, path, Place::Page(Box::new(page)))
}

fn submit(path: &str, submit: impl Submit) -> Route {
    route(Method::POST, path, Place::Submit(Box::new(submit)))
}

fn open(method: Method, path: &str, open: impl Open) -> Route {
    route(method, path, Place::Open(Box::new(open)))
}

fn route(method: Method, path: &str, place: Place) -> Route {
    Route {
        method,
        path: format!("{PREFIX}{path}"),
        place,
    }
}

impl Route {
    /// The route as the framework serves it; HEAD answers like GET.
    pub(super) fn router(self, console: &Arc<Console>) -> Router {
        let guarded = Guarded {
            console: Arc::clone(console),
            route: self.path.as_str().into(),
            place: self.place,
        };
        let router = Router::with_path(self.path.trim_start_matches('/'));
        let method = self.method;
        router.push(
            Router::new()
                .filter_fn(move |req, _| {
                    let asked = req.method();
                    *asked == method || *asked == Method::HEAD && method == Method::GET
                })
                .goal(guarded),
        )
    }
}
