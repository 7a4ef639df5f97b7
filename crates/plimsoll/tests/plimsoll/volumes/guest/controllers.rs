//! The owner of a unit with two controllers changes while the guest writes.

use super::{Guest, open_portals, took};
use crate::home::{Home, SLOWLY};

#[test]
fn writes_go_on_when_the_other_controller_takes_over() {
    let mut home = Home::new("controllers");
    let Some(guest) = Guest::new(&home, include_str!("controllers.sh")) else { return };
    let (_relays, flags) = open_portals(2);
    home.serve(&[&flags.iter().map(String::as_str).collect::<Vec<_>>(), SLOWLY].concat());
    home.does(&["volume", "create", "lun", "--like", "netapp/aff-a800", "--size", "8GiB"]);
    guest.gets("attach.sh", &home.does(&["volume", "attach", "lun", "--iscsi"]));
    let act = |step: &str| {
        if matches!(step, "fail over" | "fail back") {
            eprintln!("{}", home.does(&["volume", "failover", "lun"]).trim_end());
        }
    };
    let steps = guest.run(false, act);
    took(&steps, &["filesystem", "fail over: writes go on", "fail back: writes go on", "clean"]);
    assert!(steps.iter().any(|step| step.ends_with("files are right")), "{steps:#?}");
    let groups = |prio: &str| steps.iter().filter(|step| step.contains("policy=") && step.contains(prio)).count();
    assert_eq!((groups("prio=50"), groups("prio=10")), (3, 3), "two groups, before and after each change: {steps:#?}");
}
