//! Volumes over iSCSI: the commands that attach one on any machine with open-iscsi, and the failover of controllers.

use plimsoll_language::{label, say};
use plimsoll_report::{Block, Page};
use plimsoll_service::api::IscsiTarget;
use plimsoll_service::client::volume_path;
use plimsoll_service::initiator;

use super::ServiceClient;
use crate::args::AttachArgs;
use crate::cli_error::CliError;

/// `plimsoll volume attach --iscsi`: prints commands.
pub fn attach(service: &ServiceClient, args: &AttachArgs) -> Result<(), CliError> {
    let response = service.client.get(&volume_path(&args.name, "iscsi"))?;
    let target: IscsiTarget = service.client.read(&response)?;
    if target.portals.is_empty() && !service.forms.has_json() {
        return Err(CliError::usage(label!(
            "the service listens at all addresses: start it with --iscsi-advertise HOST:PORT for its initiators"
        )));
    }
    let script = initiator::script(&args.name, &target, args.mountpoint.as_deref());
    service.write_page(&response, |_: &IscsiTarget| {
        Page::of_block(format!("{} over iSCSI", args.name), Block::Listing(script))
    })
}

/// `plimsoll volume failover`.
pub fn fail_over(service: &ServiceClient, name: &str) -> Result<(), CliError> {
    let response = service.client.post(&volume_path(name, "iscsi/failover"), &serde_json::Map::new())?;
    service.write_page(&response, |target: &IscsiTarget| {
        let optimized = target.optimized.as_ref().filter(|paths| !paths.is_empty()).map_or_else(
            || label!("no path leads to it: serve with a second --iscsi portal").to_owned(),
            |paths| say!("optimized paths: {}", paths.join(", ")),
        );
        Page::of_block(format!("Volume {name}"), Block::Text(say!("{name}: the other controller owns it; {optimized}")))
    })
}
