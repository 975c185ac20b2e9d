//! Which commits may share one statement.

use std::collections::HashMap;

use preauth_core::operation::Operation;
use preauth_core::port::{Commit, ReplyScope, Write};
use preauth_core::value::{Cnpj, CompanyId, IdempotencyKey, OperationId, PaymentOrderId};

/// A subject that only one commit of a group may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Claim {
    Operation(OperationId),
    Order(PaymentOrderId),
    /// With the normalized number.
    Invoice(CompanyId, Cnpj, String),
    Key(ReplyScope, IdempotencyKey),
    Supplier(Cnpj),
}

/// Divides commits into groups of positions: no two commits of a group share a subject, and commits
/// with the same subject keep their order.
pub(super) fn disjoint(commits: &[Commit]) -> Vec<Vec<usize>> {
    divided(commits.iter().map(claims_of))
}

fn divided(all: impl Iterator<Item = Vec<Claim>>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut first_free: HashMap<Claim, usize> = HashMap::new();
    for (place, claims) in all.enumerate() {
        let taken = claims.iter().filter_map(|claim| first_free.get(claim));
        let group = taken.copied().max().unwrap_or_default();
        for claim in claims {
            first_free.insert(claim, group.saturating_add(1));
        }
        match groups.get_mut(group) {
            Some(members) => members.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

pub(super) fn claims_of(commit: &Commit) -> Vec<Claim> {
    let mut claims = Vec::with_capacity(4);
    match &commit.write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => {
            claims.push(Claim::Operation(operation.id));
            claims.extend(invoice(operation));
        }
        Write::NewOrder { order, .. } => {
            claims.push(Claim::Order(order.id));
            claims.extend(order.operation.map(Claim::Operation));
        }
        Write::Order(order) => claims.push(Claim::Order(order.id)),
        // Their ids are unique.
        Write::NewInvoice(_) | Write::EventOnly { .. } => {}
    }
    if let Some(reply) = &commit.reply {
        claims.push(Claim::Key(reply.scope, reply.key.clone()));
    }
    if let Some(supplier) = &commit.supplier {
        claims.push(Claim::Supplier(supplier.cnpj));
    }
    claims
}

/// The invoice that an operation takes or releases.
fn invoice(operation: &Operation) -> Option<Claim> {
    let number = operation.invoice.number.as_ref()?;
    Some(Claim::Invoice(
        operation.payer.head_office,
        operation.supplier.cnpj,
        number.compared().into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use preauth_core::port::ReplyScope;
    use preauth_core::value::{IdempotencyKey, OperationId};

    use super::{Claim, divided};

    fn operation(id: i64) -> Claim {
        Claim::Operation(OperationId::new(id).unwrap())
    }

    fn key(text: &str) -> Claim {
        Claim::Key(ReplyScope::Platform, IdempotencyKey::parse(text).unwrap())
    }

    #[test]
    fn what_has_nothing_in_common_stands_together() {
        let all = vec![vec![operation(1)], vec![], vec![operation(2)], vec![]];
        assert_eq!(divided(all.into_iter()), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn what_is_about_the_same_thing_keeps_its_order() {
        let all = [1, 2, 1, 1, 2].map(|id| vec![operation(id)]);
        assert_eq!(divided(all.into_iter()), [vec![0, 1], vec![2, 4], vec![3]]);
    }

    #[test]
    fn what_has_something_in_common_with_several_comes_after_all_of_them() {
        let all = vec![
            vec![operation(1)],
            vec![operation(1), key("key-number-1")],
            vec![operation(2), key("key-number-1")],
            vec![operation(2)],
        ];
        // The last commit could be in the second group, but then it would come before the third.
        assert_eq!(
            divided(all.into_iter()),
            [vec![0], vec![1], vec![2], vec![3]]
        );
    }
}
