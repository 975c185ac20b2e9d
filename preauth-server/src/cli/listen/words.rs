//! The texts that `listen` prints for people, in every language.

use preauth_core::value::EventId;

use crate::language::{Text, texts};

pub(super) const NO_EVENT: Text = Text::new("no event", "sem evento");
pub(super) const FIRST_ARRIVAL: Text = Text::new("first arrival", "primeira chegada");
pub(super) const WARNING_OF_ARGUMENT: Text = Text::new(
    "warning: everybody on this machine can read --secret; give --secret-file FILE, \
     --secret-file - (standard input), or the variable WEBHOOK_SECRET",
    "aviso: qualquer pessoa nesta máquina consegue ler --secret; use --secret-file ARQUIVO, \
     --secret-file - (entrada padrão) ou a variável WEBHOOK_SECRET",
);
pub(super) const NO_SECRET: Text = Text::new(
    "no signing secret; give --secret-file (the ready file of a sandbox will do, and - reads the \
     standard input) or the variable WEBHOOK_SECRET",
    "falta o segredo de assinatura; use --secret-file (serve o ready file de um sandbox, e - lê a \
     entrada padrão) ou a variável WEBHOOK_SECRET",
);
pub(super) const GIVEN: Text = Text::new(
    "WEBHOOK_SECRET, standard input or --secret",
    "em WEBHOOK_SECRET, na entrada padrão ou em --secret",
);

pub(super) const AS_DUE: Text = Text::new(
    "204 for what verifies, 400 for what does not",
    "204 para o que confere, 400 para o que não confere",
);
pub(super) const MISBEHAVES: Text = Text::new("misbehaves", "falha");
pub(super) const MISBEHAVES_ONCE: Text = Text::new(
    "misbehaves for the first delivery",
    "falha na primeira entrega",
);
pub(super) const CLOSES: Text = Text::new("closes the connection", "fecha a conexão");
pub(super) const ANSWERS_AS_DUE: Text = Text::new("answers", "responde");
pub(super) const CLOSED: Text = Text::new(
    "connection closed without an answer",
    "conexão fechada sem resposta",
);

texts! {
    listening(url: &str, behaviour: &str) {
        en: "listening for deliveries to {url} ({behaviour}); ctrl-c ends it",
        pt: "aguardando entregas em {url} ({behaviour}); ctrl-c encerra",
    }
    how_a_sandbox_sends(url: &str) {
        en: "a sandbox sends here with --webhook-url {url}",
        pt: "para receber de um sandbox, inicie-o com --webhook-url {url}",
    }
    nothing_verified(why: &str) {
        en: "nothing can be verified yet: {why}",
        pt: "ainda não é possível verificar nada: {why}",
    }
    cannot_listen(address: std::net::SocketAddr, cause: &dyn std::error::Error) {
        en: "cannot listen on {address}: {cause}; choose another --port (0 takes any free one)",
        pt: "não foi possível usar {address}: {cause}; escolha outra --port (0 usa qualquer porta livre)",
    }

    misbehaves_first(deliveries: u64) {
        en: "misbehaves for the first {deliveries} deliveries",
        pt: "falha nas primeiras {deliveries} entregas",
    }
    answers(status: u16) {
        en: "answers {status}",
        pt: "responde {status}",
    }
    after(what: &str, seconds: u64) {
        en: "{what} after {seconds} s",
        pt: "{what} após {seconds} s",
    }

    event(event_type: &str, id: EventId) {
        en: "{event_type}  event {id}",
        pt: "{event_type}  evento {id}",
    }
    seen_before(arrival: u64) {
        en: "seen before, arrival {arrival}",
        pt: "já recebido, chegada nº {arrival}",
    }
    answered(status: u16) {
        en: "answered {status}",
        pt: "resposta {status}",
    }
    verified(age_seconds: i64) {
        en: "signature verified, signed {age_seconds} s ago",
        pt: "assinatura verificada, feita há {age_seconds} s",
    }
    refused(why: &str) {
        en: "signature refused: {why}",
        pt: "assinatura recusada: {why}",
    }
    not_verified(why: &str) {
        en: "not verified: {why}",
        pt: "não verificada: {why}",
    }

    unread(path: &str) {
        en: "cannot read secret file {path}",
        pt: "não foi possível ler o arquivo de segredos {path}",
    }
    empty(path: &str) {
        en: "secret file {path} has no secret in it yet",
        pt: "o arquivo de segredos {path} ainda não tem nenhum segredo",
    }
    unusable(place: &str) {
        en: "no usable secret in {place}",
        pt: "não há segredo utilizável {place}",
    }
    file(path: &str) {
        en: "secret file {path}",
        pt: "no arquivo de segredos {path}",
    }
}
