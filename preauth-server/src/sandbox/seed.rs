//! The demo data: a head office with a branch, users, keys of every kind, suppliers, an endpoint.

use std::error::Error as StdError;

use chrono::TimeDelta;
use preauth_core::access::DEFAULT_VALIDITY_DAYS;
use preauth_core::operation::Credit;
use preauth_core::port::IdSource;
use preauth_core::value::{
    ApiKeyId, Cnpj, CompanyId, CompanyKind, CompanyName, Email, EndpointId, EventTypeSet, KeyName,
    Money, Permission, PermissionSet, PersonName, Scope, Timestamp, UserId,
};
use secrecy::{ExposeSecret, SecretString};

use crate::access::NewApiKey;
use crate::directory::{ApiKey, Company, Directory, Endpoint, User};
use crate::ids::RandomIds;
use crate::secret::{OperatorToken, Vault, new_signing_secret};

use super::Credentials;

/// The demo construction company.
pub const HEAD_OFFICE_CNPJ: &str = "11222333000181";
const BRANCH_CNPJ: &str = "11222333000262";
pub(super) const SUPPLIER_CNPJ: &str = "11444777000161";
const ALPHANUMERIC_SUPPLIER_CNPJ: &str = "12ABC34501DE35";
const BLOCKED_SUPPLIER_CNPJ: &str = "98765432000198";
/// The maximum of the contract: newcomers meet the contract's limits first, not those of the demo
/// company.
const MAX_TERM_DAYS: u32 = 180;
const MAX_INVOICE_CENTS: i64 = 1_000_000_000;

/// Any failure to write the demo data; the sandbox then does not start.
pub(super) type SeedError = Box<dyn StdError + Send + Sync>;

/// Fills an empty database and returns the credentials.
pub async fn seed(
    directory: &dyn Directory,
    vault: &Vault,
    webhook_url: &str,
    now: Timestamp,
) -> Result<Credentials, SeedError> {
    let seeding = Seeding { directory, now };
    let head_office = seeding
        .company(
            HEAD_OFFICE_CNPJ,
            "Construtora Exemplo S.A.",
            CompanyKind::Construction,
            None,
        )
        .await?;
    let branch = seeding
        .company(
            BRANCH_CNPJ,
            "Construtora Exemplo S.A. - Filial Santos",
            CompanyKind::Construction,
            Some(head_office),
        )
        .await?;
    seeding.suppliers(head_office).await?;
    let secret = new_signing_secret();
    add_endpoint(directory, vault, head_office, webhook_url, &secret, now).await?;
    seeding
        .credentials(head_office, branch, secret.expose_secret())
        .await
}

struct Seeding<'a> {
    directory: &'a dyn Directory,
    now: Timestamp,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Expired,
    Revoked,
}

/// The permissions of a demo user.
#[derive(Clone, Copy)]
enum DemoPermissions {
    /// Both permissions.
    Everything,
    /// One permission of two: not enough for a key.
    RequestOnly,
    /// Both permissions, but deactivated.
    Nothing,
}

impl Seeding<'_> {
    /// Users, their keys, and all other content of the ready file.
    async fn credentials(
        &self,
        office: CompanyId,
        branch: CompanyId,
        webhook_secret: &str,
    ) -> Result<Credentials, SeedError> {
        let ana = self
            .user(
                office,
                "Ana Souza",
                "ana@construtora.example.com",
                DemoPermissions::Everything,
            )
            .await?;
        let bia = self
            .user(
                branch,
                "Bia Lima",
                "bia@construtora.example.com",
                DemoPermissions::Everything,
            )
            .await?;
        let caio = self
            .user(
                office,
                "Caio Dias",
                "caio@construtora.example.com",
                DemoPermissions::RequestOnly,
            )
            .await?;
        let davi = self
            .user(
                office,
                "Davi Reis",
                "davi@construtora.example.com",
                DemoPermissions::Nothing,
            )
            .await?;
        let both = Scope::OFFERED;
        Ok(Credentials {
            platform_token: OperatorToken::generate().expose().to_owned(),
            api_key: self.key("ERP", office, ana, both).await?,
            read_only_api_key: self
                .key("Leitura", office, ana, &[Scope::PreauthRead])
                .await?,
            write_only_api_key: self
                .key("Escrita", office, ana, &[Scope::PreauthWrite])
                .await?,
            branch_api_key: self.key("Filial", branch, bia, both).await?,
            expired_api_key: self
                .ended_key("Expirada", office, ana, Ended::Expired)
                .await?,
            revoked_api_key: self
                .ended_key("Revogada", office, ana, Ended::Revoked)
                .await?,
            forbidden_user_api_key: self.key("Sem permissão", office, caio, both).await?,
            deactivated_user_api_key: self.key("Desligado", office, davi, both).await?,
            legacy_api_key: self.key("Notas", office, ana, &[Scope::NotesRead]).await?,
            webhook_secret: webhook_secret.to_owned(),
            company_cnpj: HEAD_OFFICE_CNPJ.to_owned(),
            branch_cnpj: BRANCH_CNPJ.to_owned(),
            supplier_cnpj: SUPPLIER_CNPJ.to_owned(),
            blocked_supplier_cnpj: BLOCKED_SUPPLIER_CNPJ.to_owned(),
        })
    }

    async fn suppliers(&self, head_office: CompanyId) -> Result<(), SeedError> {
        let credit = Credit {
            max_term_days: MAX_TERM_DAYS,
            max_invoice_amount: Money::from_cents(MAX_INVOICE_CENTS).unwrap_or(Money::ZERO),
        };
        self.directory
            .set_credit(head_office, credit, self.now)
            .await?;
        for (cnpj, name) in [
            (SUPPLIER_CNPJ, "Fornecedor Exemplo Ltda."),
            (ALPHANUMERIC_SUPPLIER_CNPJ, "Concreto e Aço Ltda."),
            (BLOCKED_SUPPLIER_CNPJ, "Fornecedor Bloqueado Ltda."),
        ] {
            self.company(cnpj, name, CompanyKind::Supplier, None)
                .await?;
        }
        let blocked = Cnpj::parse(BLOCKED_SUPPLIER_CNPJ)?;
        Ok(self
            .directory
            .block_supplier(head_office, &blocked, self.now)
            .await?)
    }

    async fn company(
        &self,
        cnpj: &str,
        name: &str,
        kind: CompanyKind,
        head_office: Option<CompanyId>,
    ) -> Result<CompanyId, SeedError> {
        let company = Company {
            id: CompanyId::new(RandomIds.uuid(self.now)),
            cnpj: Cnpj::parse(cnpj)?,
            name: CompanyName::parse(name)?,
            kind,
            head_office,
            contact: None,
            is_invited: false,
            created_at: self.now,
            suspension: None,
        };
        self.directory.add_company(&company, None).await?;
        Ok(company.id)
    }

    async fn user(
        &self,
        company: CompanyId,
        name: &str,
        email: &str,
        can: DemoPermissions,
    ) -> Result<UserId, SeedError> {
        let mut permissions = PermissionSet::new();
        permissions.insert(Permission::RequestAdvances);
        if !matches!(can, DemoPermissions::RequestOnly) {
            permissions.insert(Permission::PreAuthorizeAdvances);
        }
        let user = User {
            id: UserId::new(RandomIds.uuid(self.now)),
            company,
            name: PersonName::parse(name)?,
            email: Email::parse(email)?,
            permissions,
            active: !matches!(can, DemoPermissions::Nothing),
            created_at: self.now,
        };
        self.directory.add_user(&user, None).await?;
        Ok(user.id)
    }

    async fn key(
        &self,
        name: &str,
        company: CompanyId,
        user: UserId,
        scopes: &[Scope],
    ) -> Result<String, SeedError> {
        self.add_key(name, company, user, scopes, None).await
    }

    async fn ended_key(
        &self,
        name: &str,
        company: CompanyId,
        user: UserId,
        ended: Ended,
    ) -> Result<String, SeedError> {
        self.add_key(name, company, user, Scope::OFFERED, Some(ended))
            .await
    }

    async fn add_key(
        &self,
        name: &str,
        company: CompanyId,
        user: UserId,
        scopes: &[Scope],
        ended: Option<Ended>,
    ) -> Result<String, SeedError> {
        let new = NewApiKey::generate();
        let validity = TimeDelta::days(DEFAULT_VALIDITY_DAYS.into());
        let is_expired = ended == Some(Ended::Expired);
        let age = if is_expired {
            validity
        } else {
            TimeDelta::zero()
        };
        let created_at = self.now.saturating_sub(age);
        let key = ApiKey {
            id: ApiKeyId::new(RandomIds.uuid(created_at)),
            company,
            name: KeyName::parse(name)?,
            responsible_user: user,
            scopes: scopes.iter().copied().collect(),
            prefix: new.prefix,
            created_at,
            expires_at: created_at.saturating_add(validity),
            revoked_at: None,
            last_used_at: None,
        };
        self.directory.add_api_key(&key, &new.hash, None).await?;
        if ended == Some(Ended::Revoked) {
            self.directory.revoke_api_key(key.id, self.now).await?;
        }
        Ok(new.clear_text.expose_secret().to_owned())
    }
}

/// Registers the demo endpoint, with a given secret.
pub async fn add_endpoint(
    directory: &dyn Directory,
    vault: &Vault,
    company: CompanyId,
    url: &str,
    secret: &SecretString,
    now: Timestamp,
) -> Result<(), SeedError> {
    let endpoint = Endpoint {
        id: EndpointId::new(RandomIds.uuid(now)),
        company,
        url: url.to_owned(),
        events: EventTypeSet::all(),
        paused_at: None,
        created_at: now,
        last_success_at: None,
        earlier_secrets_until: None,
    };
    let sealed = vault.seal(endpoint.id, secret)?;
    Ok(directory.add_endpoint(&endpoint, &sealed).await?)
}
