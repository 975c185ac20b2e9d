//! The mails about a webhook endpoint that fails, or accepts deliveries again.

use preauth_core::value::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

use super::untrusted::quoted;
use super::{Block, Letter, UnreadableContent, brazilian};

/// The data of a mail about an endpoint that began to fail, or recovered. It has no `pausedAt`, so that a
/// build that knows mails about paused endpoints only cannot read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailingEndpoint {
    /// The company's name.
    pub company: String,
    /// The URL of the endpoint.
    pub url: String,
    /// Since when nothing arrives.
    failing_since: i64,
    /// When a delivery succeeded again.
    recovered_at: Option<i64>,
}

impl FailingEndpoint {
    /// An endpoint that fails since `failing_since`, until `recovered_at`.
    #[must_use]
    pub fn new(
        company: String,
        url: String,
        failing_since: Timestamp,
        recovered_at: Option<Timestamp>,
    ) -> Self {
        Self {
            company,
            url,
            failing_since: failing_since.unix_millis(),
            recovered_at: recovered_at.map(Timestamp::unix_millis),
        }
    }

    /// The content to store.
    ///
    /// # Panics
    ///
    /// Never: texts and numbers always serialize.
    #[must_use]
    pub fn content(&self) -> String {
        #[expect(clippy::expect_used, reason = "texts and numbers always serialize")]
        serde_json::to_string(self).expect("texts and numbers serialize")
    }
}

pub(super) fn failing(content: &str, portal: Option<&Url>) -> Result<Letter, UnreadableContent> {
    let failing: FailingEndpoint = serde_json::from_str(content)?;
    let company = quoted(&failing.company);
    Ok(letter(
        format!("Webhooks de {company} não estão chegando"),
        format!("os webhooks de {company} não estão chegando ao endereço cadastrado."),
        facts(&failing),
        "Nenhum evento se perdeu: cada entrega é repetida por pouco mais de três dias. Verifique se o \
         endereço está no ar e responde com um status 2xx em até 10 segundos; o histórico das entregas, \
         na plataforma, mostra cada resposta. Depois de cinco dias sem nenhuma entrega o envio é pausado. \
         Avisamos quando voltar ao normal.",
        portal,
    ))
}

pub(super) fn recovered(content: &str, portal: Option<&Url>) -> Result<Letter, UnreadableContent> {
    let failing: FailingEndpoint = serde_json::from_str(content)?;
    let company = quoted(&failing.company);
    Ok(letter(
        format!("Webhooks de {company} voltaram a chegar"),
        format!("os webhooks de {company} voltaram a chegar ao endereço cadastrado."),
        facts(&failing),
        "As entregas que esperam são repetidas nos horários previstos; as que já esgotaram as tentativas \
         podem ser reenviadas pela plataforma.",
        portal,
    ))
}

fn facts(failing: &FailingEndpoint) -> Vec<(&'static str, String)> {
    let moment =
        |millis| Timestamp::from_unix_millis(millis).map_or_else(String::new, brazilian::moment);
    let mut facts = vec![
        ("Endereço", quoted(&failing.url)),
        ("Sem entregas desde", moment(failing.failing_since)),
    ];
    let recovered = failing.recovered_at;
    facts.extend(recovered.map(|at| ("Voltou ao normal em", moment(at))));
    facts
}

fn letter(
    subject: String,
    introduction: String,
    facts: Vec<(&'static str, String)>,
    todo: &str,
    portal: Option<&Url>,
) -> Letter {
    let mut blocks = vec![
        Block::Paragraph("Olá,".to_owned()),
        Block::Paragraph(introduction),
        Block::Facts(facts),
        Block::Paragraph(todo.to_owned()),
    ];
    blocks.extend(portal.map(|url| Block::Link {
        label: "Acessar a plataforma",
        url: url.clone(),
    }));
    blocks.push(Block::Note(
        "Mensagem automática aos usuários da empresa; não é preciso responder.".to_owned(),
    ));
    Letter {
        subject,
        blocks,
        unsubscribe: None,
    }
}
