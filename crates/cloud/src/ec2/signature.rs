//! Signature version 4 of requests to AWS, as its documents on authenticating requests have it.

use hyper::http::HeaderMap;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign, verify};

use super::error::Ec2Error;
use crate::identifiers::hex;
use crate::keys::KeyFile;
use crate::web::Request;

/// Maximum difference between the date of a request and the clock, in seconds.
const DATE_WINDOW_S: u64 = 300;
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const DATE_FORMAT: &str = "%Y%m%dT%H%M%SZ";

/// Parts of the header `authorization`.
struct Parts<'h> {
    key: &'h str,
    /// Date, region, service, `aws4_request`.
    scope: [&'h str; 4],
    headers: Vec<&'h str>,
    signature: Vec<u8>,
}

/// Checks that a registered access key signed a request within the last five minutes.
pub(super) fn check(request: &Request, keys: &KeyFile, now_ns: u64) -> Result<(), Ec2Error> {
    let parts = request.header("authorization").and_then(parse_header).ok_or_else(Ec2Error::not_authenticated)?;
    let date = request.header("x-amz-date").filter(|date| date.starts_with(parts.scope[0]));
    let date = date.ok_or_else(Ec2Error::not_authenticated)?;
    let text = string_to_sign(request, &parts, date).ok_or_else(Ec2Error::not_authenticated)?;
    let key = keys.ec2.iter().find(|key| key.id == parts.key).ok_or_else(Ec2Error::not_authenticated)?;
    let mut derived = format!("AWS4{}", key.secret).into_bytes();
    for step in parts.scope {
        derived = sign(&Key::new(HMAC_SHA256, &derived), step.as_bytes()).as_ref().to_vec();
    }
    let is_right = verify(&Key::new(HMAC_SHA256, &derived), text.as_bytes(), &parts.signature).is_ok();
    if !is_right {
        return Err(Ec2Error::not_authenticated());
    }
    let parsed = DateTime::strptime(DATE_FORMAT, date).ok().and_then(|date| date.to_zoned(TimeZone::UTC).ok());
    let seconds = parsed.and_then(|date| u64::try_from(date.timestamp().as_second()).ok());
    match seconds {
        Some(seconds) if seconds.abs_diff(now_ns / 1_000_000_000) <= DATE_WINDOW_S => Ok(()),
        _ => Err(Ec2Error::new("RequestExpired", "Request has expired.")),
    }
}

/// Parses `AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/ec2/aws4_request, SignedHeaders=a;b, Signature=HEX`.
fn parse_header(header: &str) -> Option<Parts<'_>> {
    let rest = header.strip_prefix(ALGORITHM)?.trim_start();
    let (mut credential, mut headers, mut signature) = (None, None, None);
    for part in rest.split(',') {
        let (name, value) = part.trim().split_once('=')?;
        let slot = match name {
            "Credential" => &mut credential,
            "SignedHeaders" => &mut headers,
            "Signature" => &mut signature,
            _ => return None,
        };
        *slot = Some(value);
    }
    let mut credential = credential?.split('/');
    let key = credential.next()?;
    let scope = [credential.next()?, credential.next()?, credential.next()?, credential.next()?];
    let is_ec2 = scope[2] == "ec2" && scope[3] == "aws4_request" && credential.next().is_none();
    let headers: Vec<&str> = headers?.split(';').collect();
    let is_complete = headers.contains(&"host") && headers.contains(&"x-amz-date") && headers.len() <= 64;
    (is_ec2 && is_complete).then_some(Parts { key, scope, headers, signature: unhex(signature?)? })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() || text.len() != 64 {
        return None;
    }
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn string_to_sign(request: &Request, parts: &Parts<'_>, date: &str) -> Option<String> {
    let mut lines = vec![request.method.as_str().to_owned(), request.path().to_owned(), canonical_query(request)];
    for name in &parts.headers {
        lines.push(format!("{name}:{}", header(&request.headers, name)?));
    }
    lines.push(String::new());
    lines.push(parts.headers.join(";"));
    // The body is always hashed, so a payload that is declared as unsigned does not match.
    lines.push(hex(digest(&SHA256, &request.body).as_ref()));
    let hash = hex(digest(&SHA256, lines.join("\n").as_bytes()).as_ref());
    Some(format!("{ALGORITHM}\n{date}\n{}\n{hash}", parts.scope.join("/")))
}

fn canonical_query(request: &Request) -> String {
    let query = request.target.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<String> =
        pairs.map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") }).collect();
    pairs.sort();
    pairs.join("&")
}

/// All values of a header, joined by commas, with single spaces.
fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = Vec::new();
    for value in headers.get_all(name) {
        values.push(value.to_str().ok()?.split_whitespace().collect::<Vec<&str>>().join(" "));
    }
    (!values.is_empty()).then(|| values.join(","))
}
