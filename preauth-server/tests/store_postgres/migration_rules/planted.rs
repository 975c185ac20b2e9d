//! Migrations that violate one rule each, and some that violate none.

use super::rules::violations;

const BROKEN: [(&str, &str); 20] = [
    ("CREATE INDEX a ON events (id);", "without CONCURRENTLY"),
    ("DROP INDEX a;", "DROP in a step"),
    (
        "CREATE INDEX CONCURRENTLY a ON events (id);",
        "in a transaction",
    ),
    (
        "-- no-transaction\nCREATE INDEX CONCURRENTLY a ON events (id);",
        "not dropped first",
    ),
    (
        "ALTER TABLE events ADD COLUMN at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp();",
        "computed for each row",
    ),
    (
        "ALTER TABLE events ADD COLUMN a TEXT NOT NULL;",
        "without a default",
    ),
    (
        "ALTER TABLE events ADD COLUMN a BIGINT UNIQUE;",
        "reads or writes every row",
    ),
    (
        "ALTER TABLE events ADD CONSTRAINT a CHECK (id > 0);",
        "without NOT VALID",
    ),
    (
        "ALTER TABLE events VALIDATE CONSTRAINT a;",
        "VALIDATE CONSTRAINT in",
    ),
    (
        "ALTER TABLE events ALTER COLUMN a SET NOT NULL;",
        "narrowed",
    ),
    ("ALTER TABLE events ALTER COLUMN a TYPE BIGINT;", "narrowed"),
    ("ALTER TABLE events DROP COLUMN a;", "DROP in a step"),
    ("DROP TABLE IF EXISTS events;", "DROP in a step"),
    ("ALTER TABLE events RENAME COLUMN a TO b;", "RENAME"),
    ("ALTER TABLE events RENAME TO happenings;", "RENAME"),
    ("UPDATE deliveries SET a = 1 WHERE b = 2;", "every row"),
    (
        "INSERT INTO events (id) SELECT id FROM operations ON CONFLICT DO NOTHING;",
        "many rows at once",
    ),
    (
        "DO $$ BEGIN UPDATE deliveries SET a = 1; END $$;",
        "cannot follow",
    ),
    (
        "ALTER TABLE events ADD COLUMN a TEXT; ALTER TABLE deliveries ADD COLUMN a TEXT;",
        "several tables in one transaction",
    ),
    (
        "-- no-transaction\nUPDATE schema_compatibility SET oldest_supported = 7;",
        "needs a transaction",
    ),
];

const SOUND: [&str; 6] = [
    "-- DROP TABLE events;\nCREATE TABLE a (id BIGINT); CREATE INDEX b ON a (id);",
    "ALTER TABLE events ADD COLUMN a TEXT, ADD COLUMN b BIGINT NOT NULL DEFAULT 0;",
    "ALTER TABLE events ADD CONSTRAINT a CHECK (id > 0) NOT VALID;",
    "-- no-transaction\nDROP INDEX CONCURRENTLY IF EXISTS a;\n\
     CREATE UNIQUE INDEX CONCURRENTLY a ON events (id);\n\
     ALTER TABLE events VALIDATE CONSTRAINT b;",
    "CREATE OR REPLACE FUNCTION a() RETURNS TRIGGER LANGUAGE plpgsql AS $$\n\
     BEGIN UPDATE deliveries SET a = 1; DROP TABLE b; END $$;",
    "ALTER TABLE events DROP COLUMN a;\n\
     UPDATE schema_compatibility SET oldest_supported = 7;",
];

#[test]
fn each_rule_finds_what_it_is_there_for() {
    for (sql, expected) in BROKEN {
        let found = violations(sql, true, false);
        assert!(
            found.iter().any(|found| found.contains(expected)),
            "{sql}\n{found:#?}"
        );
    }
}

#[test]
fn a_sound_step_breaks_no_rule() {
    for sql in SOUND {
        let found = violations(sql, true, false);
        assert!(found.is_empty(), "{sql}\n{found:#?}");
    }
}

#[test]
fn objects_of_older_builds_are_dropped_in_the_step_after_the_end_of_their_support() {
    let sql = "-- no-transaction\nDROP INDEX CONCURRENTLY IF EXISTS a;";
    assert!(violations(sql, true, true).is_empty());
    assert!(!violations(sql, true, false).is_empty());
}

#[test]
fn a_table_of_sqlite_may_be_made_anew_under_its_name() {
    let anew = "CREATE TABLE events_anew (id INTEGER); \
                INSERT INTO events_anew SELECT id FROM events; \
                DROP TABLE events; ALTER TABLE events_anew RENAME TO events;";
    assert_eq!(violations(anew, false, false), [""; 0]);
    assert!(!violations("DROP TABLE events;", false, false).is_empty());
}
