//! Test fixture: a service with control planes on a private directory, and clients that sign their requests.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_cloud::{Cloud, NewKey, OciKey, Options, PluginMounts, TENANCY, USER, add_oci_key, state_directory};
use plimsoll_front::sockets::{ListenAddress, SocketAccess};
use plimsoll_service::api::Group;
use plimsoll_service::http::{Control, Entrance};
use plimsoll_service::{IscsiOptions, LevelChanges, ServiceOptions};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::Value;

// Of the service: the same directory, server and clients of NBD.
#[path = "../../../service/tests/service/home.rs"]
#[allow(dead_code)] // not all of it is needed here
mod home;

pub use home::create_directory as new_directory;
use home::{Home, options};

/// Timeout that suffices on a busy host.
const DEADLINE: Duration = Duration::from_secs(60);
/// Durations of states are this much shorter.
pub const SPEED_UP: u32 = 200;
pub const COMPARTMENT: &str = "ocid1.compartment.oc1..c";
pub const API: &str = "/20160918";

/// A service with control planes, which end first.
pub struct Plane {
    controls: Vec<Control>,
    /// Port of the API of OCI.
    pub port: u16,
    /// Port of the API of EC2.
    pub ec2: u16,
    /// Port of the metadata of the instance `vm`.
    pub metadata: u16,
    /// Port of Docker's plugin.
    pub docker: u16,
    pub home: Home,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    /// The body, if it is JSON.
    pub body: Value,
    pub text: String,
}

/// Mounts of Docker's plugin without root: the attachment is recorded, and nothing is mounted on its directory.
struct Directories(PathBuf);

impl PluginMounts for Directories {
    fn mount(&self, volume: &str, _filesystem: &str) -> Result<PathBuf, String> {
        if volume.starts_with("broken") {
            return Err("FUSE is missing: load its module".to_owned());
        }
        Ok(self.0.join(volume))
    }

    fn unmount(&self, _volume: &str) -> Result<(), String> {
        Ok(())
    }
}

/// A key of a client.
pub struct Signer {
    pub id: String,
    pair: RsaKeyPair,
}

/// Parts of a request that tests vary.
pub struct Ask<'a> {
    pub method: &'a str,
    pub target: &'a str,
    pub body: &'a str,
    /// Further headers, unsigned.
    pub headers: &'a [(&'a str, &'a str)],
}

/// Five portals, as an ultra-high-performance volume has them. Nothing listens there.
fn build_portals() -> IscsiOptions {
    let portals = (2..7).map(|host| format!("169.254.2.{host}:3260")).collect();
    IscsiOptions { portals, ..IscsiOptions::default() }
}

impl Plane {
    pub fn start() -> Self {
        Self::open(new_directory(), SPEED_UP, LevelChanges::Detached)
    }

    pub fn open(directory: PathBuf, speed_up: u32, level_changes: LevelChanges) -> Self {
        let home = Home::open(ServiceOptions {
            capacity: Some(1 << 40),
            iscsi: Some(build_portals()),
            level_changes,
            ..options(&directory)
        });
        let service = home.service.clone();
        let cloud = Cloud::open(Options {
            service: service.clone(),
            directory: state_directory(&directory),
            speed_up,
            region: "eu-zurich-1".into(),
            ec2_region: "us-east-1".into(),
        });
        let cloud = cloud.unwrap();
        let routers = [
            plimsoll_cloud::oci(&cloud),
            plimsoll_cloud::ec2(&cloud),
            plimsoll_cloud::instance_metadata(&cloud, "vm"),
            plimsoll_cloud::docker(&service, Arc::new(Directories(directory))),
        ];
        let (mut controls, mut ports) = (Vec::new(), Vec::new());
        for router in routers {
            let listening = "tcp:127.0.0.1:0".parse::<ListenAddress>().unwrap().listen(SocketAccess::Owner).unwrap();
            let ListenAddress::Tcp { port, .. } = listening.place else { panic!("it is a port") };
            controls.push(Control::serve(router, vec![Entrance { listening, token: None }]).unwrap());
            ports.push(port);
        }
        let [port, ec2, metadata, docker] = ports[..] else { panic!("there are four ports") };
        Self { controls, port, ec2, metadata, docker, home }
    }

    /// Registers a new key.
    pub fn signer(&self) -> Signer {
        Signer::registered(&self.home.directory)
    }

    /// Creates an instance; its identifier.
    pub fn instance(&self, signer: &Signer, name: &str, shape: &str) -> String {
        let group = Group { name: name.into(), like: format!("oci/{shape}") };
        self.home.service.create_group(&group).unwrap();
        let list = self.get(signer, &format!("/instances?compartmentId={TENANCY}&displayName={name}"));
        list.body[0]["id"].as_str().unwrap().to_owned()
    }

    pub fn get(&self, signer: &Signer, path: &str) -> Reply {
        self.ask(signer, "GET", path, "", &[])
    }

    pub fn post(&self, signer: &Signer, path: &str, body: &Value) -> Reply {
        self.ask(signer, "POST", path, &body.to_string(), &[])
    }

    pub fn put(&self, signer: &Signer, path: &str, body: &Value) -> Reply {
        self.ask(signer, "PUT", path, &body.to_string(), &[])
    }

    pub fn delete(&self, signer: &Signer, path: &str) -> Reply {
        self.ask(signer, "DELETE", path, "", &[])
    }

    pub fn ask(&self, signer: &Signer, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        let ask = Ask { method, target: &format!("{API}{path}"), body, headers };
        self.send(&signer.signed(&ask, self.port, &date(0)))
    }

    /// Sends the bytes of a request to the API of OCI, and reads a reply.
    pub fn send(&self, request: &[u8]) -> Reply {
        Self::send_to(self.port, request)
    }

    /// Sends the bytes of a request to a port, and reads a reply.
    pub fn send_to(port: u16, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        // A server that refuses a request early may close its side.
        let _ = stream.write_all(request);
        read_reply(&mut BufReader::new(stream))
    }

    /// Polls an object until it has a state.
    #[track_caller]
    pub fn until(&self, signer: &Signer, path: &str, state: &str) -> Value {
        let begun = Instant::now();
        loop {
            let reply = self.get(signer, path);
            if reply.body["lifecycleState"] == state {
                return reply.body;
            }
            assert!(begun.elapsed() < DEADLINE, "{path}: {reply:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Creates a volume and waits until it is available; its identifier.
    #[track_caller]
    pub fn volume(&self, signer: &Signer, name: &str, size_gb: u64, vpus: u32) -> String {
        let body = serde_json::json!({
            "compartmentId": COMPARTMENT, "displayName": name, "sizeInGBs": size_gb, "vpusPerGB": vpus,
        });
        let reply = self.post(signer, "/volumes", &body);
        assert_eq!((reply.status, &reply.body["lifecycleState"]), (200, &"PROVISIONING".into()), "{reply:?}");
        let id = reply.body["id"].as_str().unwrap().to_owned();
        self.until(signer, &format!("/volumes/{id}"), "AVAILABLE");
        id
    }

    /// Stops everything; the directory stays.
    pub fn keep(self) -> PathBuf {
        let Self { controls, home, .. } = self;
        drop(controls);
        home.keep()
    }
}

impl Signer {
    pub fn registered(directory: &Path) -> Self {
        let (signer, key) = Self::unknown();
        add_oci_key(directory, key).unwrap();
        signer
    }

    /// A key that is not registered.
    pub fn unknown() -> (Self, OciKey) {
        let new = NewKey::generate().unwrap();
        let key = OciKey::new(TENANCY, USER, &new.public_pem).unwrap();
        let lines = new.private_pem.lines().filter(|line| !line.starts_with('-'));
        let der = STANDARD.decode(lines.collect::<String>()).unwrap();
        (Self { id: key.id(), pair: RsaKeyPair::from_pkcs8(&der).unwrap() }, key)
    }

    /// Bytes of a signed request.
    pub fn signed(&self, ask: &Ask<'_>, port: u16, date: &str) -> Vec<u8> {
        let has_body = ["POST", "PUT"].contains(&ask.method);
        let mut signed = vec![
            ("date", date.to_owned()),
            ("(request-target)", format!("{} {}", ask.method.to_lowercase(), ask.target)),
            ("host", format!("127.0.0.1:{port}")),
        ];
        if has_body {
            signed.push(("content-length", ask.body.len().to_string()));
            signed.push(("content-type", "application/json".to_owned()));
            signed.push(("x-content-sha256", STANDARD.encode(digest(&SHA256, ask.body.as_bytes()))));
        }
        let lines: Vec<String> = signed.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let mut signature = vec![0; self.pair.public().modulus_len()];
        let text = lines.join("\n");
        self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).unwrap();
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        let mut request = format!("{} {} HTTP/1.1\r\n", ask.method, ask.target);
        for (name, value) in signed.iter().filter(|(name, _)| *name != "(request-target)") {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        for (name, value) in ask.headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let (headers, signature, id) = (names.join(" "), STANDARD.encode(signature), &self.id);
        request.push_str(&format!(
            "authorization: Signature algorithm=\"rsa-sha256\",headers=\"{headers}\",keyId=\"{id}\",signature=\"{signature}\",version=\"1\"\r\n\r\n{}",
            ask.body
        ));
        request.into_bytes()
    }
}

/// The present date plus seconds, as headers have it.
pub fn date(seconds: i64) -> String {
    let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

pub fn read_reply(stream: &mut impl BufRead) -> Reply {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        let read = stream.read_line(&mut line).unwrap();
        if read == 0 || line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let field = |name: &str| {
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix(name).map(|rest| rest.trim().to_owned()))
    };
    let length = field("content-length:").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let text = String::from_utf8_lossy(&body).into_owned();
    Reply { status, body: serde_json::from_slice(&body).unwrap_or(Value::Null), head, text }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// Status and code of an error.
    pub fn error(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }
}
