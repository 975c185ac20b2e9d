//! Receivers hang, fail and close connections: other receivers are not affected, and no event is
//! lost.

use std::sync::Arc;

use test_support::{Database, travel::advance};
use tokio::task::JoinSet;

use crate::crowd::{Crowd, Manner};
use crate::overlap::Disruption;
use crate::scene::{Scene, eventually};
use crate::suppliers::{Supplier, everything_arrived, register};

const HEALTHY: Manner = Manner::Answers(204);
/// Concurrent attempts in one process, slow ones apart.
const SLOTS: usize = 768;

/// Creates `times` offers to every supplier, over eight connections at once.
async fn offer_to_all(scene: &Scene, suppliers: &[Supplier], times: usize) {
    let mut ways = JoinSet::new();
    for way in 0..8 {
        let of_this_way = suppliers.iter().skip(way).step_by(8);
        let cnpjs: Vec<String> = of_this_way.map(|it| it.cnpj.clone()).collect();
        let erp = scene.erp(0);
        ways.spawn(async move {
            for _ in 0..times {
                for cnpj in &cnpjs {
                    erp.to(cnpj).offer_once().await;
                }
            }
        });
    }
    while let Some(ended) = ways.join_next().await {
        ended.unwrap();
    }
}

async fn receivers_misbehave(scene: Scene) {
    let manners = [
        vec![Manner::Hangs; 6],
        vec![Manner::Answers(500); 4],
        vec![Manner::Resets; 2],
        vec![HEALTHY; 8],
    ]
    .concat();
    let crowd = Crowd::of(&manners).await;
    let suppliers = register(&scene, &crowd).await;
    let times = 3;
    offer_to_all(&scene, &suppliers, times).await;
    let (healthy, others): (Vec<_>, Vec<_>) =
        (0..crowd.len()).partition(|member| crowd.manner(*member) == HEALTHY);
    // The first attempt to a hanging receiver times out after ten seconds.
    eventually("the healthy ones have received everything", || {
        healthy.iter().all(|it| crowd.arrivals(*it).len() == times)
    })
    .await;
    scene.wait_for_arrivals(suppliers.len() * times).await;
    let sandbox = scene.first().sandbox();
    for (failures, until_the_next_seconds) in [(1, 6), (2, 66)] {
        for member in &others {
            suppliers[*member].deliveries.all_tried(failures).await;
        }
        if failures == 2 {
            crowd.all(HEALTHY);
        }
        let _ending = Disruption::LeasesEnded.begin();
        advance(sandbox, until_the_next_seconds).await;
    }
    everything_arrived(&suppliers, &crowd).await;
    for member in healthy {
        let arrivals = crowd.arrivals(member);
        assert!(arrivals.values().all(|it| it.len() == 1), "{arrivals:?}");
    }
    for member in others {
        let arrivals = crowd.arrivals(member);
        assert!(arrivals.values().all(|it| it.len() >= 3), "{arrivals:?}");
    }
    println!("{} events received by {}", crowd.events(), crowd.len());
}

#[tokio::test]
async fn all_events_arrive_once_receivers_recover_on_sqlite() {
    receivers_misbehave(Scene::on_file().await).await;
}

#[tokio::test]
async fn all_events_arrive_once_receivers_recover_on_postgresql() {
    let database = Database::empty().await;
    receivers_misbehave(Scene::on(&database.url()).await).await;
}

/// More endpoints than there are slots for, at eight each.
async fn many_hang(scene: Scene) {
    let mut manners = vec![Manner::Hangs; 80];
    manners.push(HEALTHY);
    let crowd = Arc::new(Crowd::of(&manners).await);
    let mut suppliers = register(&scene, &crowd).await;
    let healthy = suppliers.split_off(80);
    offer_to_all(&scene, &suppliers, 8).await;
    offer_to_all(&scene, &healthy, 5).await;
    eventually("the healthy one has received everything", || {
        crowd.arrivals(80).len() == 5
    })
    .await;
    let most = crowd.max_hanging();
    assert!(most <= SLOTS / 4 * 3, "{most} hang: they leave room");
    crowd.all(HEALTHY);
    suppliers.extend(healthy);
    everything_arrived(&suppliers, &crowd).await;
    println!("{most} of {} requests hung at once", 80 * 8);
}

#[tokio::test]
async fn many_endpoints_that_hang_leave_room_on_sqlite() {
    many_hang(Scene::on_file().await).await;
}

#[tokio::test]
async fn many_endpoints_that_hang_leave_room_on_postgresql() {
    let database = Database::empty().await;
    many_hang(Scene::on(&database.url()).await).await;
}
