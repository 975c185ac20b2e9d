//! The erasure of a company's personal data.

use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Typed};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[&ERASE];

/// Why it would be refused, before somebody tries.
pub(in crate::http::console) const IN_PROGRESS: Text = Text::new(
    "Nothing can be erased while an operation of the company is in progress or a payment order open, whether it pays or supplies.",
    "Nada pode ser apagado enquanto a empresa tiver operação em andamento ou ordem de pagamento em aberto, como pagadora ou fornecedora.",
);

pub(in crate::http::console) static ERASE: ActionForm = ActionForm::new(
    "personal-data/{cnpj}/erase",
    Method::POST,
    "personal-data/{cnpj}/erasure",
    Text::new("Erase personal data", "Apagar dados pessoais"),
    "personal-data/{cnpj}",
)
.on("personal-data/{cnpj}")
.about(
    "Erases contacts, names and addresses of users (whose keys are refused from then on), mails and invoice files. Operations, events and totals stay; so do addresses whose readers want no mails, on that list, and backups keep what they have.",
    "Apaga contatos, nomes e endereços de usuários (cujas chaves passam a ser recusadas), e-mails e arquivos de nota. Operações, eventos e totais ficam; endereços cujos leitores não querem e-mails ficam nessa lista, e os backups mantêm o que têm.",
)
.typed(Typed {
    member: "cnpj",
    label: Text::new("Type the company's CNPJ to confirm", "Digite o CNPJ da empresa para confirmar"),
})
.final_step();
