//! The agent of an instance: does the work of the Block Volume Management plugin of OCI's agent. It logs in to all iSCSI paths
//! of the attachments, combines them with multipath and makes the consistent device paths.

mod error;
mod host;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use plimsoll_service::api::IscsiTarget;
use plimsoll_service::client::{Client, ControlAddress};
use plimsoll_service::http::Token;
use plimsoll_service::initiator::{initiator_settings, multipath_section};
use serde::Deserialize;
use serde_json::json;

pub use self::error::{AgentError, describe};
use self::host::Host;

/// Authorization that the metadata service requires (OCI, Getting Instance Metadata); no secret.
const AUTHORIZATION: &str = "Oracle";
const ATTACHMENTS: &str = "/opc/v2/volumeAttachments/";
/// Prefix of the targets of OCI's volumes.
const TARGETS: &str = "iqn.2015-12.com.oracleiaas:";
/// Commands in flight of a session: as the plugin sets them for multipath attachments, and the default of open-iscsi.
const MULTIPATH_QUEUE_DEPTH: u32 = 128;
const QUEUE_DEPTH: u32 = 32;

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

#[derive(Debug)]
pub struct Agent {
    metadata: Client,
    host: Host,
}

impl Agent {
    /// An agent of this host that reads the metadata at an address.
    ///
    /// # Errors
    /// The client has no event queue.
    pub fn new(metadata: ControlAddress) -> io::Result<Self> {
        let metadata = Client::new(metadata, Some(Token::prescribed(AUTHORIZATION)))?;
        Ok(Self { metadata, host: Host::here() })
    }

    /// Logs in to the attachments of the instance, and out of volumes that are no longer attached. `tell` receives a line for
    /// each.
    ///
    /// # Errors
    /// The first failure. The remaining attachments are synchronised before it is returned.
    pub fn synchronise(&self, tell: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
        let attachments: Vec<InstanceAttachment> = self.metadata.read(&self.metadata.get(ATTACHMENTS)?)?;
        let present: BTreeSet<&str> =
            attachments.iter().filter_map(|attachment| attachment.first.iqn.as_deref()).collect();
        for iqn in
            host::list_targets()?.iter().filter(|iqn| iqn.starts_with(TARGETS) && !present.contains(iqn.as_str()))
        {
            self.host.log_out(iqn)?;
            tell(&format!("{iqn}: logged out, the volume is no longer attached"));
        }
        let mut failed = None;
        for attachment in attachments.iter().filter(|one| one.is_agent_auto_iscsi_login_enabled == Some(true)) {
            let Some(target) = attachment.target() else { continue };
            let state = match self.log_in(attachment, &target) {
                Ok(line) => {
                    tell(&line);
                    "LOGIN_SUCCEEDED"
                }
                Err(error) => {
                    tell(&format!("{}: {}", target.iqn, describe(&error)));
                    failed.get_or_insert(error);
                    "LOGIN_FAILED"
                }
            };
            if attachment.iscsi_login_state.as_deref() != Some(state) {
                self.metadata.put(&format!("{ATTACHMENTS}{}", attachment.id), &json!({ "iscsiLoginState": state }))?;
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Logs in to all paths of an attachment and links its device; a line about it.
    fn log_in(&self, attachment: &InstanceAttachment, target: &IscsiTarget) -> Result<String, AgentError> {
        let secret = attachment.chap_secret.as_deref().unwrap_or_default();
        let is_multipath = target.portals.len() > 1;
        if is_multipath {
            self.host.configure_multipath(&multipath_section(target))?;
        }
        let sessions = host::list_sessions()?;
        for portal in &target.portals {
            if !sessions.contains(&(portal.clone(), target.iqn.clone())) {
                host::connect(&target.iqn, portal, &initiator_settings(target, secret))?;
            }
        }
        let device = self.host.await_device(&target.iqn, target.portals.len())?;
        let paths = if is_multipath { format!("{} paths", target.portals.len()) } else { "1 path".to_owned() };
        let Some(link) = &attachment.device else {
            return Ok(format!("{}: {paths}, {}", target.iqn, device.display()));
        };
        if !link.starts_with("/dev/oracleoci/") || link.contains("..") {
            return Err(AgentError::host(format_args!(
                "{link} is not a consistent device path: they are in /dev/oracleoci"
            )));
        }
        self.host.link(Path::new(link), &device)?;
        Ok(format!("{}: {paths}, {link} -> {}", target.iqn, device.display()))
    }
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
