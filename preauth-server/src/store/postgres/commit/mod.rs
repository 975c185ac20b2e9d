//! Writes the commits of many callers as one statement, which is one transaction and one round
//! trip.
//!
//! A commit whose data changed in the meantime, or whose key was answered, is left out with all its
//! rows. If a constraint of the schema is violated, nothing is written; the writer then finds the
//! commit at fault (see `writer`).

mod audit_rows;
mod invoices;
mod leases;
mod locks;
mod operations;
mod orders;
mod platform_replies;
mod records;
mod replies;

use preauth_core::port::{Commit, NewReply, ReplyScope, Write};
use preauth_core::value::CompanyId;
use sqlx::{PgConnection, Row};

use super::statement::{Rows, Statement};
use audit_rows::AuditRows;
use invoices::NewInvoices;
pub(super) use leases::{CommitWithRooms, Leases};
use locks::{CompanyRefs, RowKind};
use operations::{Changes, Extensions, NewOperations};
use orders::{NewOrders, OrderChanges};
use platform_replies::{PlatformReplies, remember_platform_replies};
use records::{Deliveries, EventOperators, Events, Files, Mails, Suppliers, record_events};
use replies::Replies;

/// Maximum size of a group whose query plan is cached. A plan made for a few rows would join
/// thousands row by row.
const KEPT_PLAN_LIMIT: usize = 256;

/// The code for a written commit.
const WRITTEN: i32 = 0;
/// The code for a commit in the part `waiting`.
const LOCKED: i32 = 1;

/// The outcome of one commit of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Written in full.
    Written,
    /// A conflicting change was committed before.
    LeftOut,
    /// It needs a row that others have locked.
    Locked,
    /// Its idempotency key is being written by another instance.
    InProgress,
}

/// Writes the commits of one group, and returns the outcome of each.
///
/// No two of them may have the same subject (see [`Claims`](super::writer)).
pub(super) async fn write(
    connection: &mut PgConnection,
    group: &[CommitWithRooms<'_>],
) -> Result<(Vec<Outcome>, Leases), sqlx::Error> {
    execute(connection, Group::of(group), group.len()).await
}

/// Executes the statement of `callers` new operations with a key, a mail and perhaps a delivery, of companies that do not exist.
/// These count as locked (see `locks`), so nothing is written.
pub(super) async fn warm_up(
    connection: &mut PgConnection,
    callers: usize,
    have_deliveries: bool,
) -> Result<(), sqlx::Error> {
    let mut group = Group {
        has_leases: have_deliveries,
        ..Group::default()
    };
    for n in (0..).take(callers) {
        group.touches.add_blank(n);
        group.replies.add_blank(n);
        group.new_operations.add_blank(n);
        group.events.add_blank(n);
        if have_deliveries {
            group.deliveries.add_blank(n);
        }
        group.mails.add_blank(n);
    }
    execute(connection, group, callers).await.map(drop)
}

async fn execute(
    connection: &mut PgConnection,
    group: Group<'_>,
    callers: usize,
) -> Result<(Vec<Outcome>, Leases), sqlx::Error> {
    let mut statement = Statement::of(callers);
    let answer = group.write(&mut statement);
    let query = statement
        .answer(answer)
        .persistent(callers <= KEPT_PLAN_LIMIT);
    let mut outcomes = vec![Outcome::LeftOut; callers];
    let mut leases = Leases::default();
    for row in query.fetch_all(connection).await? {
        let n: Option<i32> = row.try_get(0)?;
        let Some(n) = n else {
            leases.read(&row);
            continue;
        };
        let place = usize::try_from(n).ok().and_then(|n| outcomes.get_mut(n));
        if let Some(outcome) = place {
            *outcome = match row.try_get(1)? {
                WRITTEN => Outcome::Written,
                LOCKED => Outcome::Locked,
                _ => Outcome::InProgress,
            };
        }
    }
    Ok((outcomes, leases))
}

/// Adds the statement's parts for some rows.
type Part = fn(&mut Statement);

/// The rows of a group, by table.
#[derive(Default)]
struct Group<'a> {
    touches: CompanyRefs,
    platform_replies: PlatformReplies<'a>,
    replies: Replies<'a>,
    new_operations: NewOperations<'a>,
    changes: Changes<'a>,
    extensions: Extensions<'a>,
    new_orders: NewOrders<'a>,
    order_changes: OrderChanges<'a>,
    invoices: NewInvoices<'a>,
    suppliers: Suppliers<'a>,
    events: Events<'a>,
    operators: EventOperators<'a>,
    audit_rows: AuditRows<'a>,
    deliveries: Deliveries<'a>,
    mails: Mails<'a>,
    files: Files<'a>,
    has_leases: bool,
}

impl<'a> Group<'a> {
    fn of(commits: &[CommitWithRooms<'a>]) -> Self {
        let mut group = Self::default();
        for (n, commit) in (0_i32..).zip(commits) {
            group.add(n, commit);
        }
        group
    }

    fn add(&mut self, n: i32, roomy: &CommitWithRooms<'a>) {
        let commit = roomy.commit;
        let expected = commit.write.expected_version();
        self.touches.add(n, commit);
        match &commit.write {
            Write::NewOperation(operation) => {
                self.new_operations.add(n, operation);
                // Only new operations invite a supplier, have a reply for a head office, or have a
                // file.
                if let Some(supplier) = &commit.supplier {
                    self.suppliers.add(n, supplier, commit);
                }
                if let Some((head_office, reply)) = head_office_reply(commit) {
                    self.replies
                        .add(n, operation.id, head_office, reply, commit.event.at);
                }
                if let Some(file) = &commit.file {
                    self.files.add(n, operation, file);
                }
            }
            Write::Operation {
                operation,
                extension,
            } => {
                self.changes.add(n, operation, expected);
                if let Some(record) = extension {
                    self.extensions.add(n, operation, record);
                }
            }
            Write::NewOrder { order, instead_of } => {
                self.new_orders.add(n, order, *instead_of);
            }
            Write::Order(order) => {
                self.order_changes.add(n, order, expected);
            }
            Write::NewInvoice(invoice) => self.invoices.add(n, invoice),
            Write::EventOnly { .. } => {}
        }
        if let Some(reply) = &commit.reply
            && reply.scope == ReplyScope::Platform
        {
            self.platform_replies.add(n, reply, commit.event.at);
        }
        self.events.add(n, commit);
        if let Some(operator) = &commit.operator {
            self.operators.add(n, operator, commit);
            if let Some(audited) = &commit.audited {
                self.audit_rows.add(n, operator, audited, commit);
            }
        }
        for (delivery, lease) in roomy.deliveries() {
            self.has_leases |= lease.is_some();
            self.deliveries.add(n, delivery, lease, commit);
        }
        if let Some(mail) = &commit.mail {
            self.mails.add(n, mail, commit);
        }
    }

    /// Adds the rows and the parts for them, and returns the end of the statement: a row for each
    /// commit that was written, that waits for a lock, or whose key is in progress.
    fn write(self, statement: &mut Statement) -> &'static str {
        // First, because the other parts skip the rows that it leaves out.
        let are_platforms = self.platform_replies.enter(statement);
        let are_keyed = self.replies.source(statement);
        // Every commit has an event and belongs to a company.
        self.events.source(statement);
        self.touches.source(statement);
        let mut needs = Vec::new();
        // The parts of `written`: the commits without a conflict.
        let mut aggregates: Vec<(&str, Part)> = vec![("announced", Events::announce)];
        if self.new_operations.source(statement) {
            let begin: Part = if are_keyed {
                |statement| NewOperations::write(statement, true)
            } else {
                |statement| NewOperations::write(statement, false)
            };
            aggregates.push(("begun", begin));
        }
        if self.changes.source(statement) {
            needs.push(RowKind::Operations);
            aggregates.push(("changed", Changes::write));
        }
        if self.new_orders.source(statement) {
            needs.push(RowKind::OperationsOfOrders);
            aggregates.push(("begun_order", NewOrders::write));
        }
        if self.order_changes.source(statement) {
            needs.push(RowKind::Orders);
            aggregates.push(("changed_order", OrderChanges::write));
        }
        let mut records: Vec<Part> = vec![record_events];
        let has_leases = self.has_leases;
        if self.deliveries.source(statement) {
            needs.push(RowKind::Endpoints);
            records.push(Deliveries::write);
        }
        let others: [(bool, Part); 7] = [
            (self.operators.source(statement), EventOperators::write),
            (self.audit_rows.source(statement), AuditRows::write),
            (self.invoices.source(statement), NewInvoices::write),
            (self.extensions.source(statement), Extensions::write),
            (self.suppliers.source(statement), Suppliers::write),
            (self.mails.source(statement), Mails::write),
            (self.files.source(statement), Files::write),
        ];
        records.extend(others.into_iter().filter(|it| it.0).map(|it| it.1));

        locks::lock(&needs, statement);
        if are_keyed {
            Replies::write(statement);
        }
        let mut written = Vec::new();
        for (name, write) in aggregates {
            write(statement);
            written.push(name);
        }
        statement.union("written", &written);
        for write in records {
            write(statement);
        }
        if are_platforms {
            remember_platform_replies(statement);
        }
        gather_outcomes(are_keyed, are_platforms, statement);
        if has_leases {
            leases::ANSWER
        } else {
            "SELECT n, code FROM outcome"
        }
    }
}

/// The part `outcome`: that of each commit, by its number (see [`Outcome`]); none for a commit that
/// was left out.
fn gather_outcomes(are_keyed: bool, are_platforms: bool, statement: &mut Statement) {
    let mut outcomes = vec![
        "SELECT n, 0 AS code FROM written",
        "SELECT n, 1 FROM waiting",
    ];
    if are_keyed {
        outcomes.push(
            "SELECT n, 2 FROM entering
                 WHERE NOT is_inside AND n NOT IN (SELECT n FROM waiting)",
        );
    }
    if are_platforms {
        outcomes.push("SELECT n, 2 FROM kept_out");
    }
    statement.selects("outcome", &outcomes);
}

/// The reply of a commit to a head office.
fn head_office_reply(commit: &Commit) -> Option<(CompanyId, &NewReply)> {
    let reply = commit.reply.as_ref()?;
    match reply.scope {
        ReplyScope::HeadOffice(head_office) => Some((head_office, reply)),
        ReplyScope::Platform => None,
    }
}
