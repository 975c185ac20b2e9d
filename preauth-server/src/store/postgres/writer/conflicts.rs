//! Which commits may share one statement.

use std::collections::HashMap;

use preauth_core::operation::Operation;
use preauth_core::port::{Commit, ReplyScope, Write};
use preauth_core::value::{Cnpj, CompanyId, IdempotencyKey, OperationId, PaymentOrderId};

/// Something that only one commit of a group may write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConflictKey {
    Operation(OperationId),
    Order(PaymentOrderId),
    /// With the normalized number.
    Invoice(CompanyId, Cnpj, String),
    Reply(ReplyScope, IdempotencyKey),
    Supplier(Cnpj),
}

/// Divides commits into groups of positions: no two commits of a group share a key, and commits
/// with the same key keep their order.
pub(super) fn disjoint(commits: &[Commit]) -> Vec<Vec<usize>> {
    divided(commits.iter().map(conflict_keys))
}

fn divided(all: impl Iterator<Item = Vec<ConflictKey>>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut first_free: HashMap<ConflictKey, usize> = HashMap::new();
    for (place, keys) in all.enumerate() {
        let taken = keys.iter().filter_map(|key| first_free.get(key));
        let group = taken.copied().max().unwrap_or_default();
        for key in keys {
            first_free.insert(key, group.saturating_add(1));
        }
        match groups.get_mut(group) {
            Some(members) => members.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

pub(super) fn conflict_keys(commit: &Commit) -> Vec<ConflictKey> {
    let mut keys = Vec::with_capacity(4);
    match &commit.write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => {
            keys.push(ConflictKey::Operation(operation.id));
            keys.extend(invoice(operation));
        }
        Write::NewOrder { order, .. } => {
            keys.push(ConflictKey::Order(order.id));
            keys.extend(order.operation.map(ConflictKey::Operation));
        }
        Write::Order(order) => keys.push(ConflictKey::Order(order.id)),
        // Their ids are unique.
        Write::NewInvoice(_) | Write::EventOnly { .. } => {}
    }
    if let Some(reply) = &commit.reply {
        keys.push(ConflictKey::Reply(reply.scope, reply.key.clone()));
    }
    if let Some(supplier) = &commit.supplier {
        keys.push(ConflictKey::Supplier(supplier.cnpj));
    }
    keys
}

/// The invoice that an operation takes or releases.
fn invoice(operation: &Operation) -> Option<ConflictKey> {
    let number = operation.invoice.number.as_ref()?;
    Some(ConflictKey::Invoice(
        operation.payer.head_office,
        operation.supplier.cnpj,
        number.compared().into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use preauth_core::port::ReplyScope;
    use preauth_core::value::{IdempotencyKey, OperationId};

    use super::{ConflictKey, divided};

    fn operation(id: i64) -> ConflictKey {
        ConflictKey::Operation(OperationId::new(id).unwrap())
    }

    fn key(text: &str) -> ConflictKey {
        ConflictKey::Reply(ReplyScope::Platform, IdempotencyKey::parse(text).unwrap())
    }

    #[test]
    fn commits_without_a_common_key_are_one_group() {
        let all = vec![vec![operation(1)], vec![], vec![operation(2)], vec![]];
        assert_eq!(divided(all.into_iter()), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn commits_with_the_same_key_keep_their_order() {
        let all = [1, 2, 1, 1, 2].map(|id| vec![operation(id)]);
        assert_eq!(divided(all.into_iter()), [vec![0, 1], vec![2, 4], vec![3]]);
    }

    #[test]
    fn a_commit_that_shares_keys_with_several_comes_after_all_of_them() {
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
