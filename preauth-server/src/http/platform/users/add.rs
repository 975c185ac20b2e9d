//! POST /companies/{id}/users: adds a user, active by default.

use preauth_core::service::PlatformKey;
use preauth_core::value::{
    CompanyId, Email, FingerprintBuilder, Permission, PermissionSet, PersonName, Timestamp, UserId,
};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::User;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::create::Create;
use crate::http::platform::{PlatformApi, Refusal, lookup};
use crate::http::problem::Problem;
use crate::http::reply::Reply;

use super::shape::UserShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewUser;

    fn parse(&self, tree: &Json) -> Result<NewUser, Vec<Problem>> {
        parse(tree)
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
        parts.part(Some(&active.to_string()));
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
        let user = new.user(UserId::new(api.ids.uuid(now)), company.id, now);
        let body = convert::text(&UserShape::from(&user));
        let reply = key.map(|key| key.reply(body.clone()));
        let added = api.directory.add_user(&user, reply.as_ref()).await;
        added.map_err(Refusal::EmailTaken.on_conflict())?;
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::http::platform) struct NewUser {
    name: PersonName,
    email: Email,
    permissions: PermissionSet,
    active: bool,
}

impl NewUser {
    fn user(self, id: UserId, company: CompanyId, now: Timestamp) -> User {
        User {
            id,
            company,
            name: self.name,
            email: self.email,
            permissions: self.permissions,
            active: self.active,
            created_at: now,
        }
    }
}

fn parse(tree: &Json) -> Result<NewUser, Vec<Problem>> {
    let mut problems = Problems::default();
    let new = Fields::body(tree, &mut problems).and_then(|body| {
        let name = body.text("name", PersonName::parse, &mut problems);
        let email = body.text("email", Email::parse, &mut problems);
        // An empty list is accepted, because it is explicit; an absent one is probably an
        // oversight.
        body.required("permissions", &mut problems);
        let permissions = body.optional_set("permissions", Permission::ALL, &mut problems);
        let active = body.optional_bool("active", &mut problems);
        Some(NewUser {
            name: name?,
            email: email?,
            permissions: permissions?,
            active: active.unwrap_or(true),
        })
    });
    problems.unless_any(new)
}

#[cfg(test)]
mod tests {
    use super::{Json, parse};
    use crate::http::problem::{Defect, Problem};

    #[test]
    fn a_user_is_active_and_has_no_permissions_by_default() {
        let body = br#"{"name": "Ana", "email": "ana@construtora.example", "permissions": []}"#;
        let user = parse(&Json::parse(body).unwrap()).unwrap();
        assert!(user.active && user.permissions.is_empty());
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"name": " ", "permissions": ["ADMIN"], "active": "yes"}"#;
        let found = parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["name", "email", "permissions[0]", "active"]);
        assert!(found.contains(&Problem::new("email", Defect::Required)));
    }
}
