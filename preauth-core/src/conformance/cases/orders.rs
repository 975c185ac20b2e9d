//! Payment orders: the smaller aggregate of the same port.

use chrono::NaiveDate;

use crate::conformance::scene::{Scene, cents};
use crate::conformance::{Host, draft};
use crate::operation::Command;
use crate::payment_order::{OrderCommand, OrderRejection, PaymentOrder, decide, evolve};
use crate::port::{CommitError, LoadedNewOrder, OrderTarget, Write};
use crate::service::ServiceError;
use crate::value::{EventType, OperationId, PaymentOrderId, PaymentOrderStatus, Reason, Version};

/// An order is stored as it was generated, and after every change.
pub async fn an_order_is_kept_through_its_life(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let operation = scene.begin(&scene.offer()).await.id;
    let day = NaiveDate::from_ymd_opt(2026, 12, 31);
    let created = scene
        .service
        .create_order(
            &of_operation(&scene, operation),
            cents(77_777),
            day,
            None,
            scene.now,
        )
        .await
        .unwrap();
    assert_eq!(created.version, Version::INITIAL);
    assert_eq!(created.supplier.name, scene.supplier.name);
    assert_eq!(stored(&scene, created.id).await, created);
    let review = command(&scene, created.id, OrderCommand::Review).await;
    assert_eq!(review.status, PaymentOrderStatus::UnderReview);
    let on = NaiveDate::from_ymd_opt(2027, 1, 4);
    let scheduled = command(&scene, created.id, OrderCommand::Schedule { on }).await;
    assert_eq!(scheduled.scheduled_for, on);
    let reason = Some(Reason::parse("pedido da obra").unwrap());
    let cancel = OrderCommand::Cancel {
        reason: reason.clone(),
    };
    let cancelled = command(&scene, created.id, cancel).await;
    assert_eq!(cancelled.status, PaymentOrderStatus::Canceled);
    assert_eq!(cancelled.reason, reason);
    assert_eq!(cancelled.version.get(), 4);
}

/// An order may lack a payment day, an operation and a reason.
pub async fn an_order_may_have_no_day_and_no_operation(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let order = create(&scene).await;
    assert_eq!(stored(&scene, order.id).await, order);
    let on = None;
    let scheduled = command(&scene, order.id, OrderCommand::Schedule { on }).await;
    assert_eq!(scheduled.scheduled_for, None);
    let paid = command(&scene, order.id, OrderCommand::Pay).await;
    assert_eq!(paid.status, PaymentOrderStatus::Paid);
}

/// Who pays an order binds it to the version that they saw.
pub async fn an_order_of_another_version_than_the_one_seen_is_not_changed(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let created = create(&scene).await;
    let scheduled = command(&scene, created.id, OrderCommand::Schedule { on: None }).await;
    let pay = async |seen| {
        let bound = scene.service.clone().if_version(Some(seen));
        let paid = bound.order_command(created.id, &OrderCommand::Pay, scene.now);
        paid.await
    };
    let Err(ServiceError::Changed { stored: version }) = pay(created.version).await else {
        panic!("the order has another version");
    };
    assert_eq!(version, scheduled.version);
    assert_eq!(stored(&scene, created.id).await, scheduled);
    let paid = pay(scheduled.version).await.unwrap();
    assert_eq!(paid.status, PaymentOrderStatus::Paid);
}

/// Both parties must be registered, and an order must exist to be commanded.
pub async fn an_order_needs_registered_parties(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let known = target(&scene);
    let targets = [
        OrderTarget {
            payer: scene.new_company_id(),
            ..known
        },
        OrderTarget {
            supplier: scene.new_cnpj(),
            ..known
        },
    ];
    for target in targets {
        let loaded = host.store().load_new_order(&target).await;
        assert_eq!(loaded.unwrap(), None);
    }
    let first = host.store().load_new_order(&known).await.unwrap().unwrap();
    let second = host.store().load_new_order(&known).await.unwrap().unwrap();
    assert_ne!(first.order, second.order);
    assert_eq!(host.store().load_order(first.order).await.unwrap(), None);
    let refused = scene
        .service
        .order_command(first.order, &OrderCommand::Review, scene.now)
        .await;
    let Err(ServiceError::OrderRejected(OrderRejection::NotFound)) = refused else {
        panic!("{refused:?}");
    };
}

/// The payer's head office is notified of an order, the supplier is not.
pub async fn only_the_payer_hears_of_an_order(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let endpoint = scene.endpoint(scene.payer).await;
    scene.endpoint(scene.supplier.id).await;
    let of_branch = OrderTarget {
        payer: scene.branch,
        ..target(&scene)
    };
    let loaded = host.store().load_new_order(&of_branch).await;
    let loaded = loaded.unwrap().unwrap();
    let notified: Vec<_> = loaded.subscriptions.iter().map(|it| it.endpoint).collect();
    assert_eq!(notified, [endpoint]);
    let order = new_order(&scene, &loaded);
    let write = Write::NewOrder {
        order: Box::new(order.clone()),
        instead_of: None,
    };
    let mut commit = draft::bare(&scene, write, EventType::PaymentOrderCreated, scene.now);
    commit.deliveries = draft::deliveries(&scene, &loaded.subscriptions);
    let event = commit.event.id;
    host.store().commit(commit).await.unwrap();
    let found = host.store().load_order(order.id).await.unwrap().unwrap();
    assert_eq!(
        (found.order, found.subscriptions),
        (order, loaded.subscriptions)
    );
    let deliveries = host.deliveries(event).await;
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].endpoint, endpoint);
}

/// Two orders with the same id: the second conflicts, although no other rule refuses it.
pub async fn an_order_is_generated_once_under_its_id(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let loaded = host.store().load_new_order(&target(&scene)).await;
    let order = new_order(&scene, &loaded.unwrap().unwrap());
    let commit = || {
        let write = Write::NewOrder {
            order: Box::new(order.clone()),
            instead_of: None,
        };
        draft::bare(&scene, write, EventType::PaymentOrderCreated, scene.now)
    };
    let (first, second) = (commit(), commit());
    let lost = second.event.id;
    host.store().commit(first).await.unwrap();
    let refused = host.store().commit(second).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert!(!host.store().has_event(lost).await.unwrap());
}

/// An operation has one order at a time. A new one is possible after a cancellation or reproval, and after
/// the payout of a paid one was returned.
pub async fn an_operation_has_one_order_at_a_time(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let refused = |outcome: Result<PaymentOrder, ServiceError>, expected| match outcome {
        Err(ServiceError::OrderRejected(OrderRejection::AlreadyOrdered { existing })) => {
            assert_eq!(existing, expected);
        }
        other => panic!("{other:?}"),
    };
    let mut standing = generate(&scene, id).await.unwrap().id;
    for closing in [
        OrderCommand::Cancel { reason: None },
        OrderCommand::Reprove { reason: None },
    ] {
        refused(generate(&scene, id).await, standing);
        command(&scene, standing, closing).await;
        standing = generate(&scene, id).await.unwrap().id;
    }
    command(&scene, standing, OrderCommand::Schedule { on: None }).await;
    refused(generate(&scene, id).await, standing);
    command(&scene, standing, OrderCommand::Pay).await;
    refused(generate(&scene, id).await, standing);
    let net_amount = cents(1_200_000);
    let paid = [
        Command::Request,
        Command::Approve,
        Command::Release { net_amount },
        Command::Pay,
        Command::ReturnPayout,
    ];
    scene.play(id, &paid).await;
    let second = generate(&scene, id).await.unwrap().id;
    assert_ne!(second, standing);
    // The return allowed one new order, which stands when it is paid, whatever the clock showed by then.
    refused(generate(&scene, id).await, second);
    command(&scene, second, OrderCommand::Schedule { on: None }).await;
    command(&scene, second, OrderCommand::Pay).await;
    refused(generate(&scene, id).await, second);
}

async fn generate(scene: &Scene<'_>, id: OperationId) -> Result<PaymentOrder, ServiceError> {
    let target = of_operation(scene, id);
    let made = scene
        .service
        .create_order(&target, cents(100), None, None, scene.now);
    made.await
}

/// Of two orders that are generated for one operation at the same time the second conflicts.
pub async fn a_second_order_of_one_operation_writes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let target = of_operation(&scene, id);
    let load = || async { host.store().load_new_order(&target).await.unwrap().unwrap() };
    let commit = |loaded: &LoadedNewOrder| {
        let mut order = new_order(&scene, loaded);
        order.operation = Some(id);
        let write = Write::NewOrder {
            order: Box::new(order),
            instead_of: loaded.current,
        };
        draft::bare(&scene, write, EventType::PaymentOrderCreated, scene.now)
    };
    let (first, second) = (load().await, load().await);
    host.store().commit(commit(&first)).await.unwrap();
    let late = commit(&second);
    let lost = late.event.id;
    let refused = host.store().commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert!(!host.store().has_event(lost).await.unwrap());
    assert_eq!(host.store().load_order(second.order).await.unwrap(), None);
    // The same when both would replace an order that is no longer current.
    command(&scene, first.order, OrderCommand::Cancel { reason: None }).await;
    let (third, fourth) = (load().await, load().await);
    assert_eq!(third.current, Some(first.order));
    assert_eq!(third.others, []);
    host.store().commit(commit(&third)).await.unwrap();
    let refused = host.store().commit(commit(&fourth)).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
}

/// Of two decisions on one version of an order the second conflicts and writes nothing.
pub async fn a_commit_on_an_old_version_of_an_order_writes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let order = create(&scene).await;
    let loaded = host.store().load_order(order.id).await.unwrap().unwrap();
    let change = decide(&order, &OrderCommand::Review).unwrap();
    let next = evolve(&order, &change);
    let write = || Write::Order(Box::new(next.clone()));
    let event_type = EventType::PaymentOrderUnderReview;
    let winner = draft::bare(&scene, write(), event_type, scene.now);
    let mut loser = draft::bare(&scene, write(), event_type, scene.now);
    loser.deliveries = draft::deliveries(&scene, &loaded.subscriptions);
    let lost = loser.event.id;
    host.store().commit(winner).await.unwrap();
    let refused = host.store().commit(loser).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(stored(&scene, order.id).await, next);
    assert!(host.deliveries(lost).await.is_empty());
}

fn new_order(scene: &Scene<'_>, loaded: &LoadedNewOrder) -> PaymentOrder {
    PaymentOrder {
        id: loaded.order,
        version: Version::INITIAL,
        payer: loaded.payer.clone(),
        supplier: loaded.supplier.clone(),
        amount: cents(1),
        scheduled_for: None,
        operation: None,
        status: PaymentOrderStatus::Created,
        reason: None,
        created_at: scene.now,
    }
}

fn target(scene: &Scene<'_>) -> OrderTarget {
    OrderTarget {
        payer: scene.payer,
        supplier: scene.supplier.cnpj,
        operation: None,
    }
}

fn of_operation(scene: &Scene<'_>, operation: OperationId) -> OrderTarget {
    OrderTarget {
        operation: Some(operation),
        ..target(scene)
    }
}

async fn create(scene: &Scene<'_>) -> PaymentOrder {
    let created = scene
        .service
        .create_order(&target(scene), cents(100), None, None, scene.now)
        .await;
    created.unwrap()
}

/// Executes `command`, and asserts that the stored order equals the answer.
async fn command(scene: &Scene<'_>, id: PaymentOrderId, command: OrderCommand) -> PaymentOrder {
    let done = scene.service.order_command(id, &command, scene.now).await;
    let done = done.unwrap();
    assert_eq!(stored(scene, id).await, done);
    done
}

async fn stored(scene: &Scene<'_>, id: PaymentOrderId) -> PaymentOrder {
    let loaded = scene.host.store().load_order(id).await;
    loaded.unwrap().unwrap().order
}
