//! Listening addresses are parsed and displayed; sockets are created, replaced, refused and removed.

use std::os::unix::net::{UnixListener, UnixStream};

use super::*;
use crate::notify::{News, notify};

fn check(text: &str, expected: Result<&str, &str>) {
    match (text.parse::<ListenAddress>(), expected) {
        (Ok(place), Ok(displayed)) => assert_eq!(place.to_string(), displayed, "{text}"),
        (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{text}: {error}"),
        (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
    }
}

#[test]
fn addresses_are_parsed() {
    check("unix:/run/a b.sock", Ok("unix:/run/a b.sock"));
    check("tcp:localhost:10809", Ok("tcp:localhost:10809"));
    check("tcp:[::1]:0", Ok("tcp:[::1]:0"));
    check("unix:", Err("path is missing"));
    check("tcp:localhost", Err("port is missing"));
    check("tcp::10809", Err("0.0.0.0"));
    check("tcp:::1:10809", Err("brackets"));
    check("tcp:localhost:70000", Err("65535"));
    check("/run/a.sock", Err("unix:PATH"));
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-sockets-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn stale_socket_is_replaced_and_active_socket_is_refused() {
    let folder = Folder::new("unix");
    let path = folder.0.join("socket");
    let place = ListenAddress::Unix(path.clone());
    drop(UnixListener::bind(&path).unwrap());
    let first = place.listen(SocketAccess::Owner).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(UnixStream::connect(&path).unwrap());
    let taken = place.listen(SocketAccess::Umask).unwrap_err();
    assert!(matches!(taken, ListenError::Taken(_)), "{taken}");
    UnixStream::connect(&path).unwrap();
    drop(first);
    assert!(!path.exists(), "its file remains");

    fs::write(&path, "data").unwrap();
    assert!(matches!(place.listen(SocketAccess::Umask), Err(ListenError::NotASocket(_))));
    assert_eq!(fs::read(&path).unwrap(), b"data");
    let long = ListenAddress::Unix(folder.0.join("x".repeat(120)));
    assert!(matches!(long.listen(SocketAccess::Umask), Err(ListenError::TooLong(_))));
    let nowhere = ListenAddress::Unix(folder.0.join("none/socket"));
    assert!(matches!(nowhere.listen(SocketAccess::Umask), Err(ListenError::Io { .. })));
}

#[test]
fn socket_of_another_server_is_not_removed() {
    let folder = Folder::new("other");
    let path = folder.0.join("socket");
    let first = ListenAddress::Unix(path.clone()).listen(SocketAccess::Umask).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(folder.0.join("keeps the number in use"), "").unwrap();
    let other = UnixListener::bind(&path).unwrap();
    drop(first);
    UnixStream::connect(&path).unwrap();
    drop(other);
}

#[test]
fn used_port_is_refused() {
    let place: ListenAddress = "tcp:127.0.0.1:0".parse().unwrap();
    let first = place.listen(SocketAccess::Umask).unwrap();
    assert_ne!(first.place, place, "the assigned port is reported");
    let error = first.place.listen(SocketAccess::Umask).unwrap_err();
    assert!(matches!(error, ListenError::Taken(_)), "{error}");
}

#[test]
fn sockets_of_other_processes_are_ignored() {
    let handover =
        |pid: &str, count: &str| Activation { pid: Some(pid.into()), count: Some(count.into()), names: None };
    assert!(Activation::default().take().unwrap().is_empty());
    assert!(handover("1", "1").take().unwrap().is_empty());
    let me = std::process::id().to_string();
    assert!(handover(&me, "0").take().unwrap().is_empty());
    assert!(matches!(handover(&me, "many").take(), Err(ActivationError::Count(_))));
}

#[test]
fn notifications_are_sent() {
    let folder = Folder::new("notify");
    let path = folder.0.join("notify");
    let listens = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    notify(path.as_os_str(), News::Ready("serving\n2 volumes")).unwrap();
    notify(path.as_os_str(), News::Stopping).unwrap();
    let mut message = [0; 100];
    let length = listens.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1\nSTATUS=serving 2 volumes\n");
    let length = listens.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"STOPPING=1\n");
    assert!(notify(folder.0.join("none").as_os_str(), News::Stopping).is_err());
}
