//! What surrounds every page: navigation, operator, language.

use preauth_core::access::OperatorRole;

use crate::http::pages::words::Words;

use super::assets::{SCRIPT_PATH, STYLE_PATH};

/// The section of the navigation in which a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Home,
    Operations,
    Deliveries,
    Companies,
    Mails,
    SuppressedAddresses,
    PaymentOrders,
    Invoices,
    Reports,
    Operators,
    Log,
    Health,
    None,
}

/// An entry of the navigation.
pub(super) struct Entry {
    pub(super) section: Section,
    pub(super) path: &'static str,
    en: &'static str,
    pt: &'static str,
}

const ENTRIES: &[Entry] = &[
    entry(Section::Home, "/console", "Overview", "Visão geral"),
    entry(
        Section::Operations,
        "/console/operations",
        "Operations",
        "Operações",
    ),
    entry(
        Section::Deliveries,
        "/console/deliveries",
        "Deliveries",
        "Entregas",
    ),
    entry(
        Section::Companies,
        "/console/companies",
        "Companies",
        "Empresas",
    ),
    entry(Section::Mails, "/console/mails", "Mails", "E-mails"),
    entry(
        Section::SuppressedAddresses,
        "/console/suppressed-addresses",
        "Suppressed addresses",
        "Endereços suprimidos",
    ),
    entry(
        Section::PaymentOrders,
        "/console/payment-orders",
        "Payment orders",
        "Ordens de pagamento",
    ),
    entry(
        Section::Invoices,
        "/console/invoices",
        "Received invoices",
        "Notas recebidas",
    ),
    entry(
        Section::Reports,
        "/console/reports",
        "Reports",
        "Relatórios",
    ),
    entry(
        Section::Operators,
        "/console/operators",
        "Operators",
        "Operadores",
    ),
    entry(Section::Log, "/console/log", "Audit log", "Auditoria"),
    entry(Section::Health, "/console/health", "Health", "Saúde"),
];

const fn entry(section: Section, path: &'static str, en: &'static str, pt: &'static str) -> Entry {
    Entry {
        section,
        path,
        en,
        pt,
    }
}

/// The surroundings of a page; templates call it `f`.
pub(super) struct Frame {
    pub(super) w: Words,
    /// The name and role of the operator; nobody has signed in on the others.
    pub(super) operator: Option<(String, OperatorRole)>,
    /// The token of the session's forms.
    pub(super) form_token: String,
    pub(super) section: Section,
    /// The path of the page, for the switch of languages.
    pub(super) here: String,
    pub(super) is_sandbox: bool,
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) entries: &'static [Entry],
}

impl Frame {
    /// Around a page for somebody who has not signed in.
    pub(super) fn open(w: Words, here: &str) -> Self {
        Self {
            w,
            operator: None,
            form_token: String::new(),
            section: Section::None,
            here: here.to_owned(),
            is_sandbox: false,
            style: &STYLE_PATH,
            script: &SCRIPT_PATH,
            entries: ENTRIES,
        }
    }

    /// The text in the reader's language.
    pub(super) fn t(&self, en: &'static str, pt: &'static str) -> &'static str {
        self.w.t(en, pt)
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    pub(super) fn role(&self, role: &OperatorRole) -> &'static str {
        match role {
            OperatorRole::Viewer => self.t("viewer", "somente leitura"),
            OperatorRole::Operator => self.t("operator", "operador"),
            OperatorRole::Admin => self.t("administrator", "administrador"),
        }
    }
}

impl Entry {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    pub(super) fn title(&self, w: &Words) -> &'static str {
        w.t(self.en, self.pt)
    }
}
