//! Addresses of the control planes of the last service on a data directory, for commands that configure clients.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::durable;
use crate::keys::state_directory;

const FILE: &str = "endpoints.json";

/// URLs of control planes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oci: Option<String>,
    /// API of EC2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ec2: Option<String>,
    /// Region in identifiers of OCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

impl Endpoints {
    /// Reads the addresses; none if no control plane was ever served.
    pub fn read(data_directory: &Path) -> io::Result<Self> {
        let bytes = durable::read(&state_directory(data_directory).join(FILE))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    pub fn write(&self, data_directory: &Path) -> io::Result<()> {
        let directory = state_directory(data_directory);
        durable::directory(&directory)?;
        durable::replace(&directory.join(FILE), &serde_json::to_vec(self).expect("addresses are texts"))
    }
}
