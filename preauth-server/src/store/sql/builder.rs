//! A statement that is built from parts, with numbered values.

use std::fmt::Write;

use super::query::{Query, Text};
use super::value::Value;

/// A statement under construction. The same parts give the same text, which the driver has prepared.
#[derive(Debug)]
pub(super) struct Builder<'q> {
    text: String,
    values: Vec<Value<'q>>,
}

impl<'q> Builder<'q> {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            values: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds the placeholder of a value.
    pub(super) fn bind(&mut self, value: impl Into<Value<'q>>) -> &mut Self {
        self.values.push(value.into());
        // Writing to a text does not fail.
        let _ = write!(self.text, "${}", self.values.len());
        self
    }

    /// Adds the placeholders of a list of values, in parentheses.
    pub(super) fn bind_list<V>(&mut self, values: impl Iterator<Item = V>) -> &mut Self
    where
        V: Into<Value<'static>>,
    {
        self.push("(");
        for (n, value) in values.enumerate() {
            let value: Value<'static> = value.into();
            self.push(if n == 0 { "" } else { ", " });
            self.bind(value);
        }
        self.push(")")
    }

    pub(super) fn build(self) -> Query<'q> {
        Query {
            text: Text::Built(self.text),
            values: self.values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Builder, Text};

    #[test]
    fn values_are_numbered_in_the_order_of_the_text() {
        let mut query = Builder::new("SELECT 1 WHERE a = ");
        query
            .bind("x")
            .push(" AND b IN ")
            .bind_list([1_i64, 2].into_iter());
        let query = query.build();
        let Text::Built(text) = query.text else {
            panic!("built: {query:?}");
        };
        assert_eq!(text, "SELECT 1 WHERE a = $1 AND b IN ($2, $3)");
        assert_eq!(query.values.len(), 3);
    }
}
