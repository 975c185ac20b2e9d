//! Every list over all companies with every filter that operators have, over large tables in which whatever is searched
//! for is either nearly everything or rare, and the lists of what waits in an outage; the tests of each database look at
//! the plans.

mod filling;

use chrono::TimeDelta;
use preauth_core::operation::{Offer, Operation};
use preauth_core::port::{Filter, MailKind, PageRequest, Viewer};
use preauth_core::value::{
    Cnpj, CompanyId, Email, EndpointId, EventType, ExternalReference, InvoiceNumber, OperatorName,
    PaymentOrderStatus, Status, Timestamp,
};
use preauth_server::directory::{
    AuditFilter, DeliveryFilter, DeliveryStatus, DeliveryWait, MailFilter, MailStatus, NEWEST,
    OperationFilter, PaymentOrderFilter,
};

use crate::store::fixture::Fixture;

pub(crate) use filling::Filling;

/// Rows of each table.
pub(crate) const ROWS: u32 = 60_000;
/// The first page, the last one, and the one after it.
const PAGES: [u64; 3] = [1, 100, 101];
const LIMIT: u32 = 100;

/// One list with one filter.
#[derive(Clone, Debug)]
pub(crate) enum Search {
    Operations(OperationFilter),
    ByStatus(Filter),
    Deliveries(DeliveryFilter),
    Mails(MailFilter),
    Log(AuditFilter),
    Orders(PaymentOrderFilter),
    Suppressed(Option<Email>),
    Invoices,
    Companies,
}

impl Search {
    /// Whether few rows match.
    pub(crate) fn is_rare(&self, scene: &Scene) -> bool {
        if scene.is_outage {
            return false;
        }
        match self {
            Self::Operations(it) => {
                it.statuses.contains(&Status::ToApprove)
                    || it.external_reference.is_some()
                    || it.invoice_number.is_some()
                    || it.cnpj == Some(scene.rare_supplier)
                    || it.cnpj == Some(scene.rare_payer)
                    || it.from == Some(scene.late)
                    || it.until == Some(scene.early)
            }
            Self::ByStatus(it) => it.statuses.contains(&Status::ToApprove),
            Self::Deliveries(it) => {
                it.operation.is_some()
                    || it.wait.is_some()
                    || it.event_type == Some(EventType::WebhookTest)
                    || it.status.is_some_and(|it| it != DeliveryStatus::Delivered)
            }
            Self::Mails(it) => {
                it.operation.is_some()
                    || it.kind.is_some_and(|it| !is_common(it))
                    || it.status.is_some_and(|it| it != MailStatus::Sent)
            }
            Self::Log(it) => {
                it.operator.as_ref().is_some_and(|it| it.as_str() == "ana")
                    || it.action.as_deref() == Some("payOperation")
                    || it.record.is_some()
                    || it.company.is_some()
                    || it.from == Some(scene.late)
                    || it.until == Some(scene.early)
            }
            Self::Orders(it) => {
                it.operation.is_some() || it.status.is_some_and(|it| it != PaymentOrderStatus::Paid)
            }
            Self::Suppressed(address) => address.is_some(),
            Self::Invoices | Self::Companies => false,
        }
    }

    pub(crate) async fn read(&self, fixture: &Fixture, page: PageRequest) -> Found {
        macro_rules! found {
            ($list:expr) => {{
                let found = $list.await.unwrap();
                Found {
                    total: found.total,
                    is_cut: Some(found.is_cut),
                    entries: found.items.len(),
                }
            }};
        }
        let directory = fixture.directory();
        match self {
            Self::Operations(filter) => found!(directory.search_operations(filter, page)),
            Self::ByStatus(filter) => {
                let queries = &fixture.stores.queries;
                let found = queries.list(Viewer::Platform, filter, page).await.unwrap();
                Found {
                    total: found.total,
                    is_cut: None,
                    entries: found.operations.len(),
                }
            }
            Self::Deliveries(filter) => {
                found!(directory.deliveries(None, *filter, page, fixture.now))
            }
            Self::Mails(filter) => found!(directory.mails(None, *filter, page)),
            Self::Log(filter) => found!(directory.audit_log(filter.clone(), page)),
            Self::Orders(filter) => found!(directory.payment_orders(*filter, page)),
            Self::Suppressed(address) => {
                found!(directory.suppressed_addresses(address.as_ref(), page))
            }
            Self::Invoices => found!(directory.invoices(page)),
            Self::Companies => found!(directory.companies(page)),
        }
    }

    /// Whether the list has every entry, so that its total counts all that match.
    pub(crate) const fn is_whole(&self) -> bool {
        matches!(
            self,
            Self::ByStatus(_)
                | Self::Orders(_)
                | Self::Suppressed(_)
                | Self::Invoices
                | Self::Companies
        )
    }

    /// Whether it has one filter at most.
    pub(crate) fn is_simple(&self) -> bool {
        let filters = match self {
            Self::Operations(it) => [
                !it.statuses.is_empty(),
                it.cnpj.is_some(),
                it.invoice_number.is_some(),
                it.external_reference.is_some(),
                it.from.is_some(),
                it.until.is_some(),
            ]
            .to_vec(),
            Self::Deliveries(it) => [
                it.status.is_some(),
                it.wait.is_some(),
                it.event_type.is_some(),
                it.operation.is_some(),
            ]
            .to_vec(),
            Self::Mails(it) => [
                it.status.is_some(),
                it.kind.is_some(),
                it.operation.is_some(),
            ]
            .to_vec(),
            Self::Log(it) => [
                it.operator.is_some(),
                it.action.is_some(),
                it.record.is_some(),
                it.company.is_some(),
                it.from.is_some(),
                it.until.is_some(),
            ]
            .to_vec(),
            Self::Orders(it) => [it.status.is_some(), it.operation.is_some()].to_vec(),
            Self::ByStatus(_) | Self::Suppressed(_) | Self::Invoices | Self::Companies => {
                vec![]
            }
        };
        filters.iter().filter(|it| **it).count() <= 1
    }

    /// The pages that are read.
    pub(crate) fn pages(&self, scene: &Scene) -> impl Iterator<Item = PageRequest> + use<> {
        let last = if self.is_rare(scene) { 1 } else { PAGES.len() };
        PAGES
            .into_iter()
            .take(last)
            .map(|page| PageRequest { page, limit: LIMIT })
    }
}

const fn is_common(kind: MailKind) -> bool {
    matches!(kind, MailKind::Offer | MailKind::Invitation)
}

/// What a page of a list has.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    total: u64,
    /// Whether older entries match, too; `None` if the list does not report it.
    is_cut: Option<bool>,
    /// Those of the page.
    entries: usize,
}

/// What is rare in the tables.
pub(crate) struct Scene {
    payer: CompanyId,
    rare_payer: Cnpj,
    rare_supplier: Cnpj,
    rare_supplier_id: CompanyId,
    operation: Operation,
    paused: EndpointId,
    /// A moment before which, or from which on, little happened.
    early: Timestamp,
    late: Timestamp,
    /// Whether everything waits instead.
    pub(crate) is_outage: bool,
}

impl Scene {
    /// The records that the tables are filled with copies of.
    pub(crate) async fn new(fixture: &Fixture) -> Self {
        let payer = fixture.payer().await;
        fixture.add_endpoint(payer).await;
        let operation = fixture.offer(payer).await;
        let rare = fixture.payer().await;
        let paused = fixture.add_endpoint(rare).await.id;
        let other = fixture.make(&named(fixture.new_offer(rare))).await;
        let away = |seconds: u32| fixture.later(-TimeDelta::seconds(i64::from(ROWS - seconds)));
        Self {
            payer,
            rare_payer: other.payer.cnpj,
            rare_supplier: other.supplier.cnpj,
            rare_supplier_id: other.supplier.company,
            operation,
            paused,
            early: away(6),
            late: away(ROWS - 5),
            is_outage: false,
        }
    }

    /// All deliveries and mails wait, half of them for a paused endpoint or held, and only the lists of these are read.
    pub(crate) fn in_outage(self) -> Self {
        Self {
            is_outage: true,
            ..self
        }
    }

    pub(crate) fn searches(&self) -> Vec<Search> {
        if self.is_outage {
            return waiting();
        }
        let mut all = self.operations();
        for statuses in [vec![], vec![Status::ToApprove]] {
            all.push(Search::ByStatus(Filter {
                external_reference: None,
                statuses,
            }));
        }
        all.extend(self.deliveries());
        all.extend(self.mails());
        all.extend(self.log());
        for status in options(PaymentOrderStatus::ALL) {
            for operation in [None, Some(self.operation.id)] {
                all.push(Search::Orders(PaymentOrderFilter { status, operation }));
            }
        }
        let address = Email::parse("a7@example.com").unwrap();
        all.extend([
            Search::Suppressed(None),
            Search::Suppressed(Some(address)),
            Search::Invoices,
            Search::Companies,
        ]);
        all
    }

    fn times(&self) -> [(Option<Timestamp>, Option<Timestamp>); 6] {
        let (early, late) = (self.early, self.late);
        [
            (None, None),
            (Some(early), None),
            (Some(late), None),
            (None, Some(early)),
            (None, Some(late)),
            (Some(early), Some(late)),
        ]
    }

    fn operations(&self) -> Vec<Search> {
        let number = InvoiceNumber::parse("LOTE-7").unwrap();
        let reference = ExternalReference::parse("REF-7").unwrap();
        let cnpjs = [
            self.operation.payer.cnpj,
            self.operation.supplier.cnpj,
            self.rare_payer,
            self.rare_supplier,
        ];
        let mut all = Vec::new();
        for (from, until) in self.times() {
            for statuses in [vec![], vec![Status::InPreAuth], vec![Status::ToApprove]] {
                for cnpj in options(&cnpjs) {
                    let by = OperationFilter {
                        statuses: statuses.clone(),
                        cnpj,
                        from,
                        until,
                        ..OperationFilter::default()
                    };
                    all.push(by.clone());
                    let invoice_number = Some(number.clone());
                    all.push(OperationFilter {
                        invoice_number,
                        ..by.clone()
                    });
                    let external_reference = Some(reference.clone());
                    all.push(OperationFilter {
                        external_reference,
                        ..by
                    });
                }
            }
        }
        let all = all.into_iter().filter(OperationFilter::is_search);
        all.map(Search::Operations).collect()
    }

    fn deliveries(&self) -> Vec<Search> {
        let types = [
            EventType::PreAuthorizationCreated,
            EventType::AnticipationPaid,
            EventType::WebhookTest,
        ];
        let mut all = Vec::new();
        for status in options(DeliveryStatus::ALL) {
            for wait in options(DeliveryWait::ALL) {
                for event_type in options(&types) {
                    for operation in [None, Some(self.operation.id)] {
                        all.push(Search::Deliveries(DeliveryFilter {
                            status,
                            event_type,
                            operation,
                            wait,
                        }));
                    }
                }
            }
        }
        all
    }

    fn mails(&self) -> Vec<Search> {
        let mut all = Vec::new();
        for status in options(MailStatus::ALL) {
            for kind in options(MailKind::ALL) {
                for operation in [None, Some(self.operation.id)] {
                    all.push(Search::Mails(MailFilter {
                        status,
                        kind,
                        operation,
                    }));
                }
            }
        }
        all
    }

    fn log(&self) -> Vec<Search> {
        let operators = ["root", "ana"].map(|it| OperatorName::parse(it).unwrap());
        let actions = ["cancelOperation", "payOperation"].map(ToOwned::to_owned);
        let mut all = Vec::new();
        for (from, until) in self.times() {
            for operator in options(&operators) {
                for action in options(&actions) {
                    for record in options(&["operations/4000007".to_owned()]) {
                        for company in options(&[self.payer]) {
                            all.push(Search::Log(AuditFilter {
                                operator: operator.clone(),
                                action: action.clone(),
                                record: record.clone(),
                                company,
                                from,
                                until,
                            }));
                        }
                    }
                }
            }
        }
        all
    }
}

/// The lists of what waits.
fn waiting() -> Vec<Search> {
    let none = DeliveryFilter::default();
    let by_status = |status| DeliveryFilter {
        status: Some(status),
        ..none
    };
    let deliveries = [
        by_status(DeliveryStatus::Pending),
        by_status(DeliveryStatus::Paused),
        DeliveryFilter {
            wait: Some(DeliveryWait::Overdue),
            ..none
        },
    ];
    let mails = [MailStatus::Pending, MailStatus::Held].map(|status| MailFilter {
        status: Some(status),
        ..MailFilter::default()
    });
    let deliveries = deliveries.into_iter().map(Search::Deliveries);
    deliveries
        .chain(mails.into_iter().map(Search::Mails))
        .collect()
}

/// Every value, and none.
fn options<T: Clone>(values: &[T]) -> Vec<Option<T>> {
    let some = values.iter().cloned().map(Some);
    std::iter::once(None).chain(some).collect()
}

fn named(mut offer: Offer) -> Offer {
    offer.external_reference = Some(ExternalReference::parse("REF-0").unwrap());
    offer
}

/// Asserts that a page has what it must.
pub(crate) fn assert_found(search: &Search, scene: &Scene, page: PageRequest, found: Found) {
    let Found {
        total,
        is_cut,
        entries,
    } = found;
    if search.is_rare(scene) {
        assert!(total < 30, "{total}: {search:?}");
    } else if search.is_whole() {
        assert!(total > 2, "{total}: {search:?}");
    } else {
        assert_eq!(total, u64::from(NEWEST), "{search:?}");
    }
    if let Some(is_cut) = is_cut {
        let has_older = !search.is_rare(scene) && !search.is_whole();
        assert_eq!(is_cut, has_older, "{search:?}");
    }
    let rest = total.saturating_sub(page.offset());
    let expected = rest.min(u64::from(page.limit));
    assert_eq!(
        u64::try_from(entries).unwrap(),
        expected,
        "{page:?} of {total}: {search:?}"
    );
}
