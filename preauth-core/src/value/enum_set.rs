//! A small set of members of a closed enum.

use std::fmt;
use std::marker::PhantomData;

use super::TextEnum;

/// A set of members of a closed enum: a `Copy` bit set, iterated in contract order.
///
/// The enum may have up to 32 members, more than any enum of the contract that is used in a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EnumSet<T> {
    bits: u32,
    members: PhantomData<T>,
}

impl<T: TextEnum> EnumSet<T> {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        // A 33rd member would have no bit and would silently be missing, so this fails to compile.
        const {
            assert!(
                T::ALL.len() <= 32,
                "the enum has more members than the set has bits"
            );
        };
        Self {
            bits: 0,
            members: PhantomData,
        }
    }

    /// The set of all members.
    #[must_use]
    pub fn all() -> Self {
        T::ALL.iter().copied().collect()
    }

    /// Adds a member; adding it again changes nothing.
    pub fn insert(&mut self, member: T) {
        self.bits |= bit(member);
    }

    /// Whether the member is in the set.
    #[must_use]
    pub fn contains(&self, member: T) -> bool {
        self.bits & bit(member) != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// The number of members.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.bits.count_ones()
    }

    /// The members in the order of the contract, regardless of the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<T> {
        let set = *self;
        T::ALL
            .iter()
            .copied()
            .filter(move |member| set.contains(*member))
    }
}

fn bit<T: TextEnum>(member: T) -> u32 {
    let position = T::ALL.iter().zip(0..).find(|(each, _)| **each == member);
    position.map_or(0, |(_, n)| 1_u32.wrapping_shl(n))
}

impl<T: TextEnum> Default for EnumSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: TextEnum> Extend<T> for EnumSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, members: I) {
        members.into_iter().for_each(|member| self.insert(member));
    }
}

impl<T: TextEnum> FromIterator<T> for EnumSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(members: I) -> Self {
        let mut set = Self::new();
        set.extend(members);
        set
    }
}

impl<T: TextEnum> fmt::Debug for EnumSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::value::{EventType, EventTypeSet, Scope, ScopeSet};

    #[test]
    fn a_new_set_has_no_member() {
        let set = ScopeSet::new();
        assert!(set.is_empty());
        assert!(Scope::ALL.iter().all(|scope| !set.contains(*scope)));
    }

    #[test]
    fn members_come_back_in_contract_order_and_once() {
        let set: ScopeSet = [Scope::NotesRead, Scope::PreauthRead, Scope::NotesRead]
            .into_iter()
            .collect();
        assert_eq!(
            set.iter().collect::<Vec<_>>(),
            [Scope::PreauthRead, Scope::NotesRead]
        );
        assert_eq!(set.len(), 2);
        assert!(!set.contains(Scope::PreauthWrite));
    }

    #[test]
    fn every_member_of_the_largest_enum_has_a_place_of_its_own() {
        for member in EventType::ALL {
            let set: EventTypeSet = [*member].into_iter().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), [*member]);
        }
        assert_eq!(EventTypeSet::all().len(), 25);
    }

    #[test]
    fn debug_names_the_members() {
        let set: ScopeSet = [Scope::PreauthWrite].into_iter().collect();
        assert_eq!(format!("{set:?}"), "{PreauthWrite}");
    }
}
