//! `serve` on the very data of a sandbox: no route moves its clock, and no value is magic.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::integration::Magic;
use serde_json::{Value, json};

use crate::support::{Backend, Home, RawCaller, Sandbox, offer_body, with};
use crate::travel::CLOCK;

const START_DEADLINE: Duration = Duration::from_mins(1);

/// A server in production, killed at the end.
struct Served {
    process: Child,
    integration: String,
    platform: String,
}

impl Served {
    async fn start(home: &Home, token: &str) -> Self {
        let path = home.folder().join("serve.log");
        let log = std::fs::File::create(&path).unwrap();
        let free = "127.0.0.1:0";
        let process = Command::new(env!("CARGO_BIN_EXE_preauth-server"))
            .args(["serve", "--listen", free, "--platform-listen", free])
            .args(["--data".into(), home.folder().join("data")])
            .env("PREAUTH_PLATFORM_TOKEN", token)
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut served = Self {
            process,
            integration: String::new(),
            platform: String::new(),
        };
        let wait = async {
            loop {
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text
                    .lines()
                    .filter_map(|line| serde_json::from_str(line).ok());
                let ready = lines
                    .into_iter()
                    .find(|line: &Value| line["message"] == "ready");
                if let Some(ready) = ready {
                    return ready;
                }
                if let Some(status) = served.process.try_wait().unwrap() {
                    panic!("it ended with {status}: {text}");
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let ready = tokio::time::timeout(START_DEADLINE, wait).await.unwrap();
        let url = |name: &str| format!("http://{}", ready[name].as_str().unwrap());
        (served.integration, served.platform) = (url("integration"), url("platform"));
        served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn production_has_neither_time_travel_nor_magic() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let body = offer_body(&sandbox, "NF-1");
    let [key, token] = ["apiKey", "platformToken"].map(|name| sandbox.text(name).to_owned());
    let home = sandbox.kill();
    let served = Served::start(&home, &token).await;

    let platform = RawCaller::new(&served.platform, Some(&token));
    for seconds in [json!(0), json!(86_400), json!("x")] {
        let unknown = platform
            .post_json(CLOCK, &json!({"advanceSeconds": seconds}))
            .await;
        assert_eq!(unknown.refusal(), (404, "NOT_FOUND".to_owned()));
    }
    assert_eq!(
        platform.get(CLOCK).await.refusal(),
        (404, "NOT_FOUND".to_owned())
    );

    let caller = RawCaller::new(&served.integration, Some(&key));
    for (id, code) in (1..=20).zip(Magic::codes()) {
        let text = json!(format!("sandbox:{}", code.as_str()));
        let body = with(body.clone(), "/invoice/number", text.clone());
        let body = with(body, "/externalReference", text.clone());
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201, "{}", created.text);
        assert_eq!(created.json()["invoice"]["number"], text);
        let one = format!("{PRE_AUTHORIZATIONS}/{id}");
        assert_eq!(caller.get(&one).await.status, 200);
        assert_eq!(caller.post(&format!("{one}/cancel")).await.status, 201);
        let filter = format!(
            "{PRE_AUTHORIZATIONS}?externalReference={}",
            text.as_str().unwrap()
        );
        assert_eq!(caller.get(&filter).await.json()["pagination"]["total"], 1);
    }
    let mistyped = with(body, "/invoice/number", json!("sandbox:NO_SUCH_CODE"));
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &mistyped).await.status,
        201
    );
}
