//! The control planes of clouds of a service: their sockets, which are loopback addresses as nothing on them is encrypted.

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use plimsoll_cloud::{Cloud, CloudError, Endpoints, Options, ServiceMounts, state_directory};
use plimsoll_front::sockets::{ListenAddress, ListenAddressError, Listening, SocketAccess};
use plimsoll_language::{label, say};
use plimsoll_service::http::{Control, Entrance};
use plimsoll_service::{Service, client::Client};

use crate::args::CloudArgs;
use crate::cli_error::CliError;

/// Regions in identifiers, unless the user names another.
const OCI_REGION: &str = "eu-zurich-1";
const EC2_REGION: &str = "us-east-1";
/// Mount points of Docker, in the data directory.
const DOCKER: &str = "docker";

/// A kind of control plane.
#[derive(Clone, Debug)]
enum Plane {
    Oci,
    Ec2,
    Metadata(String),
}

/// Control planes that were requested, with their sockets.
pub(super) struct Clouds {
    directory: PathBuf,
    args: CloudArgs,
    planes: Vec<(Plane, Listening)>,
}

/// Control planes that serve clients until they are dropped.
pub(super) struct Planes {
    _controls: Vec<Control>,
    places: Vec<(&'static str, String)>,
}

impl Clouds {
    /// Listens at the addresses that were named.
    pub(super) fn find(args: &CloudArgs, directory: &Path) -> Result<Self, CliError> {
        let mut planes = Vec::new();
        if let Some(address) = &args.oci {
            planes.push((Plane::Oci, listen("--oci", address)?));
        }
        if let Some(address) = &args.ec2 {
            planes.push((Plane::Ec2, listen("--ec2", address)?));
        }
        for text in &args.oci_metadata {
            let flag = "--oci-metadata";
            let wrong = || CliError::usage(format!("{flag} {text}: write INSTANCE=HOST:PORT"));
            let (instance, address) = text.split_once('=').ok_or_else(wrong)?;
            planes.push((Plane::Metadata(instance.to_owned()), listen(flag, address)?));
        }
        Ok(Self { directory: directory.to_owned(), args: args.clone(), planes })
    }

    /// Serves the control planes.
    pub(super) fn open(self, service: &Service, control: Option<Client>) -> Result<Planes, CliError> {
        let Self { directory, args, planes } = self;
        let (mut controls, mut places) = (Vec::new(), Vec::new());
        if let Some(socket) = &args.docker {
            controls.push(docker(service, control, &directory, socket)?);
            places.push(("docker", socket.display().to_string()));
        }
        if planes.is_empty() {
            return Ok(Planes { _controls: controls, places });
        }
        let region = |usual: &str| args.region.clone().unwrap_or_else(|| usual.to_owned());
        let options = Options {
            service: service.clone(),
            directory: state_directory(&directory),
            speed_up: args.speed_up,
            region: region(OCI_REGION),
            ec2_region: region(EC2_REGION),
        };
        let mut endpoints = Endpoints { region: Some(options.region.clone()), ..Endpoints::default() };
        let cloud = Cloud::open(options).map_err(refused)?;
        for (plane, listening) in planes {
            let url = listening.place.to_string().replacen("tcp:", "http://", 1);
            let router = match plane {
                Plane::Oci => {
                    endpoints.oci = Some(url.clone());
                    places.push(("OCI", url));
                    plimsoll_cloud::oci(&cloud)
                }
                Plane::Ec2 => {
                    endpoints.ec2 = Some(url.clone());
                    places.push(("EC2", url));
                    plimsoll_cloud::ec2(&cloud)
                }
                Plane::Metadata(instance) => {
                    places.push(("metadata", format!("{url}/opc/v2/ of {instance}")));
                    plimsoll_cloud::instance_metadata(&cloud, &instance)
                }
            };
            let entrance = Entrance { listening, token: None };
            controls.push(Control::serve(router, vec![entrance]).context(label!("opening a control plane"))?);
        }
        endpoints.write(&directory).context(label!("writing the addresses of the control planes"))?;
        Ok(Planes { _controls: controls, places })
    }
}

/// Serves Docker's volume plugin.
fn docker(service: &Service, control: Option<Client>, directory: &Path, socket: &Path) -> Result<Control, CliError> {
    let control = control
        .ok_or_else(|| CliError::usage(label!("--docker needs a control socket: use --control PATH").to_owned()))?;
    let mounts = Arc::new(ServiceMounts { control, points: directory.join(DOCKER) });
    let socket = std::path::absolute(socket).context(label!("the current directory"))?;
    let listening = ListenAddress::Unix(socket).listen(SocketAccess::Owner)?;
    let entrance = Entrance { listening, token: None };
    Ok(Control::serve(plimsoll_cloud::docker(service, mounts), vec![entrance])
        .context(label!("opening the volume plugin"))?)
}

impl Planes {
    /// Names and addresses.
    pub(super) fn places(&self) -> &[(&'static str, String)] {
        &self.places
    }
}

/// Listens at a loopback address.
fn listen(flag: &str, address: &str) -> Result<Listening, CliError> {
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
    Ok(place.listen(SocketAccess::Owner)?)
}

fn refused(error: CloudError) -> CliError {
    match error {
        CloudError::Content { .. } => CliError::usage(error.to_string()),
        CloudError::Io { .. } => CliError::Failed(error.into()),
    }
}
