//! Tests of the walk on lists that change between answers.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "the numbers of these tests are small"
)]

use std::collections::BTreeSet;

use preauth_core::value::OperationId;
use preauth_core::wire::{Pagination, PreAuthorization, PreAuthorizationList};
use proptest::prelude::*;
use serde_json::json;

use super::walk::{Walk, WalkError, Window};

/// Operations that are created in order have even ids; those that appear late have odd ids.
const SPACING: i64 = 2;

/// A change of the list between two answers.
#[derive(Clone, Debug)]
enum Change {
    /// This many new operations are created, with the highest ids.
    Arrive(u8),
    /// An operation appears in the middle: it starts to match, or it was committed late.
    Appear(prop::sample::Index),
    /// An operation stops matching.
    Leave(prop::sample::Index),
    /// All operations returned so far stop matching: the reader cancels each operation it receives.
    GivenLeave,
}

/// The list on the service's side.
struct Shelf {
    ids: BTreeSet<i64>,
    next: i64,
    /// Ids that have matched from the beginning.
    steady: BTreeSet<i64>,
    /// Template of every operation; only the id differs.
    sample: PreAuthorization,
}

impl Shelf {
    fn of(count: i64) -> Self {
        let ids: BTreeSet<_> = (1..=count).map(|n| n * SPACING).collect();
        Self {
            next: (count + 1) * SPACING,
            steady: ids.clone(),
            ids,
            sample: any_operation(),
        }
    }

    fn change(&mut self, change: &Change, given: &[i64]) {
        match change {
            Change::Arrive(count) => {
                for _ in 0..*count {
                    self.ids.insert(self.next);
                    self.next += SPACING;
                }
            }
            Change::Appear(place) => {
                let slots = usize::try_from(self.next / SPACING).unwrap();
                let slot = i64::try_from(place.index(slots)).unwrap();
                self.ids.insert(slot * SPACING + 1);
            }
            Change::Leave(_) if self.ids.is_empty() => {}
            Change::Leave(which) => {
                let id = *self.ids.iter().nth(which.index(self.ids.len())).unwrap();
                self.remove(id);
            }
            Change::GivenLeave => given.iter().for_each(|id| self.remove(*id)),
        }
    }

    fn remove(&mut self, id: i64) {
        self.ids.remove(&id);
        self.steady.remove(&id);
    }

    fn operation(&self, id: i64) -> PreAuthorization {
        let id = OperationId::new(id).unwrap();
        PreAuthorization {
            id,
            ..self.sample.clone()
        }
    }

    fn page(&self, Window { page, limit }: Window) -> PreAuthorizationList {
        let limit_length = usize::try_from(limit).unwrap();
        let offset = usize::try_from(page - 1).unwrap() * limit_length;
        let shown = self.ids.iter().rev().skip(offset).take(limit_length);
        let total = u64::try_from(self.ids.len()).unwrap();
        PreAuthorizationList {
            data: shown.map(|id| self.operation(*id)).collect(),
            pagination: Pagination::new(page, limit, total),
        }
    }
}

fn any_operation() -> PreAuthorization {
    let operation = json!({
        "id": 1,
        "status": "IN_PRE_AUTH",
        "payer": {"cnpj": "11222333000181", "name": "Construtora"},
        "supplier": {"cnpj": "12ABC34501DE35"},
        "invoice": {"amount": 500, "dueDate": "2026-12-21"},
        "createdAt": "2026-11-21T12:00:00.000Z"
    });
    serde_json::from_str(&operation.to_string()).unwrap()
}

/// Walks a shelf that changes between answers; returns the ids in order, and the number of requests.
fn walk(shelf: &mut Shelf, most: u32, changes: &[Vec<Change>]) -> (Vec<i64>, usize) {
    let (mut walk, mut given, mut requests) = (Walk::new(most), Vec::new(), 0);
    let mut changes = changes.iter();
    while !walk.is_over() {
        let list = shelf.page(walk.window());
        given.extend(walk.take(list).unwrap().iter().map(|entry| entry.id.get()));
        requests += 1;
        for change in changes.next().into_iter().flatten() {
            shelf.change(change, &given);
        }
    }
    (given, requests)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (1_u8..60).prop_map(Change::Arrive),
        any::<prop::sample::Index>().prop_map(Change::Appear),
        any::<prop::sample::Index>().prop_map(Change::Leave),
        Just(Change::GivenLeave),
    ]
}

proptest! {
    #[test]
    fn an_operation_that_always_matches_comes_exactly_once_and_none_comes_twice(
        count in 0_i64..400,
        most in 20_u32..=100,
        changes in prop::collection::vec(prop::collection::vec(change(), 0..12), 0..25),
    ) {
        let mut shelf = Shelf::of(count);
        // Only an operation that leaves before the walk has passed it may be missing.
        let (given, _) = walk(&mut shelf, most, &changes);
        prop_assert!(given.is_sorted_by(|newer, older| newer > older), "{:?}", given);
        let given: BTreeSet<_> = given.into_iter().collect();
        let missing: Vec<_> = shelf.steady.difference(&given).collect();
        prop_assert!(missing.is_empty(), "{:?}", missing);
    }
}

#[test]
fn a_list_at_rest_costs_little_more_than_its_pages() {
    for (count, most) in [
        (0, 100),
        (1, 100),
        (99, 100),
        (100, 100),
        (5_000, 100),
        (5_000, 20),
    ] {
        let (given, requests) = walk(&mut Shelf::of(count), most, &[]);
        assert_eq!(i64::try_from(given.len()).unwrap(), count);
        let pages = usize::try_from(count).unwrap() / usize::try_from(most).unwrap();
        let accepted = pages + pages / 2 + 2;
        assert!(
            requests <= accepted,
            "{requests} requests for {pages} pages"
        );
    }
}

#[test]
fn a_reader_who_cancels_what_it_is_given_gets_everything() {
    let cancelling = vec![vec![Change::GivenLeave]; 100];
    let (given, _) = walk(&mut Shelf::of(1_000), 100, &cancelling);
    assert_eq!(given.len(), 1_000);
}

#[test]
fn a_service_that_ignores_the_page_is_noticed() {
    let shelf = Shelf::of(100);
    let mut walk = Walk::new(20);
    let first = Window { page: 1, limit: 20 };
    let answers = std::iter::repeat_with(|| walk.take(shelf.page(first)));
    let error = answers.take(1_000).find_map(Result::err);
    assert_eq!(error, Some(WalkError::Standing));
}

#[test]
fn a_list_in_another_order_is_noticed() {
    let mut list = Shelf::of(10).page(Window { page: 1, limit: 20 });
    list.data.reverse();
    assert_eq!(Walk::new(20).take(list).unwrap_err(), WalkError::Unordered);
}
