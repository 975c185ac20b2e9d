//! Payment orders over a host that fails.

use preauth_core::payment_order::{OrderCommand, OrderRejection, PaymentOrder};
use preauth_core::port::{OrderTarget, Store};
use preauth_core::service::ServiceError;
use preauth_core::value::{Money, PaymentOrderId, PaymentOrderStatus};

use crate::faulty::Fault;
use crate::given::{Given, given, payer, supplier};

async fn create(given: &Given) -> Result<PaymentOrder, ServiceError> {
    let target = OrderTarget {
        payer: payer(),
        supplier: supplier(),
        operation: None,
    };
    let amount = Money::from_cents(100).unwrap();
    given
        .service
        .create_order(&target, amount, None, None, given.now)
        .await
}

#[tokio::test]
async fn an_order_whose_answer_was_lost_is_found() {
    let given = given();
    given.faulty.fail(&[Fault::UnknownApplied]);
    let order = create(&given).await.unwrap();
    let stored = given.faulty.inner.load_order(order.id).await;
    assert_eq!(stored.unwrap().unwrap().order, order);
}

#[tokio::test]
async fn an_order_that_was_not_written_is_made_again_or_called_so() {
    let given = given();
    for fault in [Fault::NotDone, Fault::Conflict, Fault::UnknownNotApplied] {
        given.faulty.fail(&[fault, fault]);
        assert!(create(&given).await.is_ok(), "{fault:?}");
    }
    given.faulty.storm(Fault::NotDone);
    let failed = create(&given).await;
    assert!(
        matches!(failed, Err(ServiceError::NotDone(_))),
        "{failed:?}"
    );
    given.faulty.fail(&[Fault::UnknownNotApplied]);
    let failed = create(&given).await;
    assert!(
        matches!(failed, Err(ServiceError::Unknown(_))),
        "{failed:?}"
    );
}

const APPLIED_LATE: [Fault; 3] = [
    Fault::UnknownAppliedLate,
    Fault::UnknownAppliedBeforeNext,
    Fault::UnknownAppliedAfterNext,
];

#[tokio::test]
async fn an_order_whose_first_commit_is_applied_beside_a_later_one_is_made_once() {
    for fault in APPLIED_LATE {
        let given = given();
        given.faulty.fail(&[fault]);
        let order = create(&given).await.unwrap();
        let mut stored = Vec::new();
        for id in 1..20 {
            let id = PaymentOrderId::new(id).unwrap();
            let found = given.faulty.inner.load_order(id).await.unwrap();
            stored.extend(found.map(|loaded| loaded.order));
        }
        assert_eq!(stored, [order], "{fault:?}");
    }
}

#[tokio::test]
async fn a_command_on_an_order_whose_answer_was_lost_is_found_and_not_refused() {
    for fault in [
        Fault::UnknownApplied,
        Fault::UnknownAppliedLate,
        Fault::UnknownAppliedBeforeNext,
        Fault::UnknownAppliedAfterNext,
        Fault::UnknownNotApplied,
    ] {
        let given = given();
        let order = create(&given).await.unwrap();
        given.faulty.fail(&[fault]);
        let command = OrderCommand::Review;
        let done = given
            .service
            .order_command(order.id, &command, given.now)
            .await;
        assert_eq!(done.unwrap().status, PaymentOrderStatus::UnderReview);
        let stored = given.faulty.inner.load_order(order.id).await.unwrap();
        let version = stored.unwrap().order.version;
        assert_eq!(version, order.version.next(), "{fault:?}");
    }
}

#[tokio::test]
async fn no_later_failure_of_a_command_on_an_order_ends_what_is_unsettled() {
    for fault in [Fault::NotDone, Fault::Conflict] {
        let given = given();
        let order = create(&given).await.unwrap();
        given.faulty.fail(&[Fault::UnknownNotApplied]);
        given.faulty.storm(fault);
        let command = OrderCommand::Review;
        let failed = given
            .service
            .order_command(order.id, &command, given.now)
            .await;
        let Err(ServiceError::Unknown(_)) = failed else {
            panic!("{fault:?}: {failed:?}");
        };
    }
}

#[tokio::test]
async fn of_two_commands_on_an_order_the_loser_is_refused() {
    let given = given();
    let order = create(&given).await.unwrap();
    given.faulty.fail(&[Fault::Conflict]);
    let command = OrderCommand::Review;
    let refused = given
        .service
        .order_command(order.id, &command, given.now)
        .await;
    let Err(ServiceError::OrderRejected(OrderRejection::InvalidTransition { status })) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!(status, PaymentOrderStatus::Created);
}
