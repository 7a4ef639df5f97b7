//! Objects survive a restart and a kill of the service.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_service::LevelChanges;
use serde_json::{Value, json};

use crate::fixture::{COMPARTMENT, Plane, SPEED_UP};

/// All objects as a client sees them.
fn observe(plane: &Plane, signer: &crate::fixture::Signer) -> Vec<Value> {
    ["volumes", "volumeBackups", "volumeGroups", "volumeGroupBackups", "volumeAttachments"]
        .map(|collection| plane.get(signer, &format!("/{collection}?compartmentId={COMPARTMENT}")).body)
        .to_vec()
}

#[test]
fn objects_survive_a_restart() {
    let plane = Plane::start();
    let signer = plane.signer();
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let id = plane.volume(&signer, "data", 50, 10);
    let backup = plane.post(&signer, "/volumeBackups", &json!({ "volumeId": id, "type": "FULL" })).body;
    plane.until(&signer, &format!("/volumeBackups/{}", backup["id"].as_str().unwrap()), "AVAILABLE");
    let source = json!({ "type": "volumeIds", "volumeIds": [id] });
    let group = plane.post(&signer, "/volumeGroups", &json!({ "compartmentId": COMPARTMENT, "sourceDetails": source }));
    plane.until(&signer, &format!("/volumeGroups/{}", group.body["id"].as_str().unwrap()), "AVAILABLE");
    let body = json!({ "type": "paravirtualized", "instanceId": instance, "volumeId": id }).to_string();
    let attached = plane.ask(&signer, "POST", "/volumeAttachments", &body, &[("opc-retry-token", "t")]).body;
    plane.until(&signer, &format!("/volumeAttachments/{}", attached["id"].as_str().unwrap()), "ATTACHED");
    let before = observe(&plane, &signer);
    let plane = Plane::open(plane.keep(), SPEED_UP, LevelChanges::Detached);
    assert_eq!(observe(&plane, &signer), before);
    let again = plane.ask(&signer, "POST", "/volumeAttachments", &body, &[("opc-retry-token", "t")]).body;
    assert_eq!(again["id"], attached["id"]);
}

#[test]
fn passing_state_goes_on_after_a_restart() {
    let plane = Plane::open(crate::fixture::new_directory(), 1, LevelChanges::Detached);
    let signer = plane.signer();
    let body = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50 });
    let id = plane.post(&signer, "/volumes", &body).body["id"].as_str().unwrap().to_owned();
    let plane = Plane::open(plane.keep(), 1, LevelChanges::Detached);
    assert_eq!(plane.get(&signer, &format!("/volumes/{id}")).body["lifecycleState"], "PROVISIONING");
}

/// Copies a data directory while it is in use, as a kill leaves it. The superblock is copied first: it is never ahead.
fn copy(from: &Path) -> PathBuf {
    let to = crate::fixture::new_directory();
    std::fs::create_dir_all(to.join("cloud")).unwrap();
    let entries = std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path());
    let is_file = |path: &PathBuf| path.is_file() && !path.ends_with("superblock");
    let of_cloud = std::fs::read_dir(from.join("cloud")).unwrap().map(|entry| entry.unwrap().path());
    for path in std::iter::once(from.join("superblock")).chain(entries.filter(is_file)).chain(of_cloud) {
        let target = to.join(path.strip_prefix(from).unwrap());
        let copied = Command::new("cp").args(["-p", "--sparse=always"]).arg(&path).arg(target).status();
        assert!(copied.unwrap().success());
    }
    to
}

#[test]
fn objects_survive_a_kill() {
    let plane = Plane::start();
    let signer = plane.signer();
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let id = plane.volume(&signer, "data", 50, 10);
    let body = json!({ "type": "iscsi", "instanceId": instance, "volumeId": id });
    let attached = plane.post(&signer, "/volumeAttachments", &body).body;
    plane.until(&signer, &format!("/volumeAttachments/{}", attached["id"].as_str().unwrap()), "ATTACHED");
    let gone = plane.volume(&signer, "gone", 50, 10);
    assert_eq!(plane.delete(&signer, &format!("/volumes/{gone}")).status, 204);
    plane.until(&signer, &format!("/volumes/{gone}"), "TERMINATED");
    let before = observe(&plane, &signer);
    let killed = Plane::open(copy(&plane.home.directory), SPEED_UP, LevelChanges::Detached);
    assert_eq!(observe(&killed, &signer), before);
    assert_eq!(killed.home.service.volume("data").unwrap().group.as_deref(), Some("vm"));
}
