//! The history of a drill, and an independent check of it: PostgreSQL reads the bytes that were sent and received, without
//! code of the service, its client or its verifier.

use test_support::Database;

/// What happened to an offer, or with it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Answered with 201.
    Acknowledged,
    /// Answered that nothing was done.
    Refused,
    /// Without a definite answer.
    Unanswered,
    /// Canceled, with an answer that says so.
    Canceled,
    /// A page of the list that the service has afterwards.
    Listed,
    /// A webhook, at each attempt.
    Received,
}

/// The records of a drill, in columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    what: Vec<&'static str>,
    numbers: Vec<Option<String>>,
    bodies: Vec<Option<String>>,
}

impl History {
    /// Adds a record, with the invoice's number and the bytes that were sent or received, if there are any.
    pub(crate) fn add(&mut self, what: What, number: Option<&str>, body: Option<&[u8]>) {
        self.what.push(match what {
            What::Acknowledged => "acknowledged",
            What::Refused => "refused",
            What::Unanswered => "unanswered",
            What::Canceled => "canceled",
            What::Listed => "listed",
            What::Received => "received",
        });
        self.numbers.push(number.map(str::to_owned));
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        self.bodies.push(body.map(text));
    }

    /// The rules that it violates, a line for each violation.
    pub(crate) async fn violations(&self) -> Vec<String> {
        let database = Database::empty().await;
        let sql = database.sql().await;
        let violations = sqlx::query_scalar(include_str!("violations.sql"))
            .bind(&self.what)
            .bind(&self.numbers)
            .bind(&self.bodies)
            .fetch_all(&sql);
        violations.await.unwrap()
    }
}

const CREATED: &str = "pre_authorization.created";
const REVOKED: &str = "pre_authorization.revoked";

fn operation(id: i64, number: &str, status: &str) -> String {
    format!(r#"{{"id": {id}, "status": "{status}", "invoice": {{"number": "{number}"}}}}"#)
}

fn event(id: &str, kind: &str, operation: i64) -> String {
    format!(r#"{{"id": "{id}", "type": "{kind}", "data": {{"anticipationId": {operation}}}}}"#)
}

impl History {
    fn with(mut self, what: What, number: &str, body: &str) -> Self {
        let number = Some(number).filter(|it| !it.is_empty());
        let body = Some(body.as_bytes()).filter(|it| !it.is_empty());
        self.add(what, number, body);
        self
    }

    fn list(self, operations: &[String]) -> Self {
        let page = format!(r#"{{"data": [{}]}}"#, operations.join(", "));
        self.with(What::Listed, "", &page)
    }

    fn event(self, id: &str, kind: &str, operation: i64) -> Self {
        self.with(What::Received, "", &event(id, kind, operation))
    }

    /// An operation that is listed, and whose event arrived.
    fn created(self, id: i64, number: &str) -> Self {
        let listed = self.list(&[operation(id, number, "IN_PRE_AUTH")]);
        listed.event(&format!("of {id}"), CREATED, id)
    }

    /// Of an offer, one that was canceled, one that was refused, and one without an answer that was created.
    fn sound() -> Self {
        Self::default()
            .with(What::Acknowledged, "A", &operation(1, "A", "IN_PRE_AUTH"))
            .with(What::Acknowledged, "B", &operation(2, "B", "IN_PRE_AUTH"))
            .with(What::Canceled, "B", "")
            .with(What::Refused, "C", "")
            .with(What::Unanswered, "D", "")
            .list(&[
                operation(1, "A", "IN_PRE_AUTH"),
                operation(2, "B", "REPROVED"),
            ])
            .list(&[operation(4, "D", "IN_PRE_AUTH")])
            .event("a", CREATED, 1)
            .event("b", CREATED, 2)
            .event("c", REVOKED, 2)
            .event("d", CREATED, 4)
    }
}

#[tokio::test]
async fn a_sound_history_has_no_violations() {
    let sound = History::sound();
    assert_eq!(sound.violations().await, [""; 0]);
    // A webhook that arrives again is none.
    let again = sound.event("a", CREATED, 1);
    assert_eq!(again.violations().await, [""; 0]);
}

#[tokio::test]
async fn each_rule_finds_a_planted_violation() {
    let sound = History::sound;
    let lost = operation(5, "E", "IN_PRE_AUTH");
    let other = operation(1, "F", "IN_PRE_AUTH");
    let planted = [
        (
            sound().with(What::Acknowledged, "E", &lost),
            vec!["acknowledged, and not listed with its number: E"],
        ),
        (
            sound().with(What::Acknowledged, "F", &other),
            vec![
                "acknowledged, and not listed with its number: F",
                "two acknowledged as one: 1",
            ],
        ),
        (sound().created(6, "A"), vec!["listed twice: A"]),
        (
            sound()
                .with(What::Unanswered, "I", "")
                .list(&[operation(1, "I", "IN_PRE_AUTH")]),
            vec!["two listed as one: 1"],
        ),
        (
            sound().with(What::Canceled, "A", ""),
            vec!["canceled, and IN_PRE_AUTH: A"],
        ),
        (
            sound()
                .with(What::Unanswered, "J", "")
                .list(&[operation(9, "J", "REPROVED")])
                .event("e", CREATED, 9)
                .event("f", REVOKED, 9),
            vec!["REPROVED, and nobody canceled it: J"],
        ),
        (sound().created(3, "C"), vec!["refused, and listed: C"]),
        (
            sound().created(7, "G"),
            vec!["listed, and nobody asked for it: G"],
        ),
        (
            sound().event("e", CREATED, 1),
            vec!["owed once, and received 2 times: pre_authorization.created of 1"],
        ),
        (
            sound()
                .with(What::Unanswered, "H", "")
                .list(&[operation(8, "H", "IN_PRE_AUTH")]),
            vec!["owed once, and received 0 times: pre_authorization.created of 8"],
        ),
        (
            sound().event("e", REVOKED, 1),
            vec!["received, and not owed: pre_authorization.revoked of 1"],
        ),
        (
            sound().with(
                What::Received,
                "",
                &event("a", CREATED, 1).replace(": ", ":"),
            ),
            vec!["one event, different bytes: a"],
        ),
    ];
    for (history, expected) in planted {
        assert_eq!(history.violations().await, expected, "{history:?}");
    }
}
