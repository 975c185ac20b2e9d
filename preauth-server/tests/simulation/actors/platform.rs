//! Suppliers, the company's users, the platform and the bank: they act on existing operations,
//! often two at once, and sometimes at the last moment of an offer.

use std::sync::Arc;

use chrono::Days;
use futures_util::future::join;
use preauth_core::operation::{Command, Operation, ReprovedBy, State};
use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{DueDate, ExtensionId, Money};
use preauth_server::clock::Clock;

use crate::clock::sleep_ms;
use crate::random::Random;
use crate::scene::INVOICES;
use crate::world::Cluster;

use super::creates::{Creation, create, retry_briefly};
use super::erp::command;
use super::some_instance;

const DEEDS: u32 = 14;
/// Deeds of the one who follows operations to their end.
const STEPS: u32 = 24;
/// Maximum wait for the last moment of an offer.
const MAX_WAIT_MS: i64 = 25_000;

/// Acts a few times.
pub(super) async fn acts(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..DEEDS {
        sleep_ms(random.below(3_000)).await;
        if random.chance(120) {
            advance(cluster, &mut random).await;
        }
        let Some(operation) = one_of_the_newest(cluster, &mut random).await else {
            continue;
        };
        if random.chance(300) {
            wait_for_the_end(cluster, &mut random, &operation).await;
        }
        if random.chance(400) {
            let one = act(cluster, &operation, random.fork());
            let other = act(cluster, &operation, random.fork());
            join(one, other).await;
        } else {
            act(cluster, &operation, random.fork()).await;
        }
    }
}

/// Leads one operation after the other to its end, beside what others do to it: few get there by chance.
pub(super) async fn follows(cluster: &Arc<Cluster>, mut random: Random) {
    let mut followed = None;
    for _ in 0..STEPS {
        sleep_ms(random.below(1_500)).await;
        let operation = match followed {
            Some(id) => {
                let queries = cluster.database.ground().queries;
                queries.find(Viewer::Platform, id).await.unwrap()
            }
            None => one_of_the_newest(cluster, &mut random).await,
        };
        let operation = operation.filter(|it| it.status().is_in_progress());
        followed = operation.as_ref().map(|operation| operation.id);
        if let Some(operation) = operation {
            let extension = reserve_extension(cluster, &operation).await;
            let command = next_step(&operation, extension, &mut random);
            let instance = some_instance(&mut random);
            super::erp::command(cluster, instance, Viewer::Platform, operation.id, command).await;
        }
    }
}

async fn reserve_extension(cluster: &Arc<Cluster>, operation: &Operation) -> Option<ExtensionId> {
    match operation.state {
        State::ToReceive { .. } => Some(cluster.database.ground().desk.reserve_extension().await),
        _ => None,
    }
}

/// A command that does not close the operation early.
fn next_step(
    operation: &Operation,
    extension: Option<ExtensionId>,
    random: &mut Random,
) -> Command {
    loop {
        let command = deed(operation, extension, random);
        let closes_early = matches!(
            command,
            Command::Reprove { .. }
                | Command::Decline { .. }
                | Command::Cancel
                | Command::Withdraw { .. }
        );
        if !closes_early {
            return command;
        }
    }
}

async fn act(cluster: &Arc<Cluster>, operation: &Operation, mut random: Random) {
    let extension = reserve_extension(cluster, operation).await;
    let deed = deed(operation, extension, &mut random);
    let instance = some_instance(&mut random);
    command(cluster, instance, Viewer::Platform, operation.id, deed).await;
}

async fn one_of_the_newest(cluster: &Arc<Cluster>, random: &mut Random) -> Option<Operation> {
    let page = PageRequest { page: 1, limit: 4 };
    let queries = cluster.database.ground().queries;
    let everything = Filter::default();
    let listed = queries.list(Viewer::Platform, &everything, page).await;
    let operations = listed.unwrap().operations;
    let count = u64::try_from(operations.len()).unwrap();
    let chosen = random.below(count.max(1));
    operations.into_iter().nth(usize::try_from(chosen).unwrap())
}

/// Waits until an offer is about to expire.
async fn wait_for_the_end(cluster: &Arc<Cluster>, random: &mut Random, operation: &Operation) {
    if let (State::InPreAuth, Some(end)) = (&operation.state, operation.expires_at) {
        let left = end.since(cluster.clock.now()).num_milliseconds();
        if (0..MAX_WAIT_MS).contains(&left) {
            let early = random.below(300);
            sleep_ms(left.unsigned_abs().saturating_sub(early)).await;
        }
    }
}

/// Creates a direct advance for one of the few invoices, or without an invoice number: then only
/// the reserved id, or the key, prevents a duplicate.
async fn advance(cluster: &Arc<Cluster>, random: &mut Random) {
    let invoice = usize::try_from(random.below(INVOICES)).unwrap();
    let creation = Creation::Advance {
        invoice: random.chance(500).then_some(invoice),
        number: random.below(2),
    };
    if random.chance(500) {
        retry_briefly(cluster, random.fork(), creation).await;
    } else {
        create(cluster, some_instance(random), &creation, false).await;
    }
}

/// A command that is allowed in the operation's state, as far as the actor can see it.
fn deed(operation: &Operation, extension: Option<ExtensionId>, random: &mut Random) -> Command {
    let reprove = |by| Command::Reprove { by, reason: None };
    let (by_company, by_platform) = (reprove(ReprovedBy::Company), reprove(ReprovedBy::Platform));
    let possible = match &operation.state {
        State::InPreAuth => vec![
            Command::Request,
            Command::Request,
            Command::Decline { reason: None },
            Command::Cancel,
            Command::Withdraw { reason: None },
        ],
        State::InVerification => vec![Command::Verify, Command::Verify, by_company, by_platform],
        State::ToApprove => vec![Command::Approve, Command::Approve, by_company, by_platform],
        State::InAnalysis => {
            let limit = operation.invoice.amounts.net_limit().cents();
            let cents = limit - i64::try_from(random.below(1_000)).unwrap();
            let net_amount = Money::from_cents(cents).unwrap();
            vec![Command::Release { net_amount }, by_platform]
        }
        State::ToPay => vec![Command::Pay, Command::Pay, by_platform],
        State::ToBill => vec![Command::Bill, Command::Bill, Command::ReturnPayout],
        State::ToReceive {
            extension: Some(open),
            ..
        } => vec![
            Command::ConcludeExtension { id: open.id },
            Command::CancelExtension { id: open.id },
            Command::Conclude,
        ],
        State::ToReceive {
            boleto_due_date,
            extension: None,
        } => {
            let later = boleto_due_date.date().checked_add_days(Days::new(7));
            vec![
                Command::CreateExtension {
                    id: extension.unwrap(),
                    new_due_date: DueDate::from_date(later.unwrap()).unwrap(),
                    total_amount: operation.invoice.amounts.amount(),
                },
                Command::Conclude,
                Command::ReturnPayout,
            ]
        }
        State::Concluded => vec![Command::Conclude, by_platform],
        State::Reproved(_) => vec![Command::Reopen, Command::Reopen, Command::Request],
    };
    let count = u64::try_from(possible.len()).unwrap();
    let chosen = usize::try_from(random.below(count)).unwrap();
    possible.into_iter().nth(chosen).unwrap()
}
