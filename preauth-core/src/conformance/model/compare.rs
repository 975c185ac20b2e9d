//! Compares the stored records with those that the model expects.

use crate::operation::{Action, Operation, State};
use crate::port::{Filter, PageRequest, Viewer};
use crate::value::{Money, Timestamp};

use super::run::Run;
use super::spell::day;
use super::step::Payer;
use super::table::Deed;

impl Run<'_> {
    /// Asserts that both groups' lists show the expected operations and statuses, newest first.
    pub(super) async fn compare_lists(&self, step: usize) {
        let viewers = [
            (Viewer::HeadOffice(self.scene.payer), false),
            (Viewer::HeadOffice(self.other_payer), true),
        ];
        for (viewer, is_other) in viewers {
            let page = PageRequest {
                page: 1,
                limit: 100,
            };
            let queries = self.scene.host.queries();
            let found = queries
                .list(viewer, &Filter::default(), page)
                .await
                .unwrap();
            let modelled = self.model.operations.iter().zip(&self.ids);
            let mut expected: Vec<_> = modelled
                .filter(|(it, _)| (it.payer == Payer::Other) == is_other)
                .map(|(it, (id, _))| (*id, it.status))
                .collect();
            expected.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
            assert_eq!(found.total, u64::try_from(expected.len()).unwrap());
            expected.truncate(100);
            let found: Vec<_> = found
                .operations
                .iter()
                .map(|it| (it.id, it.status()))
                .collect();
            assert_eq!(found, expected, "after step {step}");
        }
    }

    /// Asserts that every operation and its events are as the model expects.
    pub(super) async fn compare_operations(&self) {
        for (expected, (id, _)) in self.model.operations.iter().zip(&self.ids) {
            let found = self.scene.stored(*id).await;
            let history = self.scene.history(*id).await;
            let events: Vec<_> = history.into_iter().map(|entry| entry.event_type).collect();
            assert_eq!(events, expected.events, "{found:?}");
            assert_eq!(found.version.get(), i64::try_from(events.len()).unwrap());
            assert_eq!(found.status(), expected.status);
            assert_eq!(found.net_amount.map(Money::cents), expected.net_cents);
            assert_eq!(
                found.expires_at.map(Timestamp::unix_millis),
                expected.expires_ms
            );
            let closed_by = found.closing().map(|closing| closing.action);
            assert_eq!(closed_by, expected.closed_by.map(action_of));
            compare_boleto(&found, expected.boleto_day, expected.extension_day);
        }
    }
}

fn compare_boleto(found: &Operation, boleto_day: i64, extension_day: Option<i64>) {
    if let State::ToReceive {
        boleto_due_date,
        extension,
    } = &found.state
    {
        assert_eq!(*boleto_due_date, day(boleto_day));
        assert_eq!(extension.map(|it| it.new_due_date), extension_day.map(day));
    }
}

fn action_of(deed: Deed) -> Action {
    match deed {
        Deed::Decline => Action::Decline,
        Deed::Cancel => Action::Cancel,
        Deed::Withdraw => Action::Withdraw,
        Deed::Expire => Action::Expire,
        Deed::ReproveByCompany => Action::ReproveByCompany,
        Deed::ReproveByPlatform => Action::ReproveByPlatform,
        other => panic!("{other:?} closes nothing"),
    }
}
