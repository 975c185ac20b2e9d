//! Payment orders over a host that fails.

use preauth_core::payment_order::{OrderCommand, OrderRejection, PaymentOrder};
use preauth_core::port::{OrderTarget, Store};
use preauth_core::service::ServiceError;
use preauth_core::value::{Money, PaymentOrderStatus};

use crate::faulty::Fault;
use crate::given::{Given, given, payer, supplier};

async fn create(given: &Given) -> Result<PaymentOrder, ServiceError> {
    let target = OrderTarget {
        payer: payer(),
        supplier: supplier(),
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
    given.faulty.fail(&[Fault::NotDone, Fault::Conflict]);
    assert!(create(&given).await.is_ok());
    given.faulty.fail(&[Fault::UnknownNotApplied]);
    let failed = create(&given).await;
    assert!(
        matches!(failed, Err(ServiceError::Unknown(_))),
        "{failed:?}"
    );
    given.faulty.storm(Fault::NotDone);
    let failed = create(&given).await;
    assert!(
        matches!(failed, Err(ServiceError::NotDone(_))),
        "{failed:?}"
    );
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
