//! Statements whose plans a session keeps, by the state of the tables in which it made them.

use chrono::TimeDelta;
use preauth_core::operation::{Command, InvoiceFile};
use preauth_core::port::{FeedQuery, Filter, PageRequest, Viewer};
use preauth_core::value::{Email, OperationId, Status};
use preauth_server::mail::Outcome;

use super::reported::Scan;
use super::{MAX_PAGES, MAX_ROWS, Scene, UNTIL_PLANS_ARE_KEPT};
use crate::store::feed::{everything, number, page};
use crate::store::mails::{claim_within, command_done, lease_by};

/// Offers to one mailbox: a mail, and one that takes along the others.
const OFFERS: usize = 4;
const MAILS_PER_DAY: u32 = 2;
/// Files that a step of the walk looks at.
const FILES: u32 = 1;

/// What the tables were when the plans were made; they are large when these are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    NeverAnalysed,
    ForFewAnalysedRows,
    ForLargeTables,
    /// Large ones, of whose values nothing is known.
    JustRestored,
}

const STATES: [Made; 4] = [
    Made::NeverAnalysed,
    Made::ForFewAnalysedRows,
    Made::ForLargeTables,
    Made::JustRestored,
];

impl Scene {
    /// A scene in which this was done until its plans were kept in this state; its tables are large.
    async fn keeping(made: Made, work: impl AsyncFn(&Self)) -> Self {
        let scene = Self::new().await;
        scene.work().await;
        let is_large = matches!(made, Made::ForLargeTables | Made::JustRestored);
        if is_large {
            scene.fill_tables().await;
        }
        match made {
            Made::NeverAnalysed => {}
            Made::ForFewAnalysedRows => {
                work(&scene).await;
                scene.analyze().await;
            }
            Made::ForLargeTables => scene.analyze().await,
            Made::JustRestored => scene.count_only().await,
        }
        for _ in 0..UNTIL_PLANS_ARE_KEPT {
            work(&scene).await;
        }
        if !is_large {
            scene.fill_tables().await;
        }
        scene
    }

    async fn fill_tables(&self) {
        self.fill_queues().await;
        self.fill_feed().await;
        // The first numbering goes over all that is new.
        number(&self.fixture).await;
    }

    /// Sends two mails to a mailbox, of which the second takes along what waits.
    async fn send_joined_mails(&self) {
        let (queue, now) = (&*self.fixture.stores.mails, self.fixture.now);
        let claim = claim_within(now, MAILS_PER_DAY, u32::MAX);
        let sent = Outcome::Sent { at: now };
        while let Some(leased) = lease_by(queue, &claim).await {
            assert!(queue.finish(&leased, &sent).await.unwrap());
        }
        let address = format!("fin{}@example.com", self.fixture.uuid().simple());
        for _ in 0..OFFERS {
            let mut offer = self.fixture.new_offer(self.payer);
            offer.supplier.email = Email::parse(&address).unwrap();
            self.fixture.make(&offer).await;
        }
        for joined in [0, OFFERS - 2] {
            let leased = lease_by(queue, &claim).await.unwrap();
            assert_eq!(leased.joined.len(), joined);
            assert!(queue.finish(&leased, &sent).await.unwrap());
        }
    }

    /// The pages of the lists of the company that has most operations, and of one that has few.
    async fn list(&self) {
        let small = self.fixture.payer().await;
        for company in [self.payer, small] {
            self.fixture.offer(company).await;
            for viewer in [Viewer::HeadOffice(company), Viewer::Branch(company)] {
                self.list_of(viewer).await;
            }
        }
    }

    async fn list_of(&self, viewer: Viewer) {
        let status = |it| Filter {
            statuses: vec![it],
            ..Filter::default()
        };
        let filters = match viewer {
            Viewer::HeadOffice(_) => vec![
                Filter::default(),
                status(Status::InPreAuth),
                status(Status::ToPay),
            ],
            _ => vec![Filter::default()],
        };
        for filter in filters {
            for page in [1, 2] {
                let page = PageRequest { page, limit: 8 };
                let queries = &self.fixture.stores.queries;
                let listed = queries.list(viewer, &filter, page).await.unwrap();
                // The rows that fill the tables have no valid tax ids, so that they are left out.
                assert!(listed.total > 0 || !filter.statuses.is_empty());
            }
        }
    }

    async fn list_users(&self) {
        for page in [1, 2] {
            let page = PageRequest { page, limit: 8 };
            let users = self.fixture.directory().users(self.payer, page).await;
            assert!(users.unwrap().total > 0);
        }
    }

    /// A reader who begins, and goes on.
    async fn read_feed(&self) {
        let mut query = FeedQuery {
            limit: 8,
            ..everything(self.payer)
        };
        for _ in 0..2 {
            self.fixture.offer(self.payer).await;
            let page = page(&self.fixture, &query).await;
            assert!(!page.events.is_empty());
            query.after = Some(page.next);
        }
    }

    /// Removes the file of an offer that was refused.
    async fn forget_a_file(&self) {
        let mut offer = self.fixture.new_offer(self.payer);
        let id = self.fixture.uuid().into_bytes();
        offer.file = Some(InvoiceFile {
            name: "nota.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            size: 1,
            sha256: [id, id].concat().try_into().unwrap(),
        });
        let id = self.fixture.make(&offer).await.id;
        command_done(&self.fixture, id, &Command::Cancel).await;
        let (now, later) = (self.fixture.now, self.fixture.later(TimeDelta::days(1)));
        let house = &self.fixture.stores.housekeeping;
        let step = house.forget_old_files(now, later, id.get() - 1, FILES);
        assert_eq!(step.await.unwrap().removed, 1);
    }

    /// Gets an operation that there is, and one that there is not.
    async fn get_by_id(&self) {
        let id = self.fixture.offer(self.payer).await.id;
        let queries = &self.fixture.stores.queries;
        let found = queries.find(Viewer::HeadOffice(self.payer), id).await;
        assert!(found.unwrap().is_some());
        let others = OperationId::new(id.get() + 1).unwrap();
        assert_eq!(queries.find(Viewer::Platform, others).await.unwrap(), None);
    }
}

fn assert_few(made: Made, scans: &[Scan]) {
    let many: Vec<_> = scans
        .iter()
        .filter(|it| it.rows > MAX_ROWS || it.pages > MAX_PAGES)
        .map(|it| format!("{} rows, {} pages: {}", it.rows, it.pages, it.place))
        .collect();
    assert!(many.is_empty(), "{made:?}: {many:#?}");
}

#[tokio::test]
async fn mails_are_joined_with_few_rows_whenever_the_plans_were_made() {
    for made in STATES {
        let scene = Scene::keeping(made, Scene::send_joined_mails).await;
        scene.plans.scans();
        scene.send_joined_mails().await;
        let scans = scene.plans.scans();
        assert!(scans.iter().any(|it| it.place.contains("joined_to")));
        assert_few(made, &scans);
    }
}

#[tokio::test]
async fn an_old_file_is_removed_with_few_rows_whenever_the_plans_were_made() {
    for made in STATES {
        let scene = Scene::keeping(made, Scene::forget_a_file).await;
        scene.plans.scans();
        scene.forget_a_file().await;
        let scans = scene.plans.scans();
        assert!(
            scans
                .iter()
                .any(|it| it.place.contains("-sum(g.size_bytes)"))
        );
        assert_few(made, &scans);
    }
}

#[tokio::test]
async fn a_page_of_a_company_is_read_with_few_rows_whenever_the_plans_were_made() {
    for made in STATES {
        let scene = Scene::keeping(made, Scene::list).await;
        scene.plans.scans();
        scene.list().await;
        let scans = scene.plans.scans();
        for index in ["head_office", "status", "payer"] {
            let index = format!("operations_of_{index}");
            assert!(scans.iter().any(|it| it.place.contains(&index)), "{index}");
        }
        assert_few(made, &scans);
    }
}

#[tokio::test]
async fn an_operation_is_found_by_its_id_with_few_rows_whenever_the_plans_were_made() {
    for made in STATES {
        let scene = Scene::keeping(made, Scene::get_by_id).await;
        scene.plans.scans();
        scene.get_by_id().await;
        let scans = scene.plans.scans();
        assert!(
            scans
                .iter()
                .any(|it| it.place.contains("WITH ORDINALITY AS t (id, n)"))
        );
        assert_few(made, &scans);
    }
}

#[tokio::test]
async fn a_page_of_users_is_read_with_few_rows_whenever_the_plans_were_made() {
    for made in STATES {
        let scene = Scene::keeping(made, Scene::list_users).await;
        scene.plans.scans();
        scene.list_users().await;
        let scans = scene.plans.scans().into_iter();
        // The total is that of all users of the company.
        let scans: Vec<_> = scans.filter(|it| !it.place.contains("AS total")).collect();
        assert!(scans.iter().any(|it| it.relation == "users"));
        assert_few(made, &scans);
    }
}

#[tokio::test]
async fn a_page_of_events_is_read_with_few_rows_whenever_the_plans_were_made() {
    for made in STATES {
        let scene = Scene::keeping(made, Scene::read_feed).await;
        scene.plans.scans();
        scene.read_feed().await;
        let scans = scene.plans.scans();
        assert!(scans.iter().any(|it| it.place.contains("AS following")));
        assert_few(made, &scans);
    }
}
