//! Maps that keep the order of their members.

use serde::{Serialize, Serializer};

/// A JSON object that keeps its order: fields appear in the order of the contract.
#[derive(Clone, Debug)]
pub(in crate::http) struct Listed<T>(Vec<(String, T)>);

impl<T> Listed<T> {
    pub(in crate::http) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a member at the end; names must not repeat.
    pub(in crate::http) fn push(&mut self, name: impl Into<String>, value: T) {
        self.0.push((name.into(), value));
    }

    pub(in crate::http) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut T)> {
        let members = self.0.iter_mut();
        members.map(|(name, value)| (name.as_str(), value))
    }

    pub(in crate::http) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Keeps the members whose names satisfy `keeps`.
    pub(in crate::http) fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| keeps(name));
    }

    /// The member with this name, added at the end if there is none.
    pub(in crate::http) fn entry(&mut self, name: &str) -> &mut T
    where
        T: Default,
    {
        let place = self.0.iter().position(|(each, _)| each == name);
        let place = place.unwrap_or_else(|| {
            self.push(name, T::default());
            self.0.len().saturating_sub(1)
        });
        #[expect(clippy::indexing_slicing, reason = "it was found or added just now")]
        &mut self.0[place].1
    }
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, N: Into<String>> FromIterator<(N, T)> for Listed<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(members: I) -> Self {
        let members = members.into_iter();
        Self(members.map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<T: Serialize> Serialize for Listed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
