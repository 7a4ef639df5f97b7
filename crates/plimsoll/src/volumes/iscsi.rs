//! Volumes over iSCSI: the commands that attach one on any machine with open-iscsi, and the failover of controllers.

use plimsoll_service::api::IscsiTarget;
use plimsoll_service::client::volume_path;
use plimsoll_service::initiator;

use super::Desk;
use crate::args::AttachArgs;
use crate::cli_error::CliError;

/// `plimsoll volume attach --iscsi`: prints commands.
pub fn attach(desk: &Desk, args: &AttachArgs) -> Result<(), CliError> {
    let answer = desk.client.get(&volume_path(&args.name, "iscsi"))?;
    if desk.raw(&answer)? {
        return Ok(());
    }
    let target: IscsiTarget = desk.client.read(&answer)?;
    if target.portals.is_empty() {
        return Err(CliError::usage(
            "the service listens at all addresses: start it with --iscsi-advertise HOST:PORT for its initiators",
        ));
    }
    desk.outputs.print(&initiator::script(&args.name, &target, args.mountpoint.as_deref()))
}

/// `plimsoll volume failover`.
pub fn fail_over(desk: &Desk, name: &str) -> Result<(), CliError> {
    let answer = desk.client.post(&volume_path(name, "iscsi/failover"), &serde_json::Map::new())?;
    if desk.raw(&answer)? {
        return Ok(());
    }
    let IscsiTarget { optimized, .. } = desk.client.read(&answer)?;
    let optimized = optimized.filter(|paths| !paths.is_empty()).map_or_else(
        || "no path leads to it: serve with a second --iscsi portal".to_owned(),
        |paths| format!("optimized paths: {}", paths.join(", ")),
    );
    desk.outputs.print(&format!("{name}: the other controller owns it; {optimized}\n"))
}
