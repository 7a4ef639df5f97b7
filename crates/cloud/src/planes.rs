//! Control planes that serve clients at their sockets.

use std::io;
use std::path::Path;
use std::sync::Arc;

use plimsoll_service::Service;
use plimsoll_service::client::Client;
use plimsoll_service::http::{Control, Entrance};

use crate::cloud::{Cloud, CloudError, Options};
use crate::docker::{ServiceMounts, docker};
use crate::ec2::ec2;
use crate::endpoints::Endpoints;
use crate::instance_metadata::instance_metadata;
use crate::oci::oci;

/// Mount points of Docker, in the data directory.
const DOCKER: &str = "docker";

/// A control plane of a cloud.
#[derive(Clone, Debug)]
pub enum CloudPlane {
    Oci,
    Ec2,
    /// The metadata of the instance of this name.
    Metadata(String),
}

/// Control planes cannot be served.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum PlaneError {
    /// Their state is unusable.
    #[error(transparent)]
    State(#[from] CloudError),
    /// A server did not start.
    #[error("opening a control plane")]
    Open(#[source] io::Error),
    /// Their addresses were not written.
    #[error("writing the addresses of the control planes")]
    Addresses(#[source] io::Error),
}

/// Control planes that serve clients until they are dropped.
#[derive(Default)]
pub struct Planes {
    controls: Vec<Control>,
    places: Vec<(&'static str, String)>,
}

impl Planes {
    /// Serves control planes of clouds, and writes their addresses into the data directory.
    ///
    /// # Errors
    /// An unusable state, or a server that does not start.
    pub fn serve(
        &mut self,
        options: Options,
        data_directory: &Path,
        planes: Vec<(CloudPlane, Entrance)>,
    ) -> Result<(), PlaneError> {
        let mut endpoints = Endpoints { region: Some(options.region.clone()), ..Endpoints::default() };
        let cloud = Cloud::open(options)?;
        for (plane, entrance) in planes {
            let url = entrance.listening.place.to_string().replacen("tcp:", "http://", 1);
            let (router, place) = match plane {
                CloudPlane::Oci => {
                    endpoints.oci = Some(url.clone());
                    (oci(&cloud), ("OCI", url))
                }
                CloudPlane::Ec2 => {
                    endpoints.ec2 = Some(url.clone());
                    (ec2(&cloud), ("EC2", url))
                }
                CloudPlane::Metadata(instance) => {
                    (instance_metadata(&cloud, &instance), ("metadata", format!("{url}/opc/v2/ of {instance}")))
                }
            };
            self.places.push(place);
            self.controls.push(Control::serve(router, vec![entrance]).map_err(PlaneError::Open)?);
        }
        endpoints.write(data_directory).map_err(PlaneError::Addresses)
    }

    /// Serves Docker's volume plugin, whose volumes are mounted in the data directory.
    ///
    /// # Errors
    /// The server does not start.
    pub fn serve_docker(
        &mut self,
        service: &Service,
        control: Client,
        data_directory: &Path,
        entrance: Entrance,
    ) -> Result<(), PlaneError> {
        let mounts = Arc::new(ServiceMounts { control, points: data_directory.join(DOCKER) });
        self.places.push(("docker", entrance.listening.place.to_string().replacen("unix:", "", 1)));
        let served = Control::serve(docker(service, mounts), vec![entrance]).map_err(PlaneError::Open)?;
        self.controls.push(served);
        Ok(())
    }

    /// Names and addresses.
    pub fn places(&self) -> &[(&'static str, String)] {
        &self.places
    }
}
