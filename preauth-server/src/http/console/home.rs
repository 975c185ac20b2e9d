//! The first page.

use askama::Template;
use salvo::async_trait;
use salvo::http::StatusCode;

use crate::http::platform::calling_operator::CallingOperatorShape;
use crate::http::reply::Reply;

use super::failure::{Failure, render};
use super::frame::{Frame, Section};
use super::guard::Page;
use super::visit::Visit;

#[derive(Template)]
#[template(path = "console/home.html")]
struct HomePage {
    f: Frame,
    operator: CallingOperatorShape,
}

pub(super) struct Home;

#[async_trait]
impl Page for Home {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let page = HomePage {
            f: Frame::of(visit, Section::Home),
            operator: visit.get("calling-operator").await?,
        };
        Ok(render(StatusCode::OK, &page)?)
    }
}
