//! Unauthenticated clients, and clients that stall.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use plimsoll_service::client::{Client, ClientError, ControlAddress};

use crate::control::serving::{DEADLINE, Serving, TOKEN};

#[test]
fn missing_token_reveals_nothing() {
    let serving = Serving::start();
    let ask = |path: &str, header: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{header}\r\n");
        serving.send_over_tcp(request.as_bytes())
    };
    let wrong = [
        String::new(),
        "authorization: Bearer 0123456789abcdef0123456789abcdeF\r\n".into(),
        format!("authorization: {TOKEN}\r\n"),
        format!("authorization: Basic {TOKEN}\r\n"),
        format!("x-authorization: Bearer {TOKEN}\r\n"),
    ];
    for path in ["/v1/volumes", "/v1/service", "/metrics", "/openapi.json", "/nowhere", "/"] {
        for header in &wrong {
            let answer = ask(path, header);
            assert_eq!((answer.status, answer.body.as_str()), (401, ""), "{path} {header}");
            assert!(!answer.head.contains("plimsoll") && !answer.head.contains("allow"), "{}", answer.head);
        }
        let admitted = ask(path, &format!("authorization: Bearer {TOKEN}\r\n"));
        let expected = if matches!(path, "/nowhere" | "/") { 404 } else { 200 };
        assert_eq!(admitted.status, expected, "{path}");
    }
    let write = serving.send_over_tcp(b"DELETE /v1/volumes/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert_eq!(write.status, 401);
}

/// More stalled clients than the limit, without a request or with an incomplete request: other clients are still
/// served, and stalled connections are closed.
#[test]
fn stalled_clients_do_not_block_others() {
    let serving = Serving::start();
    let beginnings: [&[u8]; 3] =
        [b"", b"GET /v1/vol", b"POST /v1/volumes HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"];
    let idle: Vec<UnixStream> = (0..100)
        .map(|number| {
            let mut stream = UnixStream::connect(&serving.socket).unwrap();
            stream.set_read_timeout(Some(DEADLINE)).unwrap();
            stream.write_all(beginnings[number % 3]).unwrap();
            stream
        })
        .collect();
    assert_eq!(serving.ask("GET", "/v1/volumes", "").status, 200);
    for mut stream in idle {
        // The connection is closed, with or without an error response.
        let mut response = Vec::new();
        let end = stream.read_to_end(&mut response);
        let is_open = end.is_err_and(|error| error.kind() != std::io::ErrorKind::ConnectionReset);
        assert!(!is_open, "the service lets it go");
    }
}

#[test]
fn unauthenticated_partial_requests_do_not_delay_authenticated_clients() {
    let serving = Serving::start();
    let holder = serving.client_over_tcp(Some(TOKEN));
    let beginnings: [&[u8]; 3] =
        [b"", b"GET /v1/vol", b"POST /v1/volumes HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"];
    let strangers: Vec<TcpStream> = (0..193)
        .map(|number| {
            let mut stream = TcpStream::connect(&serving.port).unwrap();
            // Evicted connections may be closed already.
            let _ = stream.write_all(beginnings[number % 3]);
            stream
        })
        .collect();
    for _ in 0..10 {
        let begun = Instant::now();
        holder.get("/v1/volumes").unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2), "it was kept waiting for {:?}", begun.elapsed());
    }
    drop(strangers);
}

#[test]
fn waiting_authenticated_client_is_not_evicted() {
    let serving = Serving::start();
    let connected = || {
        let stream = TcpStream::connect(&serving.port).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    };
    // Requests whose bodies never arrive: each keeps its permit.
    let half = format!(
        "POST /v1/volumes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n"
    );
    let mut seated: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = connected();
            stream.write_all(half.as_bytes()).unwrap();
            let mut begun = [0; 12];
            stream.read_exact(&mut begun).unwrap();
            assert_eq!(&begun, b"HTTP/1.1 100");
            stream
        })
        .collect();
    let mut holder = connected();
    let complete_request =
        format!("GET /v1/volumes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n");
    holder.write_all(complete_request.as_bytes()).unwrap();
    // Connections are accepted in order: a response to a later connection proves that the earlier were accepted.
    let admitted = || assert_eq!(serving.send_over_tcp(b"GET /v1/volumes HTTP/1.1\r\nhost: x\r\n\r\n").status, 401);
    admitted();
    let strangers: Vec<TcpStream> = (0..100).map(|_| connected()).collect();
    admitted();
    drop(seated.pop());
    let mut answer = String::new();
    holder.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop((strangers, seated));
}

#[test]
fn full_listen_queue_is_reported_as_busy() {
    let directory = std::env::temp_dir().join(format!("plimsoll-busy-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("control.sock");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let waiting: Vec<UnixStream> = (0..1).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let error = Client::new(ControlAddress::Unix(path), None).unwrap().get("/v1/volumes").unwrap_err();
    assert!(matches!(error, ClientError::Busy(_)) && error.to_string().contains("busy"), "{error}");
    drop((waiting, listener));
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn invalid_http_closes_only_its_connection() {
    let serving = Serving::start();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..300 {
        let mut bytes: Vec<u8> = (0..random() % 300).map(|_| random() as u8).collect();
        bytes.extend_from_slice(b"\r\n\r\n");
        let _ = serving.send(&bytes);
    }
    let _ = serving.send(&[b"GET / HTTP/1.1\r\nx: ".as_slice(), &vec![b'x'; 1 << 20], b"\r\n\r\n"].concat());
    assert_eq!(serving.ask("GET", "/v1/volumes", "").status, 200);
}
