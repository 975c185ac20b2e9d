//! A user as answers show it.

use preauth_core::value::Permission;
use serde::Serialize;

use crate::directory::User;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserShape {
    id: String,
    company_id: String,
    name: String,
    email: String,
    permissions: Vec<&'static str>,
    active: bool,
    created_at: String,
}

impl From<&User> for UserShape {
    fn from(user: &User) -> Self {
        let permissions = user.permissions.iter();
        Self {
            id: user.id.to_string(),
            company_id: user.company.to_string(),
            name: user.name.to_string(),
            email: user.email.to_string(),
            permissions: permissions.map(Permission::as_str).collect(),
            active: user.active,
            created_at: user.created_at.to_string(),
        }
    }
}
