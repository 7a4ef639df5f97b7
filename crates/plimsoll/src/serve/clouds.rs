//! The control planes of clouds of a service: their sockets, on loopback addresses, as they are not encrypted.

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_cloud::{CloudError, CloudPlane, Options, PlaneError, Planes, state_directory};
use plimsoll_front::sockets::{ListenAddress, ListenAddressError, SocketAccess};
use plimsoll_language::{label, say};
use plimsoll_service::http::Entrance;
use plimsoll_service::{Service, client::Client};

use crate::args::CloudArgs;
use crate::cli_error::CliError;

/// Default regions in identifiers.
const OCI_REGION: &str = "eu-zurich-1";
const EC2_REGION: &str = "us-east-1";

/// Control planes that were requested, with their sockets.
pub(super) struct Clouds {
    directory: PathBuf,
    args: CloudArgs,
    planes: Vec<(CloudPlane, Entrance)>,
}

impl Clouds {
    /// Listens at the addresses that were named.
    pub(super) fn find(args: &CloudArgs, directory: &Path) -> Result<Self, CliError> {
        let mut planes = Vec::new();
        if let Some(address) = &args.oci {
            planes.push((CloudPlane::Oci, listen("--oci", address)?));
        }
        if let Some(address) = &args.ec2 {
            planes.push((CloudPlane::Ec2, listen("--ec2", address)?));
        }
        for text in &args.oci_metadata {
            let flag = "--oci-metadata";
            let invalid = || CliError::usage(format!("{flag} {text}: write INSTANCE=HOST:PORT"));
            let (instance, address) = text.split_once('=').ok_or_else(invalid)?;
            planes.push((CloudPlane::Metadata(instance.to_owned()), listen(flag, address)?));
        }
        Ok(Self { directory: directory.to_owned(), args: args.clone(), planes })
    }

    /// Serves the control planes.
    pub(super) fn open(self, service: &Service, control: Option<Client>) -> Result<Planes, CliError> {
        let Self { directory, args, planes } = self;
        let mut served = Planes::default();
        if let Some(socket) = &args.docker {
            let needs_control = || CliError::usage(label!("--docker needs a control socket: use --control PATH"));
            let control = control.ok_or_else(needs_control)?;
            let socket = std::path::absolute(socket).context(label!("the current directory"))?;
            let entrance =
                Entrance { listening: ListenAddress::Unix(socket).listen(SocketAccess::Owner)?, token: None };
            served.serve_docker(service, control, &directory, entrance).map_err(refused)?;
        }
        if planes.is_empty() {
            return Ok(served);
        }
        let region = |default_region: &str| args.region.clone().unwrap_or_else(|| default_region.to_owned());
        let options = Options {
            service: service.clone(),
            directory: state_directory(&directory),
            speed_up: args.speed_up,
            region: region(OCI_REGION),
            ec2_region: region(EC2_REGION),
        };
        served.serve(options, &directory, planes).map_err(refused)?;
        Ok(served)
    }
}

/// Listens at a loopback address.
fn listen(flag: &str, address: &str) -> Result<Entrance, CliError> {
    let place: ListenAddress =
        format!("tcp:{address}").parse().map_err(|error: ListenAddressError| CliError::usage(error.to_string()))?;
    let ListenAddress::Tcp { host, port } = &place else {
        return Err(CliError::usage(format!("{flag} {address}: write HOST:PORT")));
    };
    let found = (host.as_str(), *port).to_socket_addrs();
    let addresses: Vec<_> = found.map_err(|error| CliError::usage(format!("{flag} {address}: {error}")))?.collect();
    if addresses.is_empty() || !addresses.iter().all(|address| address.ip().is_loopback()) {
        return Err(CliError::usage(say!(
            "{flag} {address}: control planes are not encrypted, so they listen on loopback addresses only: write \
             127.0.0.1:{port}, and reach it from elsewhere through a tunnel (ssh -L) or a proxy with TLS"
        )));
    }
    Ok(Entrance { listening: place.listen(SocketAccess::Owner)?, token: None })
}

fn refused(error: PlaneError) -> CliError {
    match error {
        PlaneError::State(CloudError::Content { .. }) => CliError::usage(error),
        _ => CliError::Failed(error.into()),
    }
}
