//! The server is killed while it starts.

use std::process::{Command, Stdio};

use tokio::time::sleep;

use crate::chance::{pause, rounds};
use crate::instance::present_build;
use crate::overlap::Disruption;
use crate::scene::Scene;

#[tokio::test]
async fn starts_that_are_cut_off_lose_and_double_nothing() {
    let mut scene = Scene::on_file().await;
    let (kills, erp) = (rounds(15), scene.erp(0));
    for _ in 0..kills {
        for _ in 0..3 {
            erp.offer().await;
        }
        let home = scene.instances[0].kill();
        // Of those before.
        let _ending = Disruption::LeasesEnded.begin();
        let mut process = Command::new(present_build())
            .args(["sandbox", "--listen", "127.0.0.1:0"])
            .args(["--platform-listen", "127.0.0.1:0", "--data"])
            .arg(home.folder().join("data"))
            .args(["--webhook-url", &scene.receiver.url()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(pause(0, 150)).await;
        process.kill().unwrap();
        process.wait().unwrap();
        scene.instances[0].start_again(home).await;
    }
    let figures = scene.check_consistency().await;
    println!("{kills} starts cut off, {kills} kills: {figures}");
}
