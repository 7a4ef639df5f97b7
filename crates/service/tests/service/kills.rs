//! A kill at any moment under load leaves a past state: all acknowledged changes, and possibly the change in progress.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_service::{Refusal, Service, api};

use crate::home::Home;

/// State of each volume: size, configuration, writability, origin.
type State = BTreeMap<String, (u64, String, bool, Option<String>)>;

fn state(volumes: Vec<api::Volume>) -> State {
    let entry = |volume: api::Volume| (volume.name, (volume.size_bytes, volume.like, volume.writable, volume.of));
    volumes.into_iter().map(entry).collect()
}

/// A random change to a random volume of six.
fn change(service: &Service, random: &mut fastrand::Rng) -> Result<(), Refusal> {
    let mut name = || format!("v{}", random.u8(0..6));
    let (one, other) = (name(), name());
    let fork = api::Fork { name: other.clone(), like: None };
    match random.u8(0..7) {
        0 => {
            let (name, like) = (one, format!("limit({}) then link(1ms)", random.u32(1..1_000)));
            service.create(&api::Create { name, like, size_bytes: Some(1 << 20), ..api::Create::default() }).map(drop)
        }
        1 => service.create(&api::Create { name: one, like: "oci:50GB".into(), ..api::Create::default() }).map(drop),
        2 => service.delete(&one),
        3 => service.snapshot(&one, &fork).map(drop),
        4 => service.clone_volume(&one, &fork).map(drop),
        5 => service.resize(&one, &api::Resize::to_bytes(random.u64(1..100) << 30)).map(drop),
        _ => {
            let to = format!("{}", random.u32(0..3) * 10);
            service.level(&one, &api::Level { to, force_detach: false }).map(drop)
        }
    }
}

/// Ends the changes on drop, so also when the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn kill_at_any_moment_leaves_a_past_state() {
    let home = Home::new();
    let story = Mutex::new(vec![State::new()]);
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = fastrand::Rng::with_seed(7);
            while busy.load(Ordering::Relaxed) {
                if change(&home.service, &mut random).is_ok() {
                    let now = state(home.service.list().unwrap());
                    story.lock().unwrap().push(now);
                }
            }
        });
        let ends = Ends(&busy);
        for round in 0..25 {
            std::thread::sleep(std::time::Duration::from_millis(7 * round));
            let before = story.lock().unwrap().len() - 1;
            let killed = home.after_a_kill();
            let after = story.lock().unwrap().len();
            let found = state(killed.service.list().unwrap());
            // The copy may include changes acknowledged during the copy, and the change in progress.
            let end = loop {
                let story = story.lock().unwrap();
                if story.len() > after {
                    break story[before..=after].to_vec();
                }
                drop(story);
                std::thread::yield_now();
            };
            assert!(end.contains(&found), "round {round}: {found:#?} is none of {end:#?}");
        }
        drop(ends);
    });
    let last = story.into_inner().unwrap().pop().unwrap();
    assert_eq!(state(home.again().service.list().unwrap()), last);
}
