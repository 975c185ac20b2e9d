//! Mails about offers, to a supplier that is registered or invited.

use preauth_core::value::{Email, Money};
use preauth_core::wire::PreAuthorization;
use url::Url;

use super::untrusted::quoted;
use super::{Block, Letter, brazilian};
use crate::secret::{SupplierLinks, SupplierPage};

/// The reader of the letter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Registered,
    New,
}

/// One letter about all `offers`, which are of one head office. It does not greet the reader by
/// name, because the sender of an offer chooses the names. With `pages` each offer has a link of its
/// own, otherwise all have that of the portal.
pub(super) fn letter(
    offers: &[(Reader, PreAuthorization)],
    recipient: &Email,
    portal: Option<&Url>,
    pages: Option<&SupplierLinks>,
) -> Letter {
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
    blocks.extend(match pages {
        Some(pages) => with_pages(reader, offers, pages),
        None => with_portal(reader, offers, portal),
    });
    let unsubscribe = pages.zip(offers.first());
    let unsubscribe = unsubscribe.map(|(pages, (_, offer))| pages.unsubscribe(offer.id, recipient));
    blocks.push(Block::Note(note(&payer, offers)));
    blocks.extend(unsubscribe.clone().map(|url| Block::NoteLink {
        label: "Não quero receber estes e-mails",
        url,
    }));
    Letter {
        subject: subject(reader, &payer, offers.len()),
        blocks,
        unsubscribe,
    }
}

/// The offers one below the other, and one link to the portal.
fn with_portal(
    reader: Reader,
    offers: &[(Reader, PreAuthorization)],
    portal: Option<&Url>,
) -> Vec<Block> {
    let facts = offers.iter().map(|(_, offer)| Block::Facts(facts(offer)));
    let mut blocks: Vec<_> = facts.collect();
    blocks.push(Block::Paragraph(call_to_action(reader, offers)));
    blocks.extend(portal.map(|url| Block::Link {
        label: match reader {
            Reader::Registered => "Acessar a plataforma",
            Reader::New => "Cadastrar a empresa",
        },
        url: url.clone(),
    }));
    blocks
}

/// The offers, each with the link to its page.
fn with_pages(
    reader: Reader,
    offers: &[(Reader, PreAuthorization)],
    pages: &SupplierLinks,
) -> Vec<Block> {
    let links = offers.iter().map(|(_, offer)| Block::Link {
        label: "Ver a oferta e responder",
        url: pages.url(offer.id, SupplierPage::Offer),
    });
    let facts = offers.iter().map(|(_, offer)| Block::Facts(facts(offer)));
    let todo = Block::Paragraph(on_its_page(reader, offers));
    if offers.len() == 1 {
        return facts.chain([todo]).chain(links).collect();
    }
    let each = facts.zip(links).flat_map(|(facts, link)| [facts, link]);
    std::iter::once(todo).chain(each).collect()
}

fn on_its_page(reader: Reader, offers: &[(Reader, PreAuthorization)]) -> String {
    let confirm = match reader {
        Reader::Registered => "",
        Reader::New => ", confirme o nome da sua empresa",
    };
    match offers {
        [(_, offer)] => {
            let until = offer
                .expires_at
                .map_or_else(String::new, |at| format!(" até {}", brazilian::moment(at)));
            format!(
                "Para receber antes, abra a página da oferta{confirm} e solicite a antecipação{until}. Se \
                 não tiver interesse, recuse na mesma página ou deixe o prazo terminar."
            )
        }
        _ => format!(
            "Para receber antes, abra a página de cada oferta que quiser{confirm} e solicite a \
             antecipação até o fim da sua validade. Se não tiver interesse, recuse na mesma página ou \
             deixe o prazo terminar."
        ),
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
    use preauth_core::value::{CompanyId, Email, MailId, OperationId};
    use uuid::Uuid;

    use super::super::Letter;
    use super::{SupplierLinks, SupplierPage, Url};
    use crate::mail::{JoinedMail, LeasedMail};
    use crate::secret::Vault;

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
        Letter::of(mail, Some(&portal), None).unwrap()
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
    fn with_pages_each_offer_has_a_link_of_its_own() {
        let base = "https://ofertas.example.com".parse().unwrap();
        let pages = SupplierLinks::new(&Vault::new(&[1; 32]), base);
        let portal = "https://plataforma.example.com/".parse().unwrap();
        let mut joint = mail(MailKind::Invitation, OFFER);
        let alone = Letter::of(&joint, Some(&portal), Some(&pages)).unwrap();
        joint.joined.push(JoinedMail {
            id: MailId::new(Uuid::nil()),
            kind: MailKind::Offer,
            content: OFFER.replace("\"id\": 12", "\"id\": 13"),
        });
        let both = Letter::of(&joint, Some(&portal), Some(&pages)).unwrap();
        let url = |id, page| pages.url(OperationId::new(id).unwrap(), page).to_string();
        for (letter, ids) in [(&alone, &[12][..]), (&both, &[12, 13])] {
            for written in [letter.text(), letter.html()] {
                assert!(!written.contains("plataforma.example.com"), "{written}");
                assert!(
                    written.contains("confirme o nome da sua empresa"),
                    "{written}"
                );
                for id in ids {
                    let link = url(*id, SupplierPage::Offer);
                    let apart = [' ', '\n', '"'].map(|end| format!("{link}{end}"));
                    let found = apart.iter().map(|it| written.matches(it).count());
                    assert_eq!(found.sum::<usize>(), 1, "{link} in {written}");
                }
            }
            let first = OperationId::new(12).unwrap();
            let end = pages.unsubscribe(first, &joint.recipient).to_string();
            assert!(
                end.starts_with(&url(12, SupplierPage::Unsubscribe)),
                "{end}"
            );
            assert_eq!(letter.unsubscribe().map(Url::as_str), Some(end.as_str()));
            assert!(letter.text().contains(&end), "{letter:?}");
        }
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
                Letter::of(&mail(MailKind::Offer, content), None, None).is_err(),
                "{content}"
            );
        }
    }
}
