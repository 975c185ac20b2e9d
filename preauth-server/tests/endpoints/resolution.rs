//! Names whose addresses change: between registration and delivery, and between check and
//! connection.

use crate::dns::{Lookup, at};
use crate::house::House;
use crate::receiver::{NO_CONTENT, Receiver};

const NAME: &str = "hooks.example.com";

// Contract: endpoint/public-address
#[tokio::test]
async fn a_name_that_leads_elsewhere_after_its_registration_is_not_followed_there() {
    let house = House::on_this_machine().await;
    let receiver = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    let here = at(&["127.0.0.1"]);
    house.dns.set(NAME, [here.clone()]);
    house.register(&receiver.url("http", NAME)).await;
    for (answer, outcome) in [
        (at(&["169.254.169.254"]), "ADDRESS_REFUSED"),
        (at(&["127.0.0.1", "10.0.0.1"]), "ADDRESS_REFUSED"),
        (at(&["127.0.0.1", "::ffff:127.0.0.1"]), "ADDRESS_REFUSED"),
        // Public, but plain HTTP is for listed networks only.
        (at(&["93.184.215.14"]), "URL_REFUSED"),
        (Lookup::NoSuchName, "NAME_UNKNOWN"),
        (Lookup::Failure, "LOOKUP_FAILED"),
    ] {
        house.dns.set(NAME, [answer.clone()]);
        assert_eq!(house.outcome().await, outcome, "{answer:?}");
    }
    assert_eq!(receiver.received().connections, 0);
    house.dns.set(NAME, [here]);
    assert_eq!(house.outcome().await, "204");
}

// Contract: endpoint/public-address
#[tokio::test]
async fn a_name_that_changes_between_check_and_connection_is_looked_up_once() {
    let house = House::on_this_machine().await;
    let receiver = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    let trap = receiver.trap_beside().await;
    let (honest, bait) = (at(&["127.0.0.1"]), at(&["127.0.0.99"]));
    house.dns.set(NAME, [honest.clone()]);
    house.register(&receiver.url("http", NAME)).await;
    assert_eq!(house.dns.asked(NAME), 1);
    house.dns.set(NAME, [honest, bait]);
    assert_eq!(house.outcome().await, "204");
    assert_eq!(house.dns.asked(NAME), 1);
    assert_eq!(receiver.received().connections, 1);
    assert_eq!(trap.received().connections, 0);
}

#[tokio::test]
async fn a_kept_connection_is_used_again_and_the_name_not_looked_up() {
    let house = House::on_this_machine().await;
    let receiver = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    house.dns.set(NAME, [at(&["127.0.0.1"])]);
    house.register(&receiver.url("http", NAME)).await;
    assert_eq!(house.outcome().await, "204");
    // The kept connection goes to a checked address; a new one would be refused.
    house.dns.set(NAME, [at(&["10.0.0.1"])]);
    assert_eq!(house.outcome().await, "204");
    assert_eq!(house.dns.asked(NAME), 0);
    assert_eq!(receiver.received().connections, 1);
}

#[tokio::test]
async fn an_address_that_nobody_listens_on_gives_way_to_the_next_one() {
    let house = House::on_this_machine().await;
    let receiver = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    house.dns.set(NAME, [at(&["127.0.0.5", "127.0.0.1"])]);
    house.register(&receiver.url("http", NAME)).await;
    assert_eq!(house.outcome().await, "204");
    house.dns.set(NAME, [at(&["127.0.0.5"])]);
    let other = receiver.url("http", "other.example.com");
    house.dns.set("other.example.com", [at(&["127.0.0.5"])]);
    house.register(&other).await;
    assert_eq!(house.outcome().await, "CONNECTION_REFUSED");
}
