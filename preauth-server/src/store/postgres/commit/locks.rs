//! Locks the existing rows that a group of commits needs and that other transactions may hold.
//!
//! Everything is locked before anything is written, and no lock is waited for: a commit that needs
//! a row which is locked elsewhere is left out as `waiting`, so that it delays no other.

use preauth_core::port::{Commit, Write};
use preauth_core::value::CompanyId;
use uuid::Uuid;

use super::super::statement::{Rows, Statement};

/// The companies that commits refer to, as rows for a [`Statement`].
#[derive(Default)]
pub(super) struct CompanyRefs {
    n: Vec<i32>,
    company_id: Vec<Uuid>,
}

/// A kind of row, other than companies, that the commits of a group need.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowKind {
    Endpoints,
    Operations,
    Orders,
    OperationsOfOrders,
}

impl CompanyRefs {
    pub(super) fn add(&mut self, n: i32, commit: &Commit) {
        self.push(n, commit.write.head_office());
        match &commit.write {
            Write::NewOperation(operation) => {
                self.push(n, operation.payer.company);
                // A company that the commit creates cannot be locked by others.
                if commit.supplier.as_ref().is_none_or(|it| !it.is_first) {
                    self.push(n, operation.supplier.company);
                }
            }
            Write::NewOrder { order, .. } => {
                self.push(n, order.payer.company);
                self.push(n, order.supplier.company);
            }
            Write::NewInvoice(invoice) => {
                self.push(n, invoice.payer.company);
                self.push(n, invoice.supplier.company);
            }
            Write::Operation { .. } | Write::Order(_) | Write::EventOnly { .. } => {}
        }
    }

    pub(super) fn source(self, statement: &mut Statement) {
        statement.open("touch", &["n", "company_id"], self.n.len());
        statement.column(self.n);
        statement.column(self.company_id);
        statement.close();
    }

    fn push(&mut self, n: i32, company: CompanyId) {
        self.n.push(n);
        self.company_id.push(*company.as_uuid());
    }
}

impl Rows for CompanyRefs {
    /// Adds the companies of a new operation, which do not exist.
    fn add_blank(&mut self, n: i32) {
        for _ in ["head office", "payer", "supplier"] {
            self.push(n, CompanyId::new(Uuid::nil()));
        }
    }
}

/// Locks the rows as the statement would later, and defines the part `waiting`: the commits that
/// need a row which others have locked. A company that does not exist counts as one: no foreign key
/// refuses it.
///
/// Each row is found by its key, independent of table statistics.
pub(super) fn lock(needs: &[RowKind], statement: &mut Statement) {
    let mut waiting =
        vec!["SELECT t.n FROM touch t WHERE t.company_id NOT IN (SELECT id FROM free_company)"];
    waiting.extend(needs.iter().map(|need| need.lock(statement)));
    statement.part(
        "free_company AS MATERIALIZED (
             SELECT c.id
             FROM (SELECT DISTINCT company_id FROM touch) AS t
             CROSS JOIN LATERAL (
                 SELECT c.id FROM companies c WHERE c.id = t.company_id
                 FOR KEY SHARE SKIP LOCKED) AS c)",
    );
    statement.selects("waiting", &waiting);
}

impl RowKind {
    /// Locks rows of this kind; returns the query of the commits for which a row was not free.
    fn lock(self, statement: &mut Statement) -> &'static str {
        match self {
            // The columns of an endpoint that deliveries need are read under its lock, which prevents a
            // concurrent deletion from missing a delivery that is not committed yet. Whether it is deleted is
            // asked of the row that was found: as a condition of the search it lets the planner go over the
            // index of all that are not deleted, which of a few rows costs the same.
            Self::Endpoints => {
                statement.part(
                    "free_endpoint AS MATERIALIZED (
                         SELECT e.id, e.head_office_id, e.is_paused, e.is_ready
                         FROM (SELECT DISTINCT endpoint_id FROM delivery) AS d
                         CROSS JOIN LATERAL (
                             SELECT e.id, e.head_office_id, e.deleted_at,
                                    e.paused_at IS NOT NULL AS is_paused,
                                    e.paused_at IS NULL AND NOT e.is_slow AS is_ready
                             FROM endpoints e WHERE e.id = d.endpoint_id LIMIT 1
                             FOR KEY SHARE SKIP LOCKED) AS e
                         WHERE e.deleted_at IS NULL)",
                );
                "SELECT d.n FROM delivery d
                 WHERE d.endpoint_id NOT IN (SELECT id FROM free_endpoint)
                   AND (SELECT e.deleted_at IS NULL FROM endpoints e
                        WHERE e.id = d.endpoint_id LIMIT 1)"
            }
            Self::Operations => {
                statement.part(
                    "free_operation AS MATERIALIZED (
                         SELECT c.n
                         FROM change c CROSS JOIN LATERAL (
                             SELECT o.id FROM operations o
                             WHERE o.id = c.id AND o.version = c.expected
                             FOR NO KEY UPDATE SKIP LOCKED) AS o)",
                );
                "SELECT c.n FROM change c
                 WHERE c.n NOT IN (SELECT n FROM free_operation)
                   AND EXISTS (SELECT 1 FROM operations o
                               WHERE o.id = c.id AND o.version = c.expected)"
            }
            Self::Orders => {
                statement.part(
                    "free_order AS MATERIALIZED (
                         SELECT c.n
                         FROM order_change c CROSS JOIN LATERAL (
                             SELECT o.id FROM payment_orders o
                             WHERE o.id = c.id AND o.version = c.expected
                             FOR NO KEY UPDATE SKIP LOCKED) AS o)",
                );
                "SELECT c.n FROM order_change c
                 WHERE c.n NOT IN (SELECT n FROM free_order)
                   AND EXISTS (SELECT 1 FROM payment_orders o
                               WHERE o.id = c.id AND o.version = c.expected)"
            }
            Self::OperationsOfOrders => {
                statement.part(
                    "free_advance AS MATERIALIZED (
                         SELECT c.n
                         FROM new_order c CROSS JOIN LATERAL (
                             SELECT o.id FROM operations o WHERE o.id = c.operation_id
                             FOR KEY SHARE SKIP LOCKED) AS o)",
                );
                "SELECT c.n FROM new_order c
                 WHERE c.n NOT IN (SELECT n FROM free_advance)
                   AND EXISTS (SELECT 1 FROM operations o WHERE o.id = c.operation_id)"
            }
        }
    }
}
