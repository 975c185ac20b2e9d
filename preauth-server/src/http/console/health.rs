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

/// A metric without labels: its name, its meaning in English and in Portuguese, and the list of what it counts.
type Meaning = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

const METRICS: &[Meaning] = &[
    (
        "preauth_deliveries_due",
        "deliveries that are due",
        "entregas cuja hora chegou",
        None,
    ),
    (
        "preauth_deliveries_oldest_due_age_seconds",
        "time for which the oldest of them has been due",
        "tempo desde que chegou a hora da mais antiga",
        None,
    ),
    (
        "preauth_deliveries_retrying",
        "deliveries that wait after a failed attempt",
        "entregas em espera depois de uma falha",
        Some("/console/deliveries?wait=AFTER_FAILURE"),
    ),
    (
        "preauth_deliveries_oldest_retrying_age_seconds",
        "age of the oldest of them",
        "idade da mais antiga delas",
        None,
    ),
    (
        "preauth_deliveries_paused",
        "deliveries that wait for paused endpoints",
        "entregas à espera de endpoints pausados",
        Some("/console/deliveries?status=PAUSED"),
    ),
    (
        "preauth_endpoints_failing",
        "endpoints where nothing arrives",
        "endpoints em que nada chega",
        None,
    ),
    (
        "preauth_endpoints_paused",
        "paused endpoints with such deliveries",
        "endpoints pausados com essas entregas",
        None,
    ),
    (
        "preauth_endpoints_slow",
        "endpoints that answer slowly",
        "endpoints que respondem devagar",
        None,
    ),
    (
        "preauth_notices_staged",
        "mails that were not sent yet",
        "e-mails ainda não enviados",
        None,
    ),
    (
        "preauth_notices_oldest_due_age_seconds",
        "time for which the oldest due mail has waited",
        "tempo de espera do e-mail mais antigo cuja hora chegou",
        None,
    ),
    (
        "preauth_file_quota_near_head_offices",
        "companies near the limit of their files",
        "empresas perto do limite de arquivos",
        None,
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

/// A duration in its two greatest units: `1 d 1 h`.
fn duration(seconds: u64) -> String {
    let minutes = seconds.div_euclid(60);
    let hours = minutes.div_euclid(60);
    let days = hours.div_euclid(24);
    let (first, second) = if days > 0 {
        ((days, "d"), (hours.rem_euclid(24), "h"))
    } else if hours > 0 {
        ((hours, "h"), (minutes.rem_euclid(60), "min"))
    } else if minutes > 0 {
        ((minutes, "min"), (seconds.rem_euclid(60), "s"))
    } else {
        ((seconds, "s"), (0, ""))
    };
    match (first, second) {
        ((number, unit), (0, _)) => format!("{number} {unit}"),
        ((number, unit), (rest, of_rest)) => format!("{number} {unit} {rest} {of_rest}"),
    }
}

fn numbers(metrics: &str, w: Words) -> Table {
    let value = |name: &str| {
        let mut lines = metrics.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    };
    let row = |(name, en, pt, list): &Meaning| {
        let value = value(name)?;
        let whole = value.split('.').next().unwrap_or_default().parse::<u64>();
        let shown = match (whole, list) {
            (Err(_), _) => Cell::code(value),
            (Ok(seconds), _) if name.ends_with("_seconds") => Cell::coded(value, duration(seconds)),
            (Ok(number), Some(list)) if number > 0 => Cell::link(*list, w.number(&number)),
            (Ok(number), _) => Cell::number(number, w),
        };
        Some(vec![Cell::text(w.t(en, pt)), shown, Cell::code(name)])
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

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn a_duration_has_its_two_greatest_units() {
        for (seconds, shown) in [
            (0, "0 s"),
            (59, "59 s"),
            (61, "1 min 1 s"),
            (3_600, "1 h"),
            (5_400, "1 h 30 min"),
            (90_061, "1 d 1 h"),
        ] {
            assert_eq!(duration(seconds), shown);
        }
    }
}
