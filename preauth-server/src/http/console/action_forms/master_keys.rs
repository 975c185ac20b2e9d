//! The keys that encrypt signing secrets.

use salvo::http::Method;

use crate::http::console::action_form::ActionForm;
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[&REENCRYPT];

pub(in crate::http::console) static REENCRYPT: ActionForm = ActionForm::new(
    "master-keys/reencrypt",
    Method::POST,
    "master-keys/reencrypt",
    Text::new("Encrypt everything anew", "Criptografar tudo de novo"),
    "master-keys",
)
.about(
    "Encrypts every signing secret under the active key, the first of the server's file. Deliveries go on meanwhile. Afterwards the page shows what each key still encrypts; secrets that were locked stay as they were: do it again.",
    "Criptografa todo segredo de assinatura com a chave ativa, a primeira do arquivo do servidor. As entregas continuam. Depois a página mostra o que cada chave ainda criptografa; segredos que estavam bloqueados ficam como estavam: repita.",
);
