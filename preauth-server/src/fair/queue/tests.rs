//! One tenant floods a queue; the effects on others.

use std::time::Duration;

use preauth_core::value::CompanyId;
use tokio::sync::oneshot;
use tokio::time::{Instant, advance, sleep};
use uuid::Uuid;

use super::super::{Tenant, charged_to};
use super::{QueueError, Queued, Receiver, Sender, channel};

const GROUP: usize = 4;
const FLOODING: u128 = 1;
const QUIET: u128 = 2;

/// A request with a name, and the channel to its caller.
struct Request(&'static str, oneshot::Sender<QueueError>);

type Answer = oneshot::Receiver<QueueError>;

impl Queued for Request {
    fn is_abandoned(&self) -> bool {
        self.1.is_closed()
    }

    fn refuse(self, reason: QueueError) {
        let _ = self.1.send(reason);
    }
}

fn head_office(number: u128) -> Tenant {
    Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(number)))
}

async fn send(
    queue: &Sender<Request>,
    tenant: Tenant,
    name: &'static str,
) -> Result<Answer, QueueError> {
    let (caller, answer) = oneshot::channel();
    charged_to(tenant, async { queue.send(Request(name, caller)) }).await?;
    Ok(answer)
}

/// Queues `count` requests of the flooding tenant.
async fn flood(queue: &Sender<Request>, count: usize) -> Vec<Answer> {
    let mut answers = Vec::new();
    for _ in 0..count {
        answers.push(send(queue, head_office(FLOODING), "flood").await.unwrap());
    }
    answers
}

async fn names(queue: &Receiver<Request>, limit: usize) -> Vec<&'static str> {
    let group = queue.take(limit).await;
    group.into_iter().map(|it| it.0).collect()
}

#[tokio::test]
async fn a_quiet_tenants_request_is_in_the_next_group_however_many_of_another_wait() {
    let (sender, receiver) = channel(1024, GROUP);
    let _flood = flood(&sender, 1000).await;
    let _answer = send(&sender, head_office(QUIET), "quiet").await.unwrap();
    let group = names(&receiver, 128).await;
    assert_eq!(group.len(), 128);
    assert_eq!(group[..3], ["flood", "quiet", "flood"]);
}

#[tokio::test]
async fn tenants_are_served_in_turn_and_each_in_its_order() {
    let (sender, receiver) = channel(16, GROUP);
    let mut answers = Vec::new();
    for (number, name) in [
        (1, "a1"),
        (1, "a2"),
        (1, "a3"),
        (2, "b1"),
        (2, "b2"),
        (3, "c1"),
    ] {
        answers.push(send(&sender, head_office(number), name).await.unwrap());
    }
    assert_eq!(names(&receiver, 4).await, ["a1", "b1", "c1", "a2"]);
    assert_eq!(names(&receiver, 4).await, ["b2", "a3"]);
}

#[tokio::test]
async fn a_full_queue_refuses_the_newest_of_the_tenant_with_most_requests() {
    let (sender, receiver) = channel(100, GROUP);
    let mut flood = flood(&sender, 100).await;
    let refused = send(&sender, head_office(FLOODING), "flood").await;
    assert_eq!(refused.unwrap_err(), QueueError::Full);
    let quiet = send(&sender, head_office(QUIET), "quiet").await.unwrap();
    assert_eq!(flood.pop().unwrap().await, Ok(QueueError::Full));
    assert_eq!(sender.length_and_limit(), (100, 100));
    assert_eq!(sender.refusals().full, 2);
    let group = names(&receiver, 200).await;
    assert_eq!(group.len(), 100);
    assert_eq!(group[1], "quiet");
    drop(quiet);
}

#[tokio::test]
async fn a_queue_full_of_equal_lines_refuses_new_requests() {
    let (sender, _receiver) = channel(3, GROUP);
    let mut answers = Vec::new();
    for number in 1..=3 {
        answers.push(send(&sender, head_office(number), "").await.unwrap());
    }
    let refused = send(&sender, head_office(4), "").await;
    assert_eq!(refused.unwrap_err(), QueueError::Full);
}

#[tokio::test]
async fn the_service_has_every_second_place_and_room_of_its_own() {
    let (sender, receiver) = channel(4, GROUP);
    let _flood = flood(&sender, 4).await;
    let mut own = Vec::new();
    for _ in 0..4 {
        own.push(send(&sender, Tenant::Service, "own").await.unwrap());
    }
    let refused = send(&sender, Tenant::Service, "own").await;
    assert_eq!(refused.unwrap_err(), QueueError::Full);
    let group = names(&receiver, 6).await;
    assert_eq!(group, ["own", "flood", "own", "flood", "own", "flood"]);
    assert_eq!(names(&receiver, 6).await, ["own", "flood"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_past_its_deadline_times_out_and_is_not_served() {
    let (sender, receiver) = channel(4, GROUP);
    let late = send(&sender, head_office(1), "late").await.unwrap();
    let own = send(&sender, Tenant::Service, "own").await.unwrap();
    advance(Duration::from_secs(4)).await;
    let in_time = send(&sender, head_office(1), "in time").await.unwrap();
    advance(Duration::from_secs(1)).await;
    assert_eq!(names(&receiver, 4).await, ["own", "in time"]);
    assert_eq!(late.await, Ok(QueueError::TimedOut));
    assert_eq!(sender.refusals().timed_out, 1);
    drop((own, in_time));
}

/// The task behind the queue is stuck: nothing is taken.
#[tokio::test(start_paused = true)]
async fn a_request_behind_a_stuck_task_is_refused_at_its_deadline() {
    let (sender, receiver) = channel(4, GROUP);
    let began = Instant::now();
    let ask = async |tenant| {
        let (caller, answer) = oneshot::channel();
        let asked = sender.ask(Request("", caller), answer);
        (charged_to(tenant, asked).await, began.elapsed())
    };
    let answered = (Ok(Ok(QueueError::TimedOut)), Duration::from_secs(5));
    assert_eq!(ask(head_office(1)).await, answered);
    assert_eq!(sender.length_and_limit(), (0, 4));
    assert_eq!(sender.refusals().timed_out, 1);
    drop(receiver);
}

#[tokio::test(start_paused = true)]
async fn a_request_being_served_is_awaited_beyond_its_deadline() {
    let (sender, receiver) = channel(4, GROUP);
    let (caller, answer) = oneshot::channel();
    let asked = charged_to(head_office(1), sender.ask(Request("", caller), answer));
    let serves = async {
        let mut group = receiver.take(1).await;
        sleep(Duration::from_mins(1)).await;
        let Request(_, caller) = group.pop().unwrap();
        caller.send(QueueError::Lost).unwrap();
    };
    let (answered, ()) = tokio::join!(asked, serves);
    assert_eq!(answered, Ok(Ok(QueueError::Lost)));
}

#[tokio::test(start_paused = true)]
async fn the_waits_of_one_request_add_up() {
    let (sender, receiver) = channel(4, GROUP);
    charged_to(head_office(1), async {
        let wait = async |sleeps| {
            let (caller, answer) = oneshot::channel();
            sender.send(Request("", caller)).unwrap();
            sleep(Duration::from_secs(sleeps)).await;
            let given_out = receiver.take(1);
            let _ = tokio::time::timeout(Duration::ZERO, given_out).await;
            answer.await.ok()
        };
        assert_eq!(wait(3).await, None);
        // Two of five seconds are left.
        assert_eq!(wait(2).await, Some(QueueError::TimedOut));
    })
    .await;
}

#[tokio::test]
async fn an_abandoned_request_is_served_only_if_it_is_the_services_own() {
    let (sender, receiver) = channel(4, GROUP);
    drop(send(&sender, head_office(1), "gone").await.unwrap());
    drop(send(&sender, Tenant::Service, "own").await.unwrap());
    let _stays = send(&sender, head_office(1), "stays").await.unwrap();
    assert_eq!(names(&receiver, 4).await, ["own", "stays"]);
    assert_eq!(sender.refusals().full, 0);
}

#[tokio::test]
async fn an_abandoned_request_makes_room_in_a_full_queue() {
    let (sender, receiver) = channel(2, GROUP);
    drop(flood(&sender, 2).await);
    let _kept = flood(&sender, 2).await;
    assert_eq!(names(&receiver, 4).await.len(), 2);
}

#[tokio::test]
async fn a_closed_queue_gives_out_what_waits_and_takes_no_more() {
    let (sender, receiver) = channel(4, GROUP);
    let _flood = flood(&sender, 3).await;
    sender.close();
    let late = send(&sender, head_office(QUIET), "quiet").await;
    assert_eq!(late.unwrap_err(), QueueError::Closed);
    assert_eq!(names(&receiver, 2).await.len(), 2);
    assert_eq!(names(&receiver, 2).await.len(), 1);
    assert!(names(&receiver, 2).await.is_empty());
    assert!(names(&receiver, 2).await.is_empty());
}

#[tokio::test]
async fn waiting_callers_are_refused_when_the_receiver_ends() {
    let (sender, receiver) = channel(4, GROUP);
    let waits = send(&sender, head_office(QUIET), "quiet").await.unwrap();
    drop(receiver);
    assert_eq!(waits.await, Ok(QueueError::Closed));
    let late = send(&sender, head_office(QUIET), "quiet").await;
    assert_eq!(late.unwrap_err(), QueueError::Closed);
}

#[tokio::test]
async fn several_tasks_take_from_one_queue() {
    let (sender, receiver) = channel(4, GROUP);
    let (first, second, _answers) =
        tokio::join!(names(&receiver, 1), names(&receiver, 1), flood(&sender, 2));
    assert_eq!((first.len(), second.len()), (1, 1));
}

/// Twice as many come as are served: a group of four every tenth of a second.
#[tokio::test(start_paused = true)]
async fn while_more_comes_than_is_served_what_is_accepted_waits_briefly() {
    const EVERY: Duration = Duration::from_millis(100);
    let (sender, receiver) = channel(1024, GROUP);
    let (mut kept, mut refused, mut longest) = (Vec::new(), 0, 0);
    for _ in 0..100 {
        for _ in 0..2 * GROUP {
            match send(&sender, head_office(FLOODING), "").await {
                Ok(answer) => kept.push(answer),
                Err(reason) => {
                    assert_eq!(reason, QueueError::Full);
                    refused += 1;
                }
            }
        }
        // Another tenant is not refused.
        kept.push(send(&sender, head_office(QUIET), "").await.unwrap());
        assert_eq!(receiver.take(GROUP).await.len(), GROUP);
        longest = longest.max(sender.length_and_limit().0);
        advance(EVERY).await;
    }
    assert!(refused > 400, "{refused}");
    assert!(longest <= 8 * GROUP, "{longest}");
    assert_eq!(sender.refusals().full, refused);
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_accepted_and_so_is_what_comes_while_nothing_is_served() {
    let (sender, receiver) = channel(64, GROUP);
    let mut kept = flood(&sender, 32).await;
    advance(Duration::from_secs(2)).await;
    // Nothing was taken meanwhile.
    kept.extend(flood(&sender, 8).await);
    for _ in 0..10 {
        assert_eq!(receiver.take(GROUP).await.len(), GROUP);
        // What gathered meanwhile does not count against those who come now.
        kept.extend(flood(&sender, 1).await);
    }
    kept.extend(flood(&sender, 22).await);
    assert_eq!(sender.refusals().full, 0);
    drop(kept);
}
