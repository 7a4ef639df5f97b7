//! `plimsoll oci-agent`: runs the agent of an instance once, or until it is ended.

use std::time::Duration;

use anyhow::Context;
use plimsoll_cloud::agent::{Agent, AgentError};
use plimsoll_language::{label, say};

use crate::args::OciAgentArgs;
use crate::cli_error::CliError;
use crate::output::print;

/// `plimsoll oci-agent`.
pub fn run(args: &OciAgentArgs) -> Result<(), CliError> {
    if !rustix::process::geteuid().is_root() {
        return Err(CliError::usage(label!("the agent logs in to iSCSI targets and makes devices: run it as root")));
    }
    let agent = Agent::new(args.metadata.clone()).context(label!("asking the metadata service"))?;
    loop {
        let mut printed = Ok(());
        let synchronised = agent.synchronise(&mut |line| {
            if printed.is_ok() {
                printed = print(format!("{line}\n").as_bytes());
            }
        });
        printed?;
        let Some(interval) = args.interval else { return Ok(synchronised?) };
        if let Err(error) = synchronised.map_err(CliError::from) {
            print(say!("failed, and is tried again: {error}\n").as_bytes())?;
        }
        std::thread::sleep(Duration::from_nanos(interval.as_nanos()));
    }
}

impl From<AgentError> for CliError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Client(error) => error.into(),
            error => Self::Failed(error.into()),
        }
    }
}
