//! Companies, and what belongs to them.

use preauth_core::value::{CompanyKind, EventType, Permission, Scope};
use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[
    &ADD,
    &REGISTER,
    &ADD_BRANCH,
    &UPDATE,
    &SUSPEND,
    &RESUME,
    &SET_CREDIT,
    &BLOCK,
    &UNBLOCK,
    &ADD_USER,
    &UPDATE_USER,
    &DEACTIVATE_USER,
    &ACTIVATE_USER,
    &ADD_KEY,
    &REVOKE_KEY,
    &SET_ENDPOINT,
    &DELETE_ENDPOINT,
    &PAUSE_ENDPOINT,
    &RESUME_ENDPOINT,
    &ROTATE_SECRET,
    &TEST_ENDPOINT,
];

const RECORD: &str = "companies/{id}";

const fn of_company(
    page: &'static str,
    method: Method,
    api: &'static str,
    title: Text,
) -> ActionForm {
    ActionForm::new(page, method, api, title, RECORD).on(RECORD)
}

const fn kinds() -> InputKind {
    InputKind::Choice(|| CompanyKind::ALL.iter().map(|it| it.as_str()).collect())
}

const fn permissions() -> InputKind {
    InputKind::Words(|| Permission::ALL.iter().map(|it| it.as_str()).collect())
}

pub(in crate::http::console) static ADD: ActionForm = ActionForm::new(
    "new-company",
    Method::POST,
    "companies",
    Text::new("Register a company", "Cadastrar empresa"),
    RECORD,
)
.with(&[
    Input::new("cnpj", "CNPJ", "CNPJ"),
    Input::new("name", "Legal name", "Razão social"),
    Input::new("kind", "Kind", "Tipo").kind(kinds()),
    Input::new(
        "headOfficeId",
        "Head office, for a branch",
        "Matriz, para uma filial",
    )
    .kind(InputKind::Company)
    .optional(),
]);

/// The same for a supplier that was invited, whose CNPJ is known.
pub(in crate::http::console) static REGISTER: ActionForm = of_company(
    "companies/{id}/register",
    Method::POST,
    "companies",
    Text::new("Register this company", "Cadastrar esta empresa"),
)
.about(
    "Companies invited this supplier, and each calls it by a name of its own. Registered, it has one legal name, users and keys.",
    "Empresas convidaram este fornecedor, e cada uma o chama por um nome próprio. Cadastrado, ele tem uma só razão social, usuários e chaves.",
)
.with(&[
    Input::new("cnpj", "CNPJ", "CNPJ"),
    Input::new("name", "Legal name", "Razão social"),
    Input::new("kind", "Kind", "Tipo").kind(kinds()),
])
.filled(&[("cnpj", "cnpj"), ("kind", "kind")]);

/// Its fields begin with what the head office says.
pub(in crate::http::console) static ADD_BRANCH: ActionForm = ActionForm::new(
    "companies/{id}/new-branch",
    Method::POST,
    "companies",
    Text::new("Register a branch", "Cadastrar filial"),
    "companies/{id}/branches",
)
.on(RECORD)
.about(
    "A branch has users and keys of its own, which see its operations alone. Limits, block list and webhook endpoint are those of its head office.",
    "Uma filial tem usuários e chaves próprios, que só veem as operações dela. Limites, lista de bloqueio e endpoint de webhook são os da matriz.",
)
.with(&[
    Input::new("cnpj", "CNPJ of the branch", "CNPJ da filial"),
    Input::new("name", "Legal name", "Razão social"),
    Input::new("kind", "Kind", "Tipo").kind(kinds()),
    Input::new("headOfficeId", "Head office", "Matriz").kind(InputKind::Company),
])
.filled(&[("name", "name"), ("kind", "kind"), ("headOfficeId", "id")]);

pub(in crate::http::console) static UPDATE: ActionForm = of_company(
    "companies/{id}/edit",
    Method::PATCH,
    RECORD,
    Text::new("Rename", "Renomear"),
)
.edits(RECORD)
.with(&[Input::new("name", "Legal name", "Razão social")]);

pub(in crate::http::console) static SUSPEND: ActionForm = of_company(
    "companies/{id}/suspend",
    Method::POST,
    "companies/{id}/suspend",
    Text::new("Suspend", "Suspender"),
)
.about(
    "Its keys and those of its branches are refused until it is resumed. Nothing is deleted.",
    "As chaves dela e das filiais são recusadas até ser retomada. Nada é apagado.",
)
.with(&[Input::new("reason", "Reason", "Motivo")]);

pub(in crate::http::console) static RESUME: ActionForm = of_company(
    "companies/{id}/resume",
    Method::POST,
    "companies/{id}/resume",
    Text::new("Resume", "Retomar"),
);

pub(in crate::http::console) static SET_CREDIT: ActionForm = of_company(
    "companies/{id}/credit-analysis",
    Method::PUT,
    "companies/{id}/credit-analysis",
    Text::new("Set limits", "Definir limites"),
)
.edits("companies/{id}/credit-analysis")
.with(&[
    Input::new("maxTermDays", "Longest term, days", "Prazo máximo, dias").kind(InputKind::Whole),
    Input::new(
        "maxInvoiceAmount",
        "Greatest invoice",
        "Valor máximo da nota",
    )
    .kind(InputKind::Money),
]);

pub(in crate::http::console) static BLOCK: ActionForm = of_company(
    "companies/{id}/block-supplier",
    Method::PUT,
    "companies/{id}/blocked-suppliers/{cnpj}",
    Text::new("Block a supplier", "Bloquear fornecedor"),
)
.about(
    "Offers to this supplier, all its branches included, are refused.",
    "Ofertas a este fornecedor, filiais incluídas, são recusadas.",
)
.with(&[Input::new("cnpj", "Supplier's CNPJ", "CNPJ do fornecedor").kind(InputKind::Path)]);

pub(in crate::http::console) static UNBLOCK: ActionForm = of_company(
    "companies/{id}/blocked-suppliers/{cnpj}/unblock",
    Method::DELETE,
    "companies/{id}/blocked-suppliers/{cnpj}",
    Text::new("Unblock", "Desbloquear"),
);

pub(in crate::http::console) static ADD_USER: ActionForm = of_company(
    "companies/{id}/new-user",
    Method::POST,
    "companies/{id}/users",
    Text::new("Add a user", "Incluir usuário"),
)
.with(&[
    Input::new("name", "Name", "Nome"),
    Input::new("email", "E-mail", "E-mail"),
    Input::new("permissions", "Permissions", "Permissões").kind(permissions()),
]);

pub(in crate::http::console) static UPDATE_USER: ActionForm = ActionForm::new(
    "users/{id}/edit",
    Method::PATCH,
    "users/{id}",
    Text::new("Permissions", "Permissões"),
    "companies/{companyId}",
)
.on("users/{id}")
.edits("users/{id}")
.with(&[Input::new("permissions", "Permissions", "Permissões").kind(permissions())]);

pub(in crate::http::console) static DEACTIVATE_USER: ActionForm = ActionForm::new(
    "users/{id}/deactivate",
    Method::PATCH,
    "users/{id}",
    Text::new("Deactivate", "Desativar"),
    "companies/{companyId}",
)
.on("users/{id}")
.about(
    "Keys in this user's name are refused while the user is inactive.",
    "Chaves em nome deste usuário são recusadas enquanto ele estiver inativo.",
)
.fixed(&[("active", "false")]);

pub(in crate::http::console) static ACTIVATE_USER: ActionForm = ActionForm::new(
    "users/{id}/activate",
    Method::PATCH,
    "users/{id}",
    Text::new("Activate", "Ativar"),
    "companies/{companyId}",
)
.on("users/{id}")
.fixed(&[("active", "true")]);

pub(in crate::http::console) static ADD_KEY: ActionForm = of_company(
    "companies/{id}/new-key",
    Method::POST,
    "companies/{id}/api-keys",
    Text::new("Create a key", "Criar chave"),
)
.about(
    "The key is shown once. It acts in the name of a user of the company with both permissions.",
    "A chave é mostrada uma única vez. Ela age em nome de um usuário da empresa com as duas permissões.",
)
.with(&[
    Input::new("name", "Name", "Nome"),
    Input::new("responsibleUserId", "Responsible user", "Usuário responsável")
        .kind(InputKind::User),
    Input::new("scopes", "Scopes", "Escopos")
        .kind(InputKind::Words(|| Scope::ALL.iter().map(|it| it.as_str()).collect())),
    Input::new("validityDays", "Valid for days", "Validade em dias")
        .kind(InputKind::Choice(|| vec!["30", "90", "180", "365"]))
        .unchosen("365, unless chosen", "365, se nada for escolhido")
        .optional(),
])
.reveals("key");

pub(in crate::http::console) static REVOKE_KEY: ActionForm = ActionForm::new(
    "api-keys/{id}/revoke",
    Method::DELETE,
    "api-keys/{id}",
    Text::new("Revoke", "Revogar"),
    "companies/{companyId}",
)
.on("api-keys/{id}")
.about(
    "The ERP that uses this key is refused from the next request on.",
    "O ERP que usa esta chave é recusado a partir da próxima requisição.",
)
.final_step();

pub(in crate::http::console) static SET_ENDPOINT: ActionForm = of_company(
    "companies/{id}/webhook-endpoint",
    Method::PUT,
    "companies/{id}/webhook-endpoint",
    Text::new("Set address", "Definir endereço"),
)
.edits("companies/{id}/webhook-endpoint")
.about(
    "A new signing secret is made and shown once when the endpoint is new.",
    "Um novo segredo de assinatura é criado e mostrado uma única vez quando o endpoint é novo.",
)
.with(&[
    Input::new("url", "URL", "URL"),
    Input::new("events", "Events", "Eventos")
        .kind(InputKind::Words(|| {
            EventType::ALL.iter().map(|it| it.as_str()).collect()
        }))
        .optional(),
])
.reveals("secret");

pub(in crate::http::console) static DELETE_ENDPOINT: ActionForm = of_company(
    "companies/{id}/webhook-endpoint/delete",
    Method::DELETE,
    "companies/{id}/webhook-endpoint",
    Text::new("Remove", "Remover"),
)
.about(
    "Deliveries that wait are given up.",
    "As entregas em espera são abandonadas.",
)
.final_step();

pub(in crate::http::console) static PAUSE_ENDPOINT: ActionForm = of_company(
    "companies/{id}/webhook-endpoint/pause",
    Method::POST,
    "companies/{id}/webhook-endpoint/pause",
    Text::new("Pause", "Pausar"),
)
.about(
    "Events are kept and sent when it is resumed.",
    "Os eventos são guardados e enviados quando for retomado.",
);

pub(in crate::http::console) static RESUME_ENDPOINT: ActionForm = of_company(
    "companies/{id}/webhook-endpoint/resume",
    Method::POST,
    "companies/{id}/webhook-endpoint/resume",
    Text::new("Resume", "Retomar"),
);

pub(in crate::http::console) static ROTATE_SECRET: ActionForm = of_company(
    "companies/{id}/webhook-endpoint/rotate-secret",
    Method::POST,
    "companies/{id}/webhook-endpoint/rotate-secret",
    Text::new("New secret", "Novo segredo"),
)
.about(
    "The new signing secret is shown once. Both secrets sign for the hours below; without any the old one stops at once, and a receiver that does not know the new one refuses everything.",
    "O novo segredo de assinatura é mostrado uma única vez. Os dois assinam pelas horas abaixo; sem horas, o antigo para na hora, e um receptor que não conhece o novo recusa tudo.",
)
.final_step()
.with(&[Input::new(
    "overlapHours",
    "Hours for which both sign",
    "Horas em que os dois assinam",
)
.kind(InputKind::Whole)
.optional()])
.reveals("secret");

pub(in crate::http::console) static TEST_ENDPOINT: ActionForm = ActionForm::new(
    "companies/{id}/webhook-endpoint/test",
    Method::POST,
    "companies/{id}/webhook-endpoint/test",
    Text::new("Send a test", "Enviar teste"),
    "deliveries/{answer.id}",
)
.on(RECORD);
