//! The printed commands of a volume with five paths: a path is cut and restored, the volume grows, the guest is started
//! again.

use super::{Guest, open_portals, took};
use crate::home::Home;

/// Paths of an ultra-high-performance volume.
const PATHS: usize = 5;

#[test]
fn guest_uses_a_volume_over_five_paths() {
    let mut home = Home::new("guest");
    let Some(guest) = Guest::new(&home, include_str!("paths.sh")) else { return };
    let (relays, mut flags) = open_portals(PATHS);
    flags.extend(["--slow".into(), "4".into()]);
    home.serve(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    home.does(&["volume", "create", "uhp", "--like", "oci:50GB@120vpu,queue_depth=128"]);
    guest.gets("attach.sh", &home.does(&["volume", "attach", "uhp", "--iscsi"]));
    let act = |step: &str| match step {
        "cut a path" => relays[2].cut(),
        "restore the path" => relays[2].restore(),
        "grow the volume" => {
            home.does(&["volume", "resize", "uhp", "60GiB"]);
        }
        _ => {}
    };
    let steps = guest.run(false, act);
    let layout = steps.iter().filter(|step| step.starts_with("layout")).cloned().collect::<Vec<_>>().join("\n");
    for part in ["mpatha (3600", "ORACLE,BlockVolume", "policy='queue-length 0'"] {
        assert!(layout.contains(part), "no {part} in {layout}");
    }
    assert_eq!(layout.matches("active ready running").count(), PATHS, "{layout}");
    took(&steps, &["filesystem on /dev/mapper/mpatha", "written cut", "written restored", "size 64424509440", "clean"]);
    // A session takes 113 of 128 commands: the kernel keeps the rest for its own.
    took(&steps, &["sessions 5, depth 113"]);
    took(&guest.run(true, |_| {}), &["same data after the reboot"]);
}
