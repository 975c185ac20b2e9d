//! What other forms of an index would save: the database's time for the rows of a create by pgbench, with
//! the index as the schema has it and in another form.

use std::fs;

use crate::baseline;
use crate::run::Run;
use crate::scene::Scene;
use crate::table::Table;
use crate::table::Target::None;

const CLIENTS: usize = 64;
/// In place of the script's random ids: in order of time, as the server's own are.
const ID_IN_ORDER: &str = "(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') \
     || '7' || substr(md5(random()::text), 1, 19))::uuid";

/// An index, or two, in both forms.
struct Form {
    what: &'static str,
    names: &'static [&'static str],
    of_schema: &'static [&'static str],
    other: &'static [&'static str],
}

const FORMS: [Form; 4] = [
    Form {
        what: "operations_of_payer for branches alone",
        names: &["operations_of_payer"],
        of_schema: &["operations_of_payer ON operations (head_office_id, payer_id, id, status)"],
        other: &[
            "operations_of_payer ON operations (head_office_id, payer_id, id, status)
             WHERE payer_id <> head_office_id",
        ],
    },
    Form {
        what: "the replies' expiry by ranges of pages",
        names: &["idempotency_replies_expiring"],
        of_schema: &["idempotency_replies_expiring ON idempotency_replies (expires_at)"],
        other: &[
            "idempotency_replies_expiring ON idempotency_replies USING brin (expires_at)
             WITH (pages_per_range = 32, autosummarize = on)",
        ],
    },
    Form {
        what: "the time of operations by ranges of pages alone",
        names: &["operations_by_creation"],
        of_schema: &["operations_by_creation ON operations (created_at, id)"],
        other: &[],
    },
    Form {
        what: "deliveries and mails of a company by their ids",
        names: &["deliveries_newest_first", "notices_newest_first"],
        of_schema: &[
            "deliveries_newest_first ON deliveries (head_office_id, created_at, id)",
            "notices_newest_first ON notices (head_office_id, staged_at, id)",
        ],
        other: &[
            "deliveries_newest_first ON deliveries (head_office_id, id)",
            "notices_newest_first ON notices (head_office_id, id)",
        ],
    },
];

pub(crate) fn run(run: &Run, table: &mut Table) {
    let scene = Scene::postgres(run);
    let script = scene.folder().join("create.sql");
    let rows = fs::read_to_string(baseline::CREATE).unwrap();
    fs::write(&script, rows.replace("gen_random_uuid()", ID_IN_ORDER)).unwrap();
    let script = script.to_str().unwrap();
    let warm_up = run.size(3, 1);
    baseline::run(&scene, script, CLIENTS, warm_up);
    let forms = if run.is_short { 1 } else { FORMS.len() };
    for form in FORMS.iter().take(forms) {
        let measured = |indexes: &[&str]| {
            build(&scene, form.names, indexes);
            let done = baseline::run(&scene, script, CLIENTS, run.seconds);
            done.spent.database_each(done.transactions)
        };
        run.alternate(
            || measured(form.of_schema),
            || measured(form.other),
            |schema, other| {
                let what = format!("rows of a create, {}: CPU time of the database", form.what);
                table.ratio(&what, "as in the schema", None, " us", (other, schema));
            },
        );
        build(&scene, form.names, form.of_schema);
    }
}

/// Builds the indexes anew, so that both forms begin without gaps.
fn build(scene: &Scene, names: &[&str], indexes: &[&str]) {
    for name in names {
        scene.cluster().sql(&format!("DROP INDEX IF EXISTS {name}"));
    }
    for index in indexes {
        scene.cluster().sql(&format!("CREATE INDEX {index}"));
    }
    scene.cluster().sql("CHECKPOINT");
}
