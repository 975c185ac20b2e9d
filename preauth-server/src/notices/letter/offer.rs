//! An offer of an advance, to a supplier that is registered or has yet to register.

use preauth_core::value::Money;
use preauth_core::wire::PreAuthorization;
use url::Url;

use super::stranger::quoted;
use super::{Block, Letter, UnreadableContent, brazilian};

/// Whom the letter is for.
#[derive(Clone, Copy)]
pub(super) enum Reader {
    Registered,
    New,
}

pub(super) fn letter(
    content: &str,
    reader: Reader,
    portal: Option<&Url>,
) -> Result<Letter, UnreadableContent> {
    let offer: PreAuthorization = serde_json::from_str(content)?;
    let payer = quoted(&offer.payer.name);
    let mut blocks = vec![
        Block::Paragraph(match &offer.supplier.name {
            Some(name) => format!("Olá, {},", quoted(name).trim_end_matches('.')),
            None => "Olá,".to_owned(),
        }),
        Block::Paragraph(format!(
            "{payer} está oferecendo a antecipação do pagamento de uma nota fiscal emitida pela sua \
             empresa. Você recebe antes do vencimento, se quiser: a oferta não obriga a nada."
        )),
        Block::Facts(facts(&offer)),
        Block::Paragraph(what_to_do(reader, &offer)),
    ];
    blocks.extend(portal.map(|url| Block::Link {
        label: match reader {
            Reader::Registered => "Acessar a plataforma",
            Reader::New => "Cadastrar a empresa",
        },
        url: url.clone(),
    }));
    blocks.push(Block::Note(format!(
        "Operação nº {}. Mensagem automática, enviada porque {payer} indicou este endereço como \
         contato do fornecedor; não é preciso responder. Se a oferta não é para você, desconsidere \
         esta mensagem. Não pedimos senhas nem pagamentos por e-mail.",
        offer.id
    )));
    let subject = match reader {
        Reader::Registered => format!("Oferta de antecipação de {payer}"),
        Reader::New => format!("Convite: {payer} oferece a antecipação de uma nota fiscal"),
    };
    Ok(Letter { subject, blocks })
}

fn facts(offer: &PreAuthorization) -> Vec<(&'static str, String)> {
    let invoice = &offer.invoice;
    let payer = quoted(&offer.payer.name);
    let mut facts = vec![
        ("Tomadora", payer),
        ("CNPJ da tomadora", offer.payer.cnpj.masked()),
        ("CNPJ do fornecedor", offer.supplier.cnpj.masked()),
    ];
    facts.extend(
        invoice
            .number
            .as_deref()
            .map(|number| ("Nota fiscal", quoted(number))),
    );
    facts.push(("Valor da nota", brazilian::money(invoice.amount.money())));
    let withheld = invoice.withheld_tax_amount.money();
    if withheld > Money::ZERO {
        facts.push(("Impostos retidos", brazilian::money(withheld)));
    }
    facts.push(("Vencimento", brazilian::date(invoice.due_date.date())));
    facts.extend(
        offer
            .expires_at
            .map(|at| ("Oferta válida até", brazilian::moment(at))),
    );
    facts
}

fn what_to_do(reader: Reader, offer: &PreAuthorization) -> String {
    let until = offer
        .expires_at
        .map_or_else(String::new, |at| format!(" até {}", brazilian::moment(at)));
    match reader {
        Reader::Registered => format!(
            "Para receber antes, acesse a plataforma e solicite a antecipação{until}. Se não tiver \
             interesse, recuse a oferta na plataforma ou deixe que ela expire."
        ),
        Reader::New => format!(
            "Sua empresa ainda não tem acesso à plataforma. Para receber antes, conclua o cadastro e \
             solicite a antecipação{until}. Se não tiver interesse, basta ignorar este convite."
        ),
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::port::NoticeKind;

    use super::super::Letter;

    const OFFER: &str = r#"{
        "id": 12, "status": "IN_PRE_AUTH", "externalReference": "PEDIDO-1",
        "payer": {"cnpj": "45723001000100", "name": "Construtora Azul S.A."},
        "supplier": {"cnpj": "12ABC34501DE35", "name": "Fornecedora & Filhos"},
        "invoice": {"amount": 12500.5, "dueDate": "2027-01-20", "number": "NF-1042",
                    "withheldTaxAmount": 100},
        "expiresAt": "2026-12-21T12:00:00.000Z", "createdAt": "2026-11-21T12:00:00.000Z"
    }"#;

    fn letter(kind: NoticeKind) -> Letter {
        let portal = "https://plataforma.example.com/".parse().unwrap();
        Letter::of(kind, OFFER, Some(&portal)).unwrap()
    }

    #[test]
    fn a_registered_supplier_reads_what_is_offered_and_until_when() {
        let letter = letter(NoticeKind::Offer);
        assert_eq!(
            letter.subject(),
            "Oferta de antecipação de Construtora Azul S.A."
        );
        let text = letter.text().replace('\u{a0}', " ");
        let expected = "\
Olá, Fornecedora & Filhos,

Construtora Azul S.A. está oferecendo a antecipação do pagamento de uma nota fiscal emitida pela sua \
empresa. Você recebe antes do vencimento, se quiser: a oferta não obriga a nada.

  Tomadora: Construtora Azul S.A.
  CNPJ da tomadora: 45.723.001/0001-00
  CNPJ do fornecedor: 12.ABC.345/01DE-35
  Nota fiscal: NF-1042
  Valor da nota: R$ 12.500,50
  Impostos retidos: R$ 100,00
  Vencimento: 20/01/2027
  Oferta válida até: 21/12/2026 às 09:00 (horário de Brasília)

Para receber antes, acesse a plataforma e solicite a antecipação até 21/12/2026 às 09:00 (horário de \
Brasília). Se não tiver interesse, recuse a oferta na plataforma ou deixe que ela expire.

Acessar a plataforma: https://plataforma.example.com/

-- \n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_new_supplier_is_invited() {
        let letter = letter(NoticeKind::Invitation);
        assert!(letter.subject().starts_with("Convite: "), "{letter:?}");
        let text = letter.text();
        assert!(text.contains("ainda não tem acesso à plataforma"), "{text}");
        assert!(text.contains("Cadastrar a empresa: https://"), "{text}");
    }

    #[test]
    fn text_and_html_tell_the_same() {
        let letter = letter(NoticeKind::Offer);
        let html = letter.html().replace("&amp;", "&");
        for line in letter.text().lines().flat_map(|line| line.split(": ")) {
            let words = line.trim().trim_start_matches("--");
            assert!(html.contains(words), "{words} in {html}");
        }
    }

    #[test]
    fn content_of_another_kind_is_refused() {
        for content in ["", "{}", "[]", "{\"id\": 12}"] {
            assert!(
                Letter::of(NoticeKind::Offer, content, None).is_err(),
                "{content}"
            );
        }
    }
}
