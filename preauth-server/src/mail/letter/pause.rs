//! The mail about a paused webhook endpoint.

use preauth_core::value::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

use super::untrusted::quoted;
use super::{Block, Letter, UnreadableContent, brazilian};

/// The data of the mail about an endpoint that was paused because no delivery succeeded for days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PausedEndpoint {
    /// The company's name.
    pub company: String,
    /// The URL of the endpoint.
    pub url: String,
    /// When it was paused.
    paused_at: i64,
    /// When a delivery last succeeded, or the endpoint was registered.
    healthy_at: i64,
}

impl PausedEndpoint {
    /// An endpoint that was last healthy at `healthy_at` and is paused now.
    #[must_use]
    pub fn new(company: String, url: String, healthy_at: Timestamp, now: Timestamp) -> Self {
        Self {
            company,
            url,
            paused_at: now.unix_millis(),
            healthy_at: healthy_at.unix_millis(),
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

pub(super) fn letter(content: &str, portal: Option<&Url>) -> Result<Letter, UnreadableContent> {
    let paused: PausedEndpoint = serde_json::from_str(content)?;
    let company = quoted(&paused.company);
    let moment =
        |millis| Timestamp::from_unix_millis(millis).map_or_else(String::new, brazilian::moment);
    let mut blocks = vec![
        Block::Paragraph("Olá,".to_owned()),
        Block::Paragraph(format!(
            "o envio de webhooks de {company} foi pausado automaticamente, porque há cinco dias ou mais \
             nenhuma entrega chega ao endereço cadastrado."
        )),
        Block::Facts(vec![
            ("Endereço", quoted(&paused.url)),
            ("Pausado em", moment(paused.paused_at)),
            ("Sem entregas desde", moment(paused.healthy_at)),
        ]),
        Block::Paragraph(
            "Nenhum evento se perde enquanto isso: eles ficam guardados e são enviados quando o \
             endereço for retomado. Verifique se ele está no ar e responde com um status 2xx em até \
             10 segundos; depois retome o envio na plataforma."
                .to_owned(),
        ),
    ];
    blocks.extend(portal.map(|url| Block::Link {
        label: "Acessar a plataforma",
        url: url.clone(),
    }));
    blocks.push(Block::Note(
        "Mensagem automática aos usuários da empresa; não é preciso responder.".to_owned(),
    ));
    Ok(Letter {
        subject: format!("Envio de webhooks de {company} pausado"),
        blocks,
        unsubscribe: None,
    })
}
