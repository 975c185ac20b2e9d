//! The keys that encrypt signing secrets.

use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::master_keys::{MasterKeyShape, MasterKeysShape};
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::master_keys as forms;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::record::{Record, Table};
use super::visit::Visit;

/// The path of the page.
pub(super) const PATH: &str = "/console/master-keys";

/// Which key encrypts what.
pub(super) struct MasterKeys;

#[async_trait]
impl Page for MasterKeys {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let it: MasterKeysShape = visit.get("master-keys").await?;
        let title = w.t("Master keys", "Chaves mestras");
        let mut record = Record::new(visit, Section::Health, title)
            .under("/console/health", w.t("Health", "Saúde"))
            .action_links(forms::REENCRYPT.link(visit, &[]));
        for (tone, text) in notices(&it, w) {
            record = record.notice(tone, text);
        }
        record
            .fields(vec![
                (labels::ACTIVE_KEY.of(w.0), Cell::code(&it.active)),
                (labels::UNREADABLE.of(w.0), Cell::number(it.unreadable, w)),
            ])
            .table(table(&it, w))
            .reply()
    }
}

/// What follows from the numbers.
fn notices(it: &MasterKeysShape, w: Words) -> Vec<(&'static str, &'static str)> {
    let is_unopened = |key: &MasterKeyShape| !key.known && key.secrets > 0;
    let is_old = |key: &MasterKeyShape| key.known && key.id != it.active && key.secrets > 0;
    let mut notices = Vec::new();
    if it.unreadable > 0 || it.keys.iter().any(is_unopened) {
        notices.push(("bad", w.t(
            "This server cannot open some secrets: put the key that encrypts them back into its file (master_key_file). Their deliveries cannot be signed meanwhile.",
            "Este servidor não consegue abrir alguns segredos: devolva ao arquivo (master_key_file) a chave que os criptografa. Até lá, as entregas deles não podem ser assinadas.",
        )));
    }
    if it.keys.iter().any(is_old) {
        notices.push(("wait", w.t(
            "An older key still encrypts secrets: it has to stay in the server's file until it encrypts none.",
            "Uma chave antiga ainda criptografa segredos: ela precisa ficar no arquivo do servidor até não restar nenhum.",
        )));
    }
    notices
}

fn table(it: &MasterKeysShape, w: Words) -> Table {
    let row = |key: &MasterKeyShape| {
        vec![
            Cell::code(&key.id),
            Cell::yes_or_no(key.known, w),
            Cell::number(key.secrets, w),
        ]
    };
    Table {
        title: labels::KEYS.of(w.0).to_owned(),
        head: [labels::ID, labels::KNOWN, labels::SECRETS]
            .map(|it| it.of(w.0))
            .to_vec(),
        rows: it.keys.iter().map(row).collect(),
        more: None,
    }
}
