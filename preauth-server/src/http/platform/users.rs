//! `/companies/{id}/users` and `/users/{id}`: the users on whose behalf keys act.

use preauth_core::ErrorCode;
use preauth_core::service::PlatformKey;
use preauth_core::value::{
    CompanyId, Email, FingerprintBuilder, Permission, PermissionSet, PersonName, Timestamp, UserId,
};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::audit_trail;
use crate::directory::{self, UserChange};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer, request};
use crate::http::problem::Defect;
use crate::http::reply::Reply;
use crate::http::requested::{Requested as _, RequestedObject, optional};
use crate::http::{convert, path_id};

use super::create::Create;
use super::endpoint::{Endpoint, existing, ok};
use super::sections::{ACCESS, COMPANY};
use super::{PlatformApi, Refusal, lookup, paging};

answer! {
    /// A user of a company.
    #[derive(Debug)]
    pub(crate) struct User = "User" {
        /// The user's id.
        id: UserId,
        /// The company's id.
        company_id: CompanyId,
        /// Name.
        name: Text<PersonName>,
        /// Address, one user of a company each.
        email: Text<Email>,
        /// The user's permissions.
        permissions: Vec<Open<Permission>> => |it| it.each("May do this."),
        /// Keys of an inactive user open nothing.
        active: bool,
        /// When the user was added.
        created_at: Timestamp,
    }
}

impl From<&directory::User> for User {
    fn from(user: &directory::User) -> Self {
        Self {
            id: user.id,
            company_id: user.company,
            name: (&user.name).into(),
            email: (&user.email).into(),
            permissions: user.permissions.iter().map(Into::into).collect(),
            active: user.active,
            created_at: user.created_at,
        }
    }
}

request! {
    /// A user.
    #[derive(Debug)]
    pub(crate) struct NewUser = "NewUser" {
        /// Name.
        name: PersonName,
        /// Address, one user of a company each.
        email: Email; address,
        /// The user's permissions; both are needed to be responsible for a key.
        permissions: PermissionSet => |it| it.each("May do this."),
        /// Keys of an inactive user open nothing; true when absent.
        active: Option<bool>,
    }
}

request! {
    /// Absent and null fields stay as they are.
    #[derive(Debug)]
    pub(crate) struct ChangedUser = "UserChange" {
        /// Name.
        name: Option<PersonName>,
        /// Address, one user of a company each.
        email: Option<Email>; optional(address),
        /// The user's permissions; both are needed to be responsible for a key.
        permissions: Option<PermissionSet> => |it| it.each("May do this."),
        /// Keys of an inactive user open nothing.
        active: Option<bool>,
    }
}

/// A user with the address of an erased one would look like one.
fn address(body: Fields<'_>, name: &str, problems: &mut Problems) -> Option<Email> {
    let address = Email::read(body, name, problems)?;
    if directory::is_of_erased_user(&address) {
        problems.add(name, Defect::EmailOfErasedUser);
    }
    Some(address)
}

impl From<ChangedUser> for UserChange {
    fn from(changed: ChangedUser) -> Self {
        let ChangedUser {
            name,
            email,
            permissions,
            active,
        } = changed;
        Self {
            name,
            email,
            permissions,
            active,
        }
    }
}

/// Newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "listUsers", "List a company's users")
            .id(COMPANY)
            .paged()
            .answers(200, "Newest first.", Schema::list_of::<User>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let company = lookup::company(api, req).await?;
        let found = api.directory.users(company.id, page).await?;
        Ok(paging::reply(&found, page, |each| User::from(each)))
    }
}

/// Adds a user, active by default.
#[derive(Clone, Copy)]
pub(super) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewUser;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "addUser", "Add a user")
            .id(COMPANY)
            .body("The user.", Schema::of::<NewUser>())
            .answers(201, "Added.", Schema::of::<User>())
            .refuses(&[
                ErrorCode::ResourceConflict,
                ErrorCode::SupplierNotRegistered,
            ])
    }

    fn describe(&self, new: &NewUser, parts: &mut FingerprintBuilder) {
        let NewUser {
            name,
            email,
            permissions,
            active,
        } = new;
        parts.text(Some(name.as_str()));
        parts.part(Some(email.as_str()));
        for permission in permissions.iter() {
            parts.part(Some(permission.as_str()));
        }
        parts.part(Some(&active.unwrap_or(true).to_string()));
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: NewUser,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let company = lookup::registered(api, req).await?;
        let now = api.clock.now();
        let user = directory::User {
            id: UserId::new(api.ids.uuid(now)),
            company: company.id,
            name: new.name,
            email: new.email,
            permissions: new.permissions,
            active: new.active.unwrap_or(true),
            created_at: now,
        };
        let body = convert::text(&User::from(&user));
        let reply = key.map(|key| key.reply(body.clone()));
        audit_trail::creating("users", user.id);
        let added = api.directory.add_user(&user, reply.as_ref()).await;
        added.map_err(Refusal::EmailTaken.on_conflict())?;
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "getUser", "Get a user")
            .id("The user's id.")
            .answers(200, "The user.", Schema::of::<User>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let user = user(api, req).await?;
        Ok(ok(&User::from(&user)))
    }
}

/// Changes the fields in the request and leaves the others.
#[derive(Clone, Copy)]
pub(super) struct Update;

#[async_trait]
impl Endpoint for Update {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(ACCESS, "updateUser", "Change a user")
            .note("Absent and null fields stay as they are.")
            .id("The user's id.")
            .body("The fields to change.", Schema::of::<ChangedUser>())
            .answers(200, "The user as changed.", Schema::of::<User>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let change = ChangedUser::parse(&api.json(req).await?)?.into();
        let found = user(api, req).await?;
        let updated = api.directory.update_user(found.id, &change).await;
        // The database knows who was erased. Earlier builds gave others such an address, too.
        let refusal = if found.is_erased() {
            Refusal::UserErased
        } else {
            Refusal::EmailTaken
        };
        let user = updated.map_err(refusal.on_conflict())?;
        Ok(ok(&User::from(&user)))
    }
}

/// The user that the path names.
async fn user(api: &PlatformApi, req: &Request) -> Result<directory::User, ApiError> {
    let id = path_id::record(req, UserId::parse)?;
    let found = api.directory.user(id).await?;
    existing(found)
}

#[cfg(test)]
mod tests {
    use super::{ChangedUser, NewUser, RequestedObject as _, UserChange};
    use crate::http::json::Json;
    use crate::http::problem::{Defect, Problem};
    use preauth_core::value::PermissionSet;

    fn change(body: &str) -> UserChange {
        ChangedUser::parse(&Json::parse(body.as_bytes()).unwrap())
            .unwrap()
            .into()
    }

    #[test]
    fn a_user_is_active_and_has_no_permissions_by_default() {
        let body = br#"{"name": "Ana", "email": "ana@construtora.example", "permissions": []}"#;
        let user = NewUser::parse(&Json::parse(body).unwrap()).unwrap();
        assert!(user.active.unwrap_or(true) && user.permissions.is_empty());
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"name": " ", "permissions": ["ADMIN"], "active": "yes"}"#;
        let found = NewUser::parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["name", "email", "permissions[0]", "active"]);
        assert!(found.contains(&Problem::new("email", Defect::Required)));
    }

    #[test]
    fn an_address_of_erased_users_is_refused() {
        let refused = || vec![Problem::new("email", Defect::EmailOfErasedUser)];
        for domain in ["apagado.invalid", "Apagado.INVALID"] {
            let new = format!(r#"{{"name": "Ana", "email": "ana@{domain}", "permissions": []}}"#);
            let new = NewUser::parse(&Json::parse(new.as_bytes()).unwrap());
            assert_eq!(new.unwrap_err(), refused(), "{domain}");
            let change = format!(r#"{{"email": "ana@{domain}"}}"#);
            let change = ChangedUser::parse(&Json::parse(change.as_bytes()).unwrap());
            assert_eq!(change.unwrap_err(), refused(), "{domain}");
        }
        let other = change(r#"{"email": "ana@nao-apagado.invalid"}"#);
        assert!(other.email.is_some());
    }

    #[test]
    fn absent_and_null_fields_change_nothing() {
        assert_eq!(change("{}"), UserChange::default());
        assert_eq!(
            change(r#"{"name": null, "permissions": null}"#),
            UserChange::default()
        );
    }

    #[test]
    fn given_fields_are_changed() {
        let expected = UserChange {
            active: Some(false),
            permissions: Some(PermissionSet::new()),
            ..UserChange::default()
        };
        assert_eq!(change(r#"{"active": false, "permissions": []}"#), expected);
    }
}
