//! Control planes of clouds over the volume service: the API of OCI Block Volume and the query API of Amazon EBS as real
//! clients use them, the metadata that an instance reads, and the volume plugin of Docker.
//!
//! Objects that are volumes keep their records as tags in the metadata of the volume, which are durable in the same log as its
//! data; everything else is in a file that is replaced as a whole.

pub mod agent;
mod client_config;
mod cloud;
mod docker;
mod durable;
mod ec2;
mod endpoints;
mod identifiers;
mod instance_metadata;
mod keys;
mod lifecycle;
mod machine;
mod oci;
mod planes;
mod record;
mod web;

pub use client_config::{ClientConfigError, OciConfig};
pub use cloud::{Cloud, CloudError, Options};
pub use docker::{PluginMounts, ServiceMounts, docker};
pub use ec2::ec2;
pub use endpoints::Endpoints;
pub use instance_metadata::instance_metadata;
pub use keys::{
    Ec2Key, KeyError, NewKey, OciKey, TENANCY, USER, add_ec2_key, add_oci_key, oci_keys, remove_oci_key,
    state_directory,
};
pub use machine::name_machine;
pub use oci::oci;
pub use planes::{CloudPlane, PlaneError, Planes};
