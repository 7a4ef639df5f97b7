//! Signatures of requests to OCI: RSA with SHA-256 (PKCS #1 v1.5) over selected headers (draft-cavage-http-signatures-08, as
//! the documents of OCI on request signatures have it).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use jiff::fmt::rfc2822::DateTimeParser;
use ring::digest::{SHA256, digest};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

use crate::keys::{KeyFile, OciKey};
use crate::web::Request;

/// Maximum difference between the date of a request and the clock, in seconds.
const DATE_WINDOW_S: u64 = 300;
/// Maximum number of signed headers.
const HEADERS_MAX: usize = 32;

/// Parts of the header `authorization`.
struct Parts<'h> {
    key_id: &'h str,
    headers: &'h str,
    signature: &'h str,
}

/// The key that signed a request; `None` if the signature is missing, incomplete, old or wrong.
pub(super) fn signer<'k>(request: &Request, keys: &'k KeyFile, now_ns: u64) -> Option<&'k OciKey> {
    let parts = parse_header(request.header("authorization")?)?;
    let signed: Vec<&str> = parts.headers.split(' ').collect();
    if signed.len() > HEADERS_MAX || !is_complete(request, &signed) || !is_recent(request, &signed, now_ns) {
        return None;
    }
    if has_body(request) && !has_digest(request) {
        return None;
    }
    let text = signing_text(request, &signed)?;
    let signature = STANDARD.decode(parts.signature).ok()?;
    let key = keys.oci.iter().find(|key| key.id() == parts.key_id)?;
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key()?);
    public.verify(text.as_bytes(), &signature).ok()?;
    Some(key)
}

/// Parses `Signature version="1",keyId="...",algorithm="rsa-sha256",headers="...",signature="..."`.
fn parse_header(header: &str) -> Option<Parts<'_>> {
    let rest = header.strip_prefix("Signature ")?;
    let (mut key_id, mut headers, mut signature) = (None, None, None);
    let (mut algorithm, mut version) = (None, None);
    for part in rest.split(',') {
        let (name, value) = part.trim().split_once('=')?;
        let value = value.strip_prefix('"')?.strip_suffix('"')?;
        let slot = match name {
            "keyId" => &mut key_id,
            "headers" => &mut headers,
            "signature" => &mut signature,
            "algorithm" => &mut algorithm,
            "version" => &mut version,
            _ => return None,
        };
        if slot.replace(value).is_some() {
            return None;
        }
    }
    let is_known = algorithm == Some("rsa-sha256") && version == Some("1");
    is_known.then_some(Parts { key_id: key_id?, headers: headers?, signature: signature? })
}

fn has_body(request: &Request) -> bool {
    [Method::POST, Method::PUT, Method::PATCH].contains(&request.method) || !request.body.is_empty()
}

/// True if all headers that must be signed are.
fn is_complete(request: &Request, signed: &[&str]) -> bool {
    let has = |name: &str| signed.contains(&name);
    let with_body = ["content-length", "content-type", "x-content-sha256"];
    has("(request-target)")
        && has("host")
        && (has("date") || has("x-date"))
        && (!has_body(request) || with_body.into_iter().all(has))
}

fn is_recent(request: &Request, signed: &[&str], now_ns: u64) -> bool {
    let name = if signed.contains(&"x-date") { "x-date" } else { "date" };
    let parsed = request.header(name).and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
    let Some(seconds) = parsed.and_then(|date| u64::try_from(date.as_second()).ok()) else { return false };
    seconds.abs_diff(now_ns / 1_000_000_000) <= DATE_WINDOW_S
}

fn has_digest(request: &Request) -> bool {
    let length = request.header("content-length").and_then(|length| length.parse::<usize>().ok());
    let expected = STANDARD.encode(digest(&SHA256, &request.body));
    length == Some(request.body.len()) && request.header("x-content-sha256") == Some(&expected)
}

/// Signed lines, `name: value`, joined by line feeds.
fn signing_text(request: &Request, signed: &[&str]) -> Option<String> {
    let line = |name: &&str| match *name {
        "(request-target)" => {
            Some(format!("(request-target): {} {}", request.method.as_str().to_ascii_lowercase(), request.target))
        }
        name => Some(format!("{name}: {}", request.header(name)?)),
    };
    Some(signed.iter().map(line).collect::<Option<Vec<_>>>()?.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use hyper::http::{HeaderMap, HeaderName};

    use super::*;

    /// True if a request was signed by `key`, whatever its date and body.
    fn is_signed_by(request: &Request, key: &OciKey) -> bool {
        let verified = || {
            let parts = parse_header(request.header("authorization")?)?;
            let signed: Vec<&str> = parts.headers.split(' ').collect();
            let signature = STANDARD.decode(parts.signature).ok()?;
            let text = signing_text(request, &signed)?;
            let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key()?);
            (is_complete(request, &signed) && parts.key_id == key.id()).then_some(())?;
            public.verify(text.as_bytes(), &signature).ok()
        };
        verified().is_some()
    }

    fn request(line: &serde_json::Value) -> Request {
        let pairs = line["query"].as_object().into_iter().flatten();
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs.map(|(key, value)| (key, value.as_str().unwrap())))
            .finish();
        let path = line["path"].as_str().unwrap();
        let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        let mut headers = HeaderMap::new();
        for (name, value) in line["headers"].as_object().unwrap() {
            let name: HeaderName = name.to_ascii_lowercase().parse().unwrap();
            headers.insert(name, value.as_str().unwrap().parse().unwrap());
        }
        let method = line["method"].as_str().unwrap().parse().unwrap();
        Request::new(method, &target, headers, hyper::body::Bytes::new()).unwrap()
    }

    #[test]
    fn signatures_of_the_real_client_verify() {
        let facts = std::env::var_os("PLIMSOLL_SAMPLES").map(|samples| PathBuf::from(samples).join("../facts"));
        let Some(facts) = facts.filter(|facts| facts.join("oci-requests.jsonl").exists()) else {
            eprintln!("skipped: PLIMSOLL_SAMPLES does not lead to captured requests");
            return;
        };
        let read = |name: &str| std::fs::read_to_string(facts.join(name)).unwrap();
        let key = OciKey::new(crate::TENANCY, crate::USER, &read("oci-requests.pub.pem")).unwrap();
        let lines: Vec<serde_json::Value> =
            read("oci-requests.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let signed = lines.iter().filter(|line| is_signed_by(&request(line), &key)).count();
        assert_eq!((signed, lines.len()), (47, 47));
        let mut other = request(&lines[0]);
        other.target.push('x');
        assert!(!is_signed_by(&other, &key));
    }
}
