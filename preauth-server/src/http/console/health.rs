//! What the probes and the metrics say, in words.

use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::{Trouble, unreadiness};
use crate::http::reply::Reply;
use crate::labels;
use crate::language::Language;

use super::action_forms::sandbox;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::master_keys;
use super::record::{Part, Record, Table};
use super::visit::Visit;

/// The path of the page.
pub(super) const PATH: &str = "/console/health";

/// A metric without labels: its name, and its meaning in English and in Portuguese.
type Meaning = (&'static str, &'static str, &'static str);

const METRICS: &[Meaning] = &[
    (
        "preauth_deliveries_due",
        "deliveries that are due",
        "entregas cuja hora chegou",
    ),
    (
        "preauth_deliveries_oldest_due_age_seconds",
        "seconds for which the oldest of them has been due",
        "segundos desde que chegou a hora da mais antiga",
    ),
    (
        "preauth_deliveries_retrying",
        "deliveries that wait after a failed attempt",
        "entregas em espera depois de uma falha",
    ),
    (
        "preauth_deliveries_oldest_retrying_age_seconds",
        "age of the oldest of them in seconds",
        "idade da mais antiga delas em segundos",
    ),
    (
        "preauth_deliveries_paused",
        "deliveries that wait for paused endpoints",
        "entregas à espera de endpoints pausados",
    ),
    (
        "preauth_endpoints_failing",
        "endpoints where nothing arrives",
        "endpoints em que nada chega",
    ),
    (
        "preauth_endpoints_paused",
        "paused endpoints with such deliveries",
        "endpoints pausados com essas entregas",
    ),
    (
        "preauth_endpoints_slow",
        "endpoints that answer slowly",
        "endpoints que respondem devagar",
    ),
    (
        "preauth_notices_staged",
        "mails that were not sent yet",
        "e-mails ainda não enviados",
    ),
    (
        "preauth_notices_oldest_due_age_seconds",
        "seconds for which the oldest due mail has waited",
        "segundos de espera do e-mail mais antigo cuja hora chegou",
    ),
    (
        "preauth_file_quota_near_head_offices",
        "companies near the limit of their files",
        "empresas perto do limite de arquivos",
    ),
];

/// The health of this instance.
pub(super) struct Health;

#[async_trait]
impl Page for Health {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let mut record = Record::new(visit, Section::Health, w.t("Health", "Saúde"));
        let troubles = troubles(visit).await;
        if !troubles.iter().any(|(tone, _)| *tone == BAD) {
            let well = w.t(
                "This instance serves requests.",
                "Esta instância atende requisições.",
            );
            record = record.notice("good", well);
        }
        for (tone, text) in troubles {
            record = record.notice(tone, text);
        }
        let metrics = visit.console.api.vitals.metrics().await;
        if visit.console.api.time_machine.is_some() {
            record = record.action_links(sandbox::ADVANCE.link(visit, &[]));
        }
        let keys = w.t("What each key encrypts", "O que cada chave criptografa");
        record
            .table(numbers(&metrics, w))
            .part(Part::Fields {
                title: Some(w.t("Master keys", "Chaves mestras").to_owned()),
                rows: vec![(labels::SECRETS.of(w.0), Cell::link(master_keys::PATH, keys))],
            })
            .live(true)
            .reply()
    }
}

const BAD: &str = "bad";

/// What is wrong with this instance: the tone of each sentence, and the sentence.
pub(super) async fn troubles(visit: &Visit) -> Vec<(&'static str, String)> {
    let (w, vitals) = (visit.words, &visit.console.api.vitals);
    let said = |begin: &str, it: Trouble| {
        let text = match w.0 {
            Language::English => it.en,
            Language::Portuguese => it.pt,
        };
        format!("{begin} {text}.")
    };
    let unready = unreadiness(&**vitals).await.map(|it| {
        let begin = w.t(
            "This instance does not serve all requests:",
            "Esta instância não atende todas as requisições:",
        );
        (BAD, said(begin, it))
    });
    let stall = vitals.stall().map(|it| {
        let begin = w.t(
            "This instance should be restarted:",
            "Esta instância deve ser reiniciada:",
        );
        (BAD, said(begin, it))
    });
    let warning = vitals.warning().map(|it| {
        let begin = w.t("Look at its clock:", "Verifique o relógio:");
        ("wait", said(begin, it))
    });
    [unready, stall, warning].into_iter().flatten().collect()
}

fn numbers(metrics: &str, w: Words) -> Table {
    let value = |name: &str| {
        let mut lines = metrics.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    };
    let row = |(name, en, pt): &Meaning| {
        let value = value(name)?;
        let whole = value.split('.').next().unwrap_or_default().parse::<u64>();
        Some(vec![
            Cell::text(w.t(en, pt)),
            whole.map_or_else(|_| Cell::code(value), |number| Cell::number(number, w)),
            Cell::code(name),
        ])
    };
    Table {
        title: w.t("Waiting work", "Trabalho em espera").to_owned(),
        head: vec![
            w.t("meaning", "significado"),
            w.t("now", "agora"),
            w.t("metric", "métrica"),
        ],
        rows: METRICS.iter().filter_map(row).collect(),
        more: None,
    }
}
