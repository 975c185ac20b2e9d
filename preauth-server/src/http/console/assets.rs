//! The style sheet and the script of the console.

use std::sync::LazyLock;

use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::pages::assets::Asset;
use crate::http::request_notes::RequestNotes;

use super::PREFIX;

const STYLE: Asset = Asset::style("console", include_str!("../../../assets/console.css"));
const SCRIPT: Asset = Asset::script("console", include_str!("../../../assets/console.js"));
const ROUTE: &str = "/console/assets";

/// The path of the style sheet.
pub(super) static STYLE_PATH: LazyLock<String> = LazyLock::new(|| path(&STYLE));
/// The path of the script.
pub(super) static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| path(&SCRIPT));

fn path(asset: &Asset) -> String {
    format!("{PREFIX}/assets/{}", asset.name())
}

/// Both files, which need no session.
pub(super) fn router() -> Router {
    [&STYLE_PATH, &SCRIPT_PATH]
        .into_iter()
        .zip([STYLE, SCRIPT])
        .fold(Router::new(), |router, (path, asset)| {
            let path = path.trim_start_matches('/').to_owned();
            router.push(
                Router::with_path(path)
                    .get(Served(asset))
                    .head(Served(asset)),
            )
        })
}

struct Served(Asset);

#[async_trait]
impl Handler for Served {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(ROUTE.into());
        self.0.reply().write(res);
    }
}
