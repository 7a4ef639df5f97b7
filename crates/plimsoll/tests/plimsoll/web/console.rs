//! `plimsoll web` in a folder of its own, and requests to it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A running console.
pub struct WebServer {
    child: Child,
    pub folder: PathBuf,
    pub url: String,
    pub port: u16,
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl WebServer {
    pub fn start(name: &str) -> Self {
        Self::start_in(create_folder(name), "127.0.0.1:0", &[])
    }

    /// Listens at all addresses under these names, with the certificate in `certificates`.
    pub fn start_encrypted(name: &str, certificates: &Path, names: &[&str]) -> Self {
        let mut flags = vec!["--tls-certificates", certificates.to_str().expect("it has a plain name")];
        flags.extend(names.iter().flat_map(|name| ["--web-name", name]));
        Self::start_in(create_folder(name), "0.0.0.0:0", &flags)
    }

    fn start_in(folder: PathBuf, address: &str, flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .arg("web")
            .arg(folder.join("data"))
            .args(["--web", address])
            .args(flags)
            .env("PLIMSOLL_RUNS", folder.join("runs"))
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("LC_ALL", "C.UTF-8")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let line = lines.by_ref().map(|line| line.expect("it is UTF-8")).find(|line| line.contains("/enter#"));
        let line = line.expect("it prints its URL");
        let url = line.split_whitespace().find(|word| word.contains("/enter#")).expect("a URL").to_owned();
        let port = url.split([':', '/']).nth(4).and_then(|port| port.parse().ok()).expect("a port");
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, folder, url, port }
    }

    /// Kills the service, and starts it again at the same port.
    pub fn restart(mut self) -> Self {
        let (folder, port) = (self.folder.clone(), self.port);
        self.child.kill().expect("it runs");
        let _ = self.child.wait();
        self.folder = PathBuf::new();
        drop(self);
        Self::start_in(folder, &format!("127.0.0.1:{port}"), &[])
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// Sends a request with exactly these headers.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !headers.iter().any(|(name, _)| *name == "content-length") {
            head += &format!("content-length: {}\r\n", body.len());
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).expect("it reads");
        // A refusal may come before the whole body was read.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) =
            text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {method} {path}: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// Exchanges the token for a session. Returns the value of the header `cookie`.
    pub fn session(&self) -> String {
        let token = self.url.split('#').nth(1).expect("a token");
        let reply = self.post("/api/enter", "", &format!("{{\"token\":\"{token}\"}}"));
        assert_eq!(reply.status, 204, "{reply:?}");
        let line = reply.head.lines().find(|line| line.starts_with("set-cookie:")).expect("a cookie");
        line.trim_start_matches("set-cookie:").split(';').next().expect("a pair").trim().to_owned()
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn get(&self, path: &str, cookie: &str) -> Reply {
        self.send("GET", path, &[("host", &self.host()), ("cookie", cookie)], b"")
    }

    pub fn post(&self, path: &str, cookie: &str, body: &str) -> Reply {
        let headers = [
            ("host", self.host()),
            ("origin", self.origin()),
            ("content-type", "application/json".to_owned()),
            ("cookie", cookie.to_owned()),
        ];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.send("POST", path, &headers, body.as_bytes())
    }
}

/// An empty folder of a server.
fn create_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("web-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("measured")).expect("the folder can be made");
    folder
}

impl Drop for WebServer {
    fn drop(&mut self) {
        if self.folder.as_os_str().is_empty() {
            return;
        }
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
