//! Payment orders: every status meets every command.

use chrono::NaiveDate;
use preauth_core::payment_order::{
    OrderAction, OrderCommand, OrderRejection, PaymentOrder, decide, evolve,
};
use preauth_core::value::{OperationId, PaymentOrderId, PaymentOrderStatus, Reason, Version};
use proptest::prelude::*;

use crate::given::{cents, moment, party};

type Row = (
    &'static [&'static str],
    &'static str,
    &'static str,
    &'static str,
);

const TABLE: [Row; 5] = [
    (
        &["CREATED"],
        "review",
        "UNDER_REVIEW",
        "payment_order.under_review",
    ),
    (
        &["CREATED", "UNDER_REVIEW"],
        "schedule",
        "SCHEDULED",
        "payment_order.scheduled",
    ),
    (&["SCHEDULED"], "pay", "PAID", "payment_order.paid"),
    (
        &["CREATED", "UNDER_REVIEW", "SCHEDULED"],
        "cancel",
        "CANCELED",
        "payment_order.canceled",
    ),
    (
        &["CREATED", "UNDER_REVIEW"],
        "reprove",
        "REPROVED",
        "payment_order.reproved",
    ),
];

fn date(day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(2027, 1, day)
}

fn order(status: PaymentOrderStatus) -> PaymentOrder {
    PaymentOrder {
        id: PaymentOrderId::new(1).unwrap(),
        version: Version::INITIAL,
        payer: party(1, "11222333000181"),
        supplier: party(2, "12ABC34501DE35"),
        amount: cents(100),
        scheduled_for: date(4),
        operation: OperationId::new(9),
        status,
        reason: None,
        created_at: moment("2026-11-21T12:00:00.000Z"),
    }
}

fn commands() -> [(&'static str, OrderCommand); 5] {
    let reason = Reason::parse("pedido da obra").ok();
    [
        ("review", OrderCommand::Review),
        ("schedule", OrderCommand::Schedule { on: date(5) }),
        ("pay", OrderCommand::Pay),
        (
            "cancel",
            OrderCommand::Cancel {
                reason: reason.clone(),
            },
        ),
        ("reprove", OrderCommand::Reprove { reason }),
    ]
}

#[test]
fn every_status_meets_every_command_as_the_table_says() {
    for status in PaymentOrderStatus::ALL {
        for (name, command) in commands() {
            let row = TABLE
                .iter()
                .find(|row| row.0.contains(&status.as_str()) && row.1 == name);
            let before = order(*status);
            match (row, decide(&before, &command)) {
                (Some((_, _, to, event)), Ok(change)) => {
                    let after = evolve(&before, &change);
                    assert_eq!(after.status.as_str(), *to);
                    assert_eq!(change.action.transition().event.as_str(), *event);
                    assert_eq!(after.version, before.version.next());
                }
                (None, Err(OrderRejection::InvalidTransition { status: against })) => {
                    assert_eq!(against, *status);
                }
                (row, decided) => panic!("{status}, {name}: {row:?}, {decided:?}"),
            }
        }
    }
    let created = OrderAction::Create.transition();
    assert_eq!(created.to, PaymentOrderStatus::Created);
    assert_eq!(created.event.as_str(), "payment_order.created");
}

#[test]
fn scheduling_without_a_day_keeps_the_day() {
    let before = order(PaymentOrderStatus::Created);
    let after = |on| {
        let change = decide(&before, &OrderCommand::Schedule { on }).unwrap();
        evolve(&before, &change).scheduled_for
    };
    assert_eq!(after(None), date(4));
    assert_eq!(after(date(5)), date(5));
}

proptest! {
    #[test]
    fn an_order_changes_only_what_its_commands_are_about(
        steps in prop::collection::vec(0_usize..5, 0..12),
    ) {
        let mut now = order(PaymentOrderStatus::Created);
        for step in steps {
            let [(_, first), ..] = commands();
            let command = commands().into_iter().nth(step).map_or(first, |(_, command)| command);
            if let Ok(change) = decide(&now, &command) {
                let next = evolve(&now, &change);
                let same = PaymentOrder {
                    version: now.version.next(),
                    status: next.status,
                    scheduled_for: next.scheduled_for,
                    reason: next.reason.clone(),
                    ..now.clone()
                };
                prop_assert_eq!(&next, &same);
                prop_assert_ne!(next.status, now.status);
                now = next;
            }
        }
    }
}
