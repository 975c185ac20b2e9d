//! PATCH /users/{id}: changes the fields in the request and leaves the others.

use preauth_core::value::{Email, Permission, PersonName};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::UserChange;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::endpoint::Endpoint;
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
        let id = super::user(api, req).await?.id;
        let updated = api.directory.update_user(id, &change).await;
        let user = updated.map_err(Refusal::EmailTaken.on_conflict())?;
        let body = convert::text(&UserShape::from(&user));
        Ok(Reply::json(StatusCode::OK, body))
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
    use super::{Json, UserChange, parse};
    use preauth_core::value::PermissionSet;

    fn change(body: &str) -> UserChange {
        parse(&Json::parse(body.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_absent_or_null_is_not_named() {
        assert_eq!(change("{}"), UserChange::default());
        assert_eq!(
            change(r#"{"name": null, "permissions": null}"#),
            UserChange::default()
        );
    }

    #[test]
    fn what_is_given_is_named() {
        let expected = UserChange {
            active: Some(false),
            permissions: Some(PermissionSet::new()),
            ..UserChange::default()
        };
        assert_eq!(change(r#"{"active": false, "permissions": []}"#), expected);
    }
}
