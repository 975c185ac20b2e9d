//! The style sheet, and what crawlers and browsers ask every server for.

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::pages::assets::Asset;
use crate::http::pages::headers::harmless;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;

const STYLE: Asset = Asset::style("portal", include_str!("portal.css"));
const ROBOTS: &str = "User-agent: *\nDisallow: /\n";

/// The path of the style sheet, which changes with its content.
pub(super) fn style_path() -> String {
    format!("/{}", STYLE.name())
}

pub(super) fn routes() -> Router {
    let route = |path: String, file: File| {
        let router = Router::with_path(path);
        router.get(file).head(file)
    };
    Router::new()
        .push(route(style_path(), File::Style))
        .push(route("/robots.txt".to_owned(), File::Robots))
        .push(route("/favicon.ico".to_owned(), File::Icon))
}

#[derive(Clone, Copy)]
enum File {
    Style,
    Robots,
    Icon,
}

#[async_trait]
impl Handler for File {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let (route, reply) = match self {
            Self::Style => ("/portal.css", STYLE.reply()),
            Self::Robots => {
                let text = "text/plain; charset=utf-8";
                let reply = Reply::text(StatusCode::OK, text, ROBOTS.to_owned());
                ("/robots.txt", harmless(reply))
            }
            Self::Icon => ("/favicon.ico", harmless(Reply::no_content())),
        };
        RequestNotes::of(depot).route = Some(route.into());
        reply.write(res);
    }
}
