//! `plimsoll oci-agent`: on an instance, does the work of the Block Volume Management plugin of OCI's agent. It logs in to all
//! iSCSI paths of the attachments, combines them with multipath and makes the consistent device paths.

mod host;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use plimsoll_service::api::IscsiTarget;
use plimsoll_service::client::Client;
use plimsoll_service::http::Token;
use plimsoll_service::initiator::{initiator_settings, multipath_section};
use serde::Deserialize;
use serde_json::json;

use self::host::Host;
use crate::args::OciAgentArgs;
use crate::cli_error::CliError;
use crate::output::print;

/// Authorization that the metadata service requires (OCI, Getting Instance Metadata); no secret.
const AUTHORIZATION: &str = "Oracle";
const ATTACHMENTS: &str = "/opc/v2/volumeAttachments/";
/// Prefix of the targets of OCI's volumes.
const TARGETS: &str = "iqn.2015-12.com.oracleiaas:";
/// Commands in flight of a session: as the plugin sets them for multipath attachments, and the default of open-iscsi.
const MULTIPATH_QUEUE_DEPTH: u32 = 128;
const QUEUE_DEPTH: u32 = 32;

/// An attachment in the metadata of the instance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct InstanceAttachment {
    id: String,
    attachment_type: String,
    device: Option<String>,
    #[serde(flatten)]
    first: PathAddress,
    multipath_devices: Vec<PathAddress>,
    chap_username: Option<String>,
    chap_secret: Option<String>,
    is_agent_auto_iscsi_login_enabled: Option<bool>,
    iscsi_login_state: Option<String>,
}

/// Address of an iSCSI path.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct PathAddress {
    ipv4: Option<String>,
    port: Option<u16>,
    iqn: Option<String>,
}

impl InstanceAttachment {
    /// The target with all its portals; `None` without iSCSI, or while the service has no portals.
    fn target(&self) -> Option<IscsiTarget> {
        let iqn = self.first.iqn.clone().filter(|_| self.attachment_type == "iscsi")?;
        let paths = std::iter::once(&self.first).chain(&self.multipath_devices);
        let portals = paths.filter_map(|path| Some(format!("{}:{}", path.ipv4.as_ref()?, path.port?)));
        let portals: Vec<String> = portals.collect();
        let queue_depth = if portals.len() > 1 { MULTIPATH_QUEUE_DEPTH } else { QUEUE_DEPTH };
        let chap_user = self.chap_username.clone().filter(|_| self.chap_secret.is_some());
        let (vendor, product) = ("ORACLE".to_owned(), "BlockVolume".to_owned());
        let target = IscsiTarget { iqn, portals, queue_depth, chap_user, vendor, product, ..IscsiTarget::default() };
        (!target.portals.is_empty()).then_some(target)
    }
}

/// `plimsoll oci-agent`.
pub fn run(args: &OciAgentArgs) -> Result<(), CliError> {
    if !rustix::process::geteuid().is_root() {
        return Err(CliError::usage("the agent logs in to iSCSI targets and makes devices: run it as root"));
    }
    let client = Client::new(args.metadata.clone(), Some(Token::prescribed(AUTHORIZATION)));
    let client = client.context("asking the metadata service")?;
    let host = Host::here();
    loop {
        let synchronised = synchronise(&client, &host);
        match args.interval {
            None => return synchronised,
            Some(interval) => {
                if let Err(error) = synchronised {
                    print(format!("failed, and is tried again: {error}\n").as_bytes())?;
                }
                std::thread::sleep(Duration::from_nanos(interval.as_nanos()));
            }
        }
    }
}

/// Logs in to the attachments of the instance, and out of the volumes that are no longer attached.
fn synchronise(client: &Client, host: &Host) -> Result<(), CliError> {
    let attachments: Vec<InstanceAttachment> = client.read(&client.get(ATTACHMENTS)?)?;
    let present: BTreeSet<&str> = attachments.iter().filter_map(|one| one.first.iqn.as_deref()).collect();
    for iqn in host::list_targets()?.iter().filter(|iqn| iqn.starts_with(TARGETS) && !present.contains(iqn.as_str())) {
        host.log_out(iqn)?;
        print(format!("{iqn}: logged out, the volume is no longer attached\n").as_bytes())?;
    }
    let mut failed = None;
    for attachment in attachments.iter().filter(|one| one.is_agent_auto_iscsi_login_enabled == Some(true)) {
        let Some(target) = attachment.target() else { continue };
        let (state, line) = match log_in(host, attachment, &target) {
            Ok(line) => ("LOGIN_SUCCEEDED", line),
            Err(error) => {
                let line = format!("{}: {error:#}\n", target.iqn);
                failed.get_or_insert(error);
                ("LOGIN_FAILED", line)
            }
        };
        print(line.as_bytes())?;
        if attachment.iscsi_login_state.as_deref() != Some(state) {
            client.put(&format!("{ATTACHMENTS}{}", attachment.id), &json!({ "iscsiLoginState": state }))?;
        }
    }
    failed.map_or(Ok(()), |error| Err(CliError::Failed(error)))
}

/// Logs in to all paths of an attachment and links its device; the line that reports it.
fn log_in(host: &Host, attachment: &InstanceAttachment, target: &IscsiTarget) -> anyhow::Result<String> {
    let secret = attachment.chap_secret.as_deref().unwrap_or_default();
    let is_multipath = target.portals.len() > 1;
    if is_multipath {
        host.configure_multipath(&multipath_section(target))?;
    }
    let sessions = host::list_sessions()?;
    for portal in &target.portals {
        if !sessions.contains(&(portal.clone(), target.iqn.clone())) {
            host::connect(&target.iqn, portal, &initiator_settings(target, secret))?;
        }
    }
    let device = host.await_device(&target.iqn, target.portals.len())?;
    let paths = if is_multipath { format!("{} paths", target.portals.len()) } else { "1 path".to_owned() };
    let Some(link) = &attachment.device else {
        return Ok(format!("{}: {paths}, {}\n", target.iqn, device.display()));
    };
    if !link.starts_with("/dev/oracleoci/") || link.contains("..") {
        return Err(anyhow!("{link} is not a consistent device path: they are in /dev/oracleoci"));
    }
    host.link(Path::new(link), &device)?;
    Ok(format!("{}: {paths}, {link} -> {}\n", target.iqn, device.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachment_has_a_portal_for_each_path() {
        let text = r#"{"id":"a","attachmentType":"iscsi","device":"/dev/oracleoci/oraclevdb","ipv4":"169.254.2.2",
            "port":3260,"iqn":"iqn.2015-12.com.oracleiaas:1","chapUsername":null,"chapSecret":null,
            "isAgentAutoIscsiLoginEnabled":true,"lifecycleState":"ATTACHED","multipathDevices":[
            {"ipv4":"169.254.2.3","port":3260,"iqn":"iqn.2015-12.com.oracleiaas:1"}]}"#;
        let attachment: InstanceAttachment = serde_json::from_str(text).unwrap();
        let target = attachment.target().unwrap();
        assert_eq!(target.portals, ["169.254.2.2:3260", "169.254.2.3:3260"]);
        assert_eq!((target.queue_depth, target.chap_user.as_deref()), (128, None));
        let single = InstanceAttachment { multipath_devices: Vec::new(), ..attachment.clone() };
        assert_eq!(single.target().unwrap().queue_depth, 32);
        let other = InstanceAttachment { attachment_type: "paravirtualized".into(), ..attachment };
        assert!(other.target().is_none());
    }
}
