//! Mails about offers, to a supplier that is registered or invited.

use preauth_core::value::Money;
use preauth_core::wire::PreAuthorization;
use url::Url;

use super::untrusted::quoted;
use super::{Block, Letter, brazilian};

/// The reader of the letter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Registered,
    New,
}

/// One letter about all `offers`, which are of one head office. It does not greet the reader by
/// name, because the sender of an offer chooses the names.
pub(super) fn letter(offers: &[(Reader, PreAuthorization)], portal: Option<&Url>) -> Letter {
    let payer = offers
        .first()
        .map_or_else(String::new, |(_, offer)| quoted(&offer.payer.name));
    let is_new = offers.iter().any(|(reader, _)| *reader == Reader::New);
    let reader = if is_new {
        Reader::New
    } else {
        Reader::Registered
    };
    let mut blocks = vec![
        Block::Paragraph("Olá,".to_owned()),
        Block::Paragraph(introduction(&payer, offers.len())),
    ];
    blocks.extend(offers.iter().map(|(_, offer)| Block::Facts(facts(offer))));
    blocks.push(Block::Paragraph(call_to_action(reader, offers)));
    blocks.extend(portal.map(|url| Block::Link {
        label: match reader {
            Reader::Registered => "Acessar a plataforma",
            Reader::New => "Cadastrar a empresa",
        },
        url: url.clone(),
    }));
    blocks.push(Block::Note(note(&payer, offers)));
    Letter {
        subject: subject(reader, &payer, offers.len()),
        blocks,
    }
}

fn subject(reader: Reader, payer: &str, count: usize) -> String {
    match (reader, count) {
        (Reader::Registered, 0 | 1) => format!("Oferta de antecipação da {payer}"),
        (Reader::Registered, _) => format!("{count} ofertas de antecipação da {payer}"),
        (Reader::New, 0 | 1) => {
            format!("Convite: {payer} oferece a antecipação de uma nota fiscal")
        }
        (Reader::New, _) => {
            format!("Convite: {payer} oferece a antecipação de {count} notas fiscais")
        }
    }
}

fn introduction(payer: &str, count: usize) -> String {
    match count {
        0 | 1 => format!(
            "{payer} está oferecendo a antecipação do pagamento de uma nota fiscal emitida pela sua \
             empresa. Você recebe antes do vencimento, se quiser: a oferta não obriga a nada."
        ),
        _ => format!(
            "{payer} está oferecendo a antecipação do pagamento de {count} notas fiscais. Cada oferta \
             é independente: você escolhe quais quer receber antes do vencimento, e nenhuma obriga a \
             nada."
        ),
    }
}

fn note(payer: &str, offers: &[(Reader, PreAuthorization)]) -> String {
    let operations = match offers {
        [(_, offer)] => format!("Operação nº {}. ", offer.id),
        _ => String::new(),
    };
    format!(
        "{operations}Mensagem automática, enviada porque {payer} indicou este endereço como contato do \
         fornecedor; não é preciso responder. Se não reconhece a oferta, desconsidere esta mensagem. \
         Não pedimos senhas nem pagamentos por e-mail."
    )
}

fn facts(offer: &PreAuthorization) -> Vec<(&'static str, String)> {
    let invoice = &offer.invoice;
    let payer = quoted(&offer.payer.name);
    let mut facts = vec![
        ("Empresa pagadora", payer),
        ("CNPJ da empresa pagadora", offer.payer.cnpj.masked()),
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

fn call_to_action(reader: Reader, offers: &[(Reader, PreAuthorization)]) -> String {
    let (which, until) = match offers {
        [(_, offer)] => (
            "solicite a antecipação",
            offer
                .expires_at
                .map_or_else(String::new, |at| format!(" até {}", brazilian::moment(at))),
        ),
        _ => (
            "solicite as antecipações que quiser",
            ", cada uma até o fim da sua validade".to_owned(),
        ),
    };
    match reader {
        Reader::Registered => format!(
            "Para receber antes, acesse a plataforma e {which}{until}. Se não tiver interesse, recuse \
             na plataforma ou deixe o prazo terminar."
        ),
        Reader::New => format!(
            "Sua empresa ainda não tem acesso à plataforma. Para receber antes, conclua o cadastro e \
             {which}{until}. Se não tiver interesse, basta ignorar este convite."
        ),
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::port::MailKind;
    use preauth_core::value::{CompanyId, Email, MailId};
    use uuid::Uuid;

    use super::super::Letter;
    use crate::mail::{JoinedMail, LeasedMail};

    const OFFER: &str = r#"{
        "id": 12, "status": "IN_PRE_AUTH", "externalReference": "PEDIDO-1",
        "payer": {"cnpj": "45723001000100", "name": "Construtora Azul S.A."},
        "supplier": {"cnpj": "12ABC34501DE35", "name": "Fornecedora & Filhos"},
        "invoice": {"amount": 12500.5, "dueDate": "2027-01-20", "number": "NF-1042",
                    "withheldTaxAmount": 100},
        "expiresAt": "2026-12-21T12:00:00.000Z", "createdAt": "2026-11-21T12:00:00.000Z"
    }"#;

    fn mail(kind: MailKind, content: &str) -> LeasedMail {
        LeasedMail {
            id: MailId::new(Uuid::nil()),
            token: 1,
            kind,
            recipient: Email::parse("fin@fornecedor.example.com").unwrap(),
            content: content.to_owned(),
            attempts_made: 0,
            head_office: CompanyId::new(Uuid::nil()),
            joined: Vec::new(),
            new_mailboxes: None,
        }
    }

    fn written(mail: &LeasedMail) -> Letter {
        let portal = "https://plataforma.example.com/".parse().unwrap();
        Letter::of(mail, Some(&portal)).unwrap()
    }

    fn letter(kind: MailKind) -> Letter {
        written(&mail(kind, OFFER))
    }

    #[test]
    fn a_registered_supplier_reads_what_is_offered_and_until_when() {
        let letter = letter(MailKind::Offer);
        assert_eq!(
            letter.subject(),
            "Oferta de antecipação da Construtora Azul S.A."
        );
        let text = letter.text().replace('\u{a0}', " ");
        let expected = "\
Olá,

Construtora Azul S.A. está oferecendo a antecipação do pagamento de uma nota fiscal emitida pela sua \
empresa. Você recebe antes do vencimento, se quiser: a oferta não obriga a nada.

  Empresa pagadora: Construtora Azul S.A.
  CNPJ da empresa pagadora: 45.723.001/0001-00
  CNPJ do fornecedor: 12.ABC.345/01DE-35
  Nota fiscal: NF-1042
  Valor da nota: R$ 12.500,50
  Impostos retidos: R$ 100,00
  Vencimento: 20/01/2027
  Oferta válida até: 21/12/2026 às 09:00 (horário de Brasília)

Para receber antes, acesse a plataforma e solicite a antecipação até 21/12/2026 às 09:00 (horário de \
Brasília). Se não tiver interesse, recuse na plataforma ou deixe o prazo terminar.

Acessar a plataforma: https://plataforma.example.com/

-- \n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_new_supplier_is_invited() {
        let letter = letter(MailKind::Invitation);
        assert!(letter.subject().starts_with("Convite: "), "{letter:?}");
        let text = letter.text();
        assert!(text.contains("ainda não tem acesso à plataforma"), "{text}");
        assert!(text.contains("Cadastrar a empresa: https://"), "{text}");
    }

    #[test]
    fn joined_offers_have_a_section_each_and_one_link() {
        let mut mail = mail(MailKind::Offer, OFFER);
        for number in ["NF-2", "NF-3"] {
            mail.joined.push(JoinedMail {
                id: MailId::new(Uuid::nil()),
                kind: MailKind::Offer,
                content: OFFER.replace("NF-1042", number),
            });
        }
        let letter = written(&mail);
        assert_eq!(
            letter.subject(),
            "3 ofertas de antecipação da Construtora Azul S.A."
        );
        let text = letter.text();
        for number in ["NF-1042", "NF-2", "NF-3"] {
            let section = format!("  Nota fiscal: {number}\n");
            assert_eq!(text.matches(&section).count(), 1, "{text}");
        }
        assert_eq!(text.matches("https://").count(), 1, "{text}");
    }

    #[test]
    fn nobody_is_greeted_by_a_name_that_somebody_else_chose() {
        for kind in [MailKind::Offer, MailKind::Invitation] {
            let letter = letter(kind);
            assert!(letter.text().starts_with("Olá,\n\n"), "{letter:?}");
            assert!(!letter.text().contains("Fornecedora"), "{letter:?}");
        }
    }

    #[test]
    fn text_and_html_have_the_same_content() {
        let letter = letter(MailKind::Offer);
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
                Letter::of(&mail(MailKind::Offer, content), None).is_err(),
                "{content}"
            );
        }
    }
}
