//! PATCH /users/{id}: changes what the request names and leaves the rest.

use preauth_core::value::{Email, Permission, PermissionSet, PersonName};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::User;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::resource::Endpoint;
use crate::http::platform::{PlatformApi, Refusal};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, convert};

use super::shape::UserShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Update;

#[async_trait]
impl Endpoint for Update {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let change = parse(&body::json(req).await?)?;
        let user = change.of(super::user(api, req).await?);
        let updated = api.directory.update_user(&user).await;
        updated.map_err(Refusal::EmailTaken.on_conflict())?;
        let body = convert::text(&UserShape::from(&user));
        Ok(Reply::json(StatusCode::OK, body))
    }
}

/// What is `None` stays as it is.
struct UserChange {
    name: Option<PersonName>,
    email: Option<Email>,
    permissions: Option<PermissionSet>,
    active: Option<bool>,
}

impl UserChange {
    fn of(self, user: User) -> User {
        User {
            name: self.name.unwrap_or(user.name),
            email: self.email.unwrap_or(user.email),
            permissions: self.permissions.unwrap_or(user.permissions),
            active: self.active.unwrap_or(user.active),
            ..user
        }
    }
}

fn parse(tree: &Json) -> Result<UserChange, Vec<Problem>> {
    let mut problems = Problems::default();
    let change = Fields::body(tree, &mut problems).map(|body| UserChange {
        name: body.optional_text("name", PersonName::parse, &mut problems),
        email: body.optional_text("email", Email::parse, &mut problems),
        permissions: body.optional_set("permissions", Permission::ALL, &mut problems),
        active: body.optional_bool("active", &mut problems),
    });
    problems.unless_any(change)
}

#[cfg(test)]
mod tests {
    use super::{Email, Json, PermissionSet, PersonName, User, parse};
    use preauth_core::value::{CompanyId, Timestamp, UserId};
    use uuid::Uuid;

    fn user() -> User {
        User {
            id: UserId::new(Uuid::from_u128(1)),
            company: CompanyId::new(Uuid::from_u128(2)),
            name: PersonName::parse("Ana").unwrap(),
            email: Email::parse("ana@construtora.example").unwrap(),
            permissions: PermissionSet::all(),
            active: true,
            created_at: Timestamp::MIN,
        }
    }

    fn changed(body: &str) -> User {
        let change = parse(&Json::parse(body.as_bytes()).unwrap()).unwrap();
        change.of(user())
    }

    #[test]
    fn what_is_absent_or_null_stays() {
        assert_eq!(changed("{}"), user());
        assert_eq!(changed(r#"{"name": null, "permissions": null}"#), user());
    }

    #[test]
    fn what_is_named_changes() {
        let expected = User {
            active: false,
            permissions: PermissionSet::new(),
            ..user()
        };
        assert_eq!(changed(r#"{"active": false, "permissions": []}"#), expected);
    }
}
