//! Recordings of requests on the service's host.

use std::path::PathBuf;

use plimsoll_record::{Action, TraceReader};
use plimsoll_service::{RefusalKind, api};

use crate::home::Home;

impl Home {
    /// A file in the data directory.
    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn record(&self, volume: &str, file: &str) -> Result<api::Volume, (RefusalKind, String)> {
        let recording = api::Recording { file: self.file(file).display().to_string() };
        self.service.record(volume, &recording).map_err(|refusal| (refusal.kind, refusal.message))
    }

    fn operations(&self, file: &str) -> Vec<(Action, u64, u64)> {
        let text = std::fs::read(self.file(file)).unwrap();
        let trace = TraceReader::new(&text[..]).unwrap();
        trace.map(Result::unwrap).map(|entry| (entry.action, entry.offset, entry.length)).collect()
    }
}

#[test]
fn trace_contains_requests_between_start_and_stop() {
    let home = Home::new();
    home.create("data", "link(1ms)");
    let mut client = home.client("data");
    client.read(0, 512);
    let volume = home.record("data", "one.trace").unwrap();
    assert_eq!(volume.recording, Some(home.file("one.trace").display().to_string()));
    client.write(4096, &[1; 8192]);
    client.trim(0, 65536);
    // Later clients are recorded, too, and so are requests after a change of the model.
    home.level("data", "link(2ms)").unwrap();
    home.client("data").read(1 << 20, 4096);
    let ended = home.service.stop_recording("data").unwrap();
    assert_eq!((ended.operations, ended.dropped), (3, 0));
    client.read(0, 512);
    let expected = [(Action::DurableWrite, 4096, 8192), (Action::Trim, 0, 65536), (Action::Read, 1 << 20, 4096)];
    assert_eq!(home.operations("one.trace"), expected);
    assert_eq!(home.service.volume("data").unwrap().recording, None);
    home.record("data", "two.trace").unwrap();
}

#[test]
fn recording_ends_with_volume_and_service() {
    let home = Home::new();
    for name in ["gone", "kept"] {
        home.create(name, "link(1ms)");
        home.record(name, &format!("{name}.trace")).unwrap();
        home.client(name).read(4096, 512);
    }
    home.service.delete("gone").unwrap();
    assert_eq!(home.operations("gone.trace"), [(Action::Read, 4096, 512)]);
    // A later volume is not recorded, although it may reuse the number.
    home.create("next", "link(1ms)");
    home.client("next").read(0, 512);
    assert_eq!(home.operations("gone.trace").len(), 1);
    let again = home.again();
    assert_eq!(again.operations("kept.trace"), [(Action::Read, 4096, 512)]);
    assert_eq!(again.service.volume("kept").unwrap().recording, None);
}

#[test]
fn invalid_recording_is_refused() {
    let home = Home::new();
    home.create("data", "link(1ms)");
    let refused = |volume: &str, file: &str, kind: RefusalKind, why: &str| {
        let (found, message) = home.record(volume, file).unwrap_err();
        assert!(found == kind && message.contains(why), "{file}: {message}");
    };
    std::fs::write(home.file("here"), "mine").unwrap();
    refused("data", "here", RefusalKind::Bad, "name a new file");
    refused("data", "nowhere/trace", RefusalKind::Bad, "name a new file");
    refused("date", "trace", RefusalKind::NotFound, "data");
    let relative = home.service.record("data", &api::Recording { file: "trace".into() }).unwrap_err();
    assert!(relative.message.contains("not an absolute path"), "{relative}");
    assert_eq!(home.service.stop_recording("data").unwrap_err().kind, RefusalKind::Conflict);
    home.record("data", "trace").unwrap();
    refused("data", "other", RefusalKind::Conflict, "volume record data --stop");
    assert_eq!(std::fs::read(home.file("here")).unwrap(), b"mine");
}
