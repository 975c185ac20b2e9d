//! Rows that are found by a key, and asked for the words of a partial index besides. The planner may then read all of that
//! index instead: of a few analysed rows it costs the same, so that which one is kept is chance.

use sqlx::PgPool;

use super::reported::Scan;

/// A partial index, and the indexes of one other column of its table: for these it would be read from end to end.
pub(super) struct Partial {
    relation: String,
    terms: Vec<String>,
    keys: Vec<String>,
}

pub(super) async fn all(sql: &PgPool) -> Vec<Partial> {
    let partial: Vec<(String, String, Vec<String>)> = sqlx::query_as(
        "SELECT c.relname::TEXT AS relation, pg_get_expr(p.indpred, p.indrelid) AS predicate,
                array_agg(k.indexrelid::REGCLASS::TEXT) AS keys
         FROM pg_index p JOIN pg_class c ON c.oid = p.indrelid
         JOIN pg_index k ON k.indrelid = p.indrelid AND k.indnkeyatts = 1
                        AND k.indkey[0] <> p.indkey[0]
         WHERE p.indpred IS NOT NULL AND c.relnamespace = 'public'::REGNAMESPACE
         GROUP BY c.relname, p.indpred, p.indrelid",
    )
    .fetch_all(sql)
    .await
    .unwrap();
    let partial = partial
        .into_iter()
        .map(|(relation, predicate, keys)| Partial {
            relation,
            terms: terms(&predicate),
            keys,
        });
    partial.collect()
}

impl Partial {
    /// Whether this index could be read from end to end instead of finding the row by its key.
    pub(super) fn may_replace(&self, scan: &Scan) -> bool {
        let known = [terms(&scan.condition), terms(&scan.filter)].concat();
        scan.relation == self.relation
            && self.keys.contains(&scan.index)
            && scan.condition.contains(" = ")
            && self
                .terms
                .iter()
                .all(|term| known.iter().any(|it| implies(it, term)))
    }
}

/// A comparison of a column implies that it has a value.
fn implies(known: &str, term: &str) -> bool {
    known == term
        || term.strip_suffix(" IS NOT NULL").is_some_and(|column| {
            let rest = known.strip_prefix(column).unwrap_or_default();
            [" = ", " < ", " <= ", " > ", " >= "]
                .iter()
                .any(|it| rest.starts_with(it))
        })
}

/// The conditions that must all hold, without their own brackets and the aliases of tables.
fn terms(condition: &str) -> Vec<String> {
    let words = condition.split(' ').map(without_alias).collect::<Vec<_>>();
    let condition = words.join(" ");
    let (mut terms, mut term) = (Vec::new(), String::new());
    for part in without_brackets(&condition).split(" AND ") {
        term += part;
        if is_balanced(&term) {
            terms.push(without_brackets(&term).to_owned());
            term.clear();
        } else {
            term += " AND ";
        }
    }
    terms
}

/// Without the brackets around all of it.
fn without_brackets(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    inner.filter(|it| is_balanced(it)).unwrap_or(text)
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|it| {
        depth += i32::from(it == '(') - i32::from(it == ')');
        depth >= 0
    }) && depth == 0
}

/// `e.deleted_at` is `deleted_at` in a predicate.
fn without_alias(word: &str) -> String {
    let name = word.trim_start_matches('(');
    let brackets = word.strip_suffix(name).unwrap_or_default();
    let is_alias = |it: &str| it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    match name.split_once('.') {
        Some((alias, column)) if is_alias(alias) => format!("{brackets}{column}"),
        _ => word.to_owned(),
    }
}
