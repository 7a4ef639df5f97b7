//! The query API of Amazon EC2 (version 2016-11-15), as far as EBS volumes need it.

mod descriptions;
mod error;
mod instances;
mod modifications;
mod query;
mod signature;
mod snapshots;
mod volumes;
mod xml;
mod zones;

use axum::Router;
use hyper::StatusCode;
use ring::digest::{SHA256, digest};

use self::error::Ec2Error;
use self::query::Query;
use self::xml::Element;
use crate::cloud::{Cloud, Operation};
use crate::identifiers::{hex, random};
use crate::record::Retry;
use crate::web::{Plane, Reply, Request};

/// Objects of a page without `MaxResults`, and at most.
const PAGE_MAX: usize = 1_000;

/// Maximum characters of an action in the log.
const MAX_LOGGED_ACTION: usize = 64;

type Ec2Result = Result<Vec<Element>, Ec2Error>;

/// The API of EC2.
#[derive(Clone, Debug)]
struct Ec2(Cloud);

/// Router of the API of EC2 over all volumes of a service.
pub fn ec2(cloud: &Cloud) -> Router {
    crate::web::router(Ec2(cloud.clone()))
}

impl Plane for Ec2 {
    const NAME: &str = "ec2";

    fn operation(request: &Request) -> String {
        Query::read(request).get("Action").unwrap_or_default().chars().take(MAX_LOGGED_ACTION).collect()
    }

    fn reply(&self, request: &Request) -> Reply {
        let id = request_id();
        match self.signed(request) {
            Ok((action, elements)) => xml::response(&action, &id, &elements),
            Err(error) => error.reply(&id),
        }
    }

    fn unreadable(&self, status: StatusCode, why: &str) -> Reply {
        Ec2Error::other(status, why).reply(&request_id())
    }
}

impl Ec2 {
    fn signed(&self, request: &Request) -> Result<(String, Vec<Element>), Ec2Error> {
        let keys = self.0.inner().keys.get();
        signature::check(request, &keys, crate::cloud::unix_time_ns())?;
        let query = Query::read(request);
        let action = query.required("Action")?.to_owned();
        let mut operation = self.0.operation();
        let elements = act(&mut operation, &action, &query)?;
        Ok((action, elements))
    }
}

fn act(operation: &mut Operation<'_>, action: &str, query: &Query) -> Ec2Result {
    match action {
        "CreateVolume" => volumes::create_volume(operation, query),
        "DescribeVolumes" => volumes::describe(operation, query),
        "DeleteVolume" => volumes::delete(operation, query),
        "AttachVolume" => volumes::attach(operation, query),
        "DetachVolume" => volumes::detach(operation, query),
        "ModifyVolume" => modifications::modify(operation, query),
        "DescribeVolumesModifications" => modifications::describe(operation, query),
        "CreateSnapshot" => snapshots::create(operation, query),
        "DescribeSnapshots" => snapshots::describe(operation, query),
        "CreateSnapshots" => snapshots::create_several(operation, query),
        "CopySnapshot" => snapshots::copy(operation, query),
        "DeleteSnapshot" => snapshots::delete(operation, query),
        "DescribeVolumeStatus" => descriptions::volume_status(operation, query),
        "DescribeVolumeAttribute" => descriptions::volume_attribute(operation, query),
        "DescribeInstanceStatus" => instances::statuses(operation, query),
        "DescribeInstanceAttribute" => instances::describe_attribute(operation, query),
        "DescribeInstanceTypes" => descriptions::instance_types(operation, query),
        "DescribeRegions" => descriptions::regions(operation, query),
        "DescribeTags" => descriptions::tags(operation, query),
        "GetEbsEncryptionByDefault" | "DisableEbsEncryptionByDefault" => descriptions::no_encryption(query),
        "EnableEbsEncryptionByDefault" => descriptions::encryption(query),
        "DescribeInstances" => instances::describe(operation, query),
        "DescribeAvailabilityZones" => zones::describe(operation, query),
        "CreateTags" => snapshots::set_tags(operation, query),
        "DeleteTags" => snapshots::remove_tags(operation, query),
        other => {
            let displayed: String = other.chars().take(100).collect();
            Err(Ec2Error::new("InvalidAction", format!("The action {displayed} is not valid for this web service.")))
        }
    }
}

fn request_id() -> String {
    let text = hex(&random::<16>());
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// The client token of a request for a new object.
fn retry(operation: &Operation<'_>, query: &Query) -> Option<Retry> {
    let token = query.get("ClientToken").filter(|token| !token.is_empty() && token.len() <= 64)?;
    Some(Retry {
        token: token.to_owned(),
        digest: hex(digest(&SHA256, query.text().as_bytes()).as_ref()),
        until_ns: operation.now_ns.saturating_add(operation.cloud.durations.nanos("retry_token")),
    })
}

/// True if `existing` is the same request as `new`; refused if the token was used with other parameters.
fn is_repeated(existing: Option<&Retry>, new: Option<&Retry>, now_ns: u64) -> Result<bool, Ec2Error> {
    match (existing, new) {
        (Some(existing), Some(new)) if existing.token == new.token && now_ns < existing.until_ns => {
            let mismatch = "The client token was used with other parameters.";
            let is_same = existing.digest == new.digest;
            if is_same { Ok(true) } else { Err(Ec2Error::new("IdempotentParameterMismatch", mismatch)) }
        }
        _ => Ok(false),
    }
}

/// The page of elements that a query selects: a set, and the token of the next page.
fn page(query: &Query, set: &'static str, items: Vec<Element>) -> Ec2Result {
    let limit = match query.get("MaxResults") {
        None => PAGE_MAX,
        Some(text) => match text.parse() {
            Ok(limit) if (1..=PAGE_MAX).contains(&limit) => limit,
            _ => return Err(Ec2Error::value(format!("MaxResults is a number from 1 to {PAGE_MAX}."))),
        },
    };
    let begin: usize = match query.get("NextToken") {
        None => 0,
        Some(text) => text.parse().map_err(|_| Ec2Error::value("NextToken is no token of a previous answer."))?,
    };
    let more = items.len() > begin.saturating_add(limit);
    let page_items = items.into_iter().skip(begin).take(limit).collect();
    let mut elements = vec![Element::set(set, page_items)];
    if more {
        elements.push(Element::text("nextToken", (begin + limit).to_string()));
    }
    Ok(elements)
}
