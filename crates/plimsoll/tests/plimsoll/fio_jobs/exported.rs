//! Job files on an export of an NBD server.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::channel;

use plimsoll_device::Clock;
use plimsoll_front::{DataFiles, Limits, Offer, Server};
use plimsoll_units::Span;
use plimsoll_volume::{Export, Volumes};

use super::{JobFolder, integer, job, read};

const SIZE: u64 = 16 << 20;

#[test]
fn an_export_is_read_and_written_by_name_only() {
    // Paths in the build directory may be too long for a socket.
    let socket = std::env::temp_dir().join(format!("plimsoll-fio-jobs-{}", std::process::id()));
    let end = serve(&socket);
    let folder = JobFolder::new("exported");
    let uri = format!("nbd+unix:///data?socket={}", socket.display());
    let report = folder.json(&format!("--on {uri}"), "[r]\nrw=randread\nioengine=libaio\niodepth=8\nnumber_ios=500\n");
    assert_eq!(integer(job(&report, "r"), "read.total_ios"), 500);

    let text = "[global]\nsize=1m\nbs=16k\n[w]\nrw=randwrite\nverify=crc32c\nnrfiles=2\n[v]\nrw=randrw\nfsync=8\n";
    let (output, reported) = folder.run_jobs(&format!("--on {uri}"), text);
    assert_eq!(output.status.code(), Some(1));
    assert!(reported.contains(&format!("add --destroy {uri}")), "{reported}");

    let (output, reported) = folder.run_jobs(&format!("--on {uri} --destroy {uri}"), text);
    assert_eq!(output.status.code(), Some(0), "{reported}");
    let report = read(&output);
    let w = job(&report, "w");
    assert_eq!((integer(w, "write.total_ios"), integer(w, "read.total_ios")), (64, 64), "written, and read back");
    assert!(integer(job(&report, "v"), "sync.total_ios") >= 2);
    end();
    std::fs::remove_file(&socket).unwrap();
}

/// Serves an empty export until it is dropped.
fn serve(socket: &Path) -> impl FnOnce() + use<> {
    let listener = UnixListener::bind(socket).unwrap();
    let (sender, handle) = channel();
    let thread = std::thread::spawn(move || {
        let volumes = Volumes::plain([SIZE], Span::ZERO);
        let mut server = Server::new(volumes, DataFiles::memory(), Limits::default(), Clock::start()).unwrap();
        server.offer(Offer::new(Export(0), "data", SIZE));
        server.listen(listener).unwrap();
        sender.send(server.handle()).unwrap();
        server.run().unwrap();
    });
    let handle = handle.recv().unwrap();
    move || {
        handle.send(Server::stop).unwrap();
        thread.join().unwrap();
    }
}
