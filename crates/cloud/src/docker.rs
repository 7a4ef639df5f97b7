//! Docker's volume plugin over a Unix socket: volumes of the service as volumes of containers.
//!
//! Block devices, filesystems and mounts need root.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use hyper::{Method, StatusCode};
use plimsoll_service::api::Create;
use plimsoll_service::block_device::{AttachOptions, Filesystem, FormatPolicy, attach, detach};
use plimsoll_service::client::Client;
use plimsoll_service::{Initial, Service, Tags};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::describe;
use crate::web::{Plane, Reply, Request};

/// Key of the tag of volumes that the plugin created; its value is the filesystem.
const TAG: &str = "docker";
const MEDIA_TYPE: &str = "application/vnd.docker.plugins.v1.1+json";
const FILESYSTEMS: [&str; 2] = ["ext4", "xfs"];

/// Mounts volumes on this host.
pub trait PluginMounts: Send + Sync + 'static {
    /// Mounts a volume, with a filesystem that is made if there is none; its mount point, or the reason why not.
    fn mount(&self, volume: &str, filesystem: &str) -> Result<PathBuf, String>;
    /// Unmounts a volume; the reason why not.
    fn unmount(&self, volume: &str) -> Result<(), String>;
}

/// Mounts of volumes through a service on this host, as `plimsoll volume attach` makes them.
#[derive(Debug)]
pub struct ServiceMounts {
    /// Client of its control socket.
    pub control: Client,
    /// Parent of the mount points.
    pub points: PathBuf,
}

impl PluginMounts for ServiceMounts {
    fn mount(&self, volume: &str, filesystem: &str) -> Result<PathBuf, String> {
        let point = self.points.join(volume);
        let options = AttachOptions {
            name: volume.to_owned(),
            mountpoint: Some(point.clone()),
            filesystem: Some(Filesystem::find(filesystem).unwrap_or(Filesystem::Ext4)),
            policy: FormatPolicy::IfBlank,
            ..AttachOptions::default()
        };
        attach(&self.control, &options, &|_| ()).map_err(|error| describe(&error))?;
        Ok(point)
    }

    fn unmount(&self, volume: &str) -> Result<(), String> {
        detach(&self.control, volume).map_err(|error| describe(&error))
    }
}

#[derive(Clone)]
struct Docker {
    service: Service,
    mounts: Arc<dyn PluginMounts>,
    /// Identifiers of the mounts of each volume: the last one unmounts it.
    users: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct PluginCall {
    name: String,
    #[serde(rename = "ID")]
    id: String,
    opts: Option<BTreeMap<String, String>>,
}

/// Router of the volume plugin.
pub fn docker(service: &Service, mounts: Arc<dyn PluginMounts>) -> Router {
    crate::web::router(Docker { service: service.clone(), mounts, users: Arc::default() })
}

impl Plane for Docker {
    const NAME: &str = "docker";

    fn reply(&self, request: &Request) -> Reply {
        if request.method != Method::POST {
            return self.unreadable(StatusCode::METHOD_NOT_ALLOWED, "the plugin is called with POST");
        }
        let call: PluginCall = match request.body.as_ref() {
            b"" => PluginCall::default(),
            body => match serde_json::from_slice(body) {
                Ok(call) => call,
                Err(error) => return answer(Err(format!("the request: {error}"))),
            },
        };
        match request.path() {
            "/Plugin.Activate" => answer(Ok(json!({ "Implements": ["VolumeDriver"] }))),
            "/VolumeDriver.Capabilities" => answer(Ok(json!({ "Capabilities": { "Scope": "local" } }))),
            "/VolumeDriver.Create" => answer(self.create(&call)),
            "/VolumeDriver.Remove" => answer(self.remove(&call)),
            "/VolumeDriver.Mount" => answer(self.mount(&call)),
            "/VolumeDriver.Unmount" => answer(self.unmount(&call)),
            "/VolumeDriver.Path" => {
                answer(self.show(&call.name).map(|volume| json!({ "Mountpoint": volume["Mountpoint"] })))
            }
            "/VolumeDriver.Get" => answer(self.show(&call.name).map(|volume| json!({ "Volume": volume }))),
            "/VolumeDriver.List" => answer(Ok(self.list())),
            _ => self.unreadable(StatusCode::NOT_FOUND, "no such call of the volume plugin"),
        }
    }

    fn unreadable(&self, status: StatusCode, why: &str) -> Reply {
        Reply { status, ..answer(Err(why.to_owned())) }
    }
}

/// A reply with an error, empty for success.
fn answer(outcome: Result<Value, String>) -> Reply {
    let mut value = match &outcome {
        Ok(value) => value.clone(),
        Err(_) => json!({}),
    };
    value["Err"] = outcome.err().unwrap_or_default().into();
    Reply { content_type: MEDIA_TYPE, ..Reply::json(StatusCode::OK, &value) }
}

impl Docker {
    fn create(&self, call: &PluginCall) -> Result<Value, String> {
        if self.service.find_summary(&call.name).is_some_and(|volume| volume.tags.contains_key(TAG)) {
            return Ok(json!({}));
        }
        let options = call.opts.clone().unwrap_or_default();
        if let Some(name) = options.keys().find(|name| !["like", "group", "fs", "size"].contains(&name.as_str())) {
            return Err(format!("unknown option {name}: there are like, size, group and fs"));
        }
        let like = options.get("like").ok_or("give the product: -o like=oci:50GB@10vpu")?.clone();
        let filesystem = options.get("fs").map_or("ext4", String::as_str);
        if !FILESYSTEMS.contains(&filesystem) {
            return Err(format!("fs={filesystem}: there are {}", FILESYSTEMS.join(" and ")));
        }
        let (size, group) = (options.get("size").cloned(), options.get("group").cloned());
        let create = Create { name: call.name.clone(), like, size, group, ..Create::default() };
        let initial = Initial { tags: Tags::from([(TAG.to_owned(), filesystem.to_owned())]), autotune: None };
        self.service.create_with(&create, initial).map_err(|refusal| refusal.message)?;
        Ok(json!({}))
    }

    fn remove(&self, call: &PluginCall) -> Result<Value, String> {
        self.filesystem(&call.name)?;
        self.service.delete(&call.name).map_err(|refusal| refusal.message)?;
        Ok(json!({}))
    }

    /// Filesystem of a volume of the plugin.
    fn filesystem(&self, name: &str) -> Result<String, String> {
        let volume = self.service.find_summary(name).filter(|volume| volume.writable);
        let filesystem = volume.and_then(|volume| volume.tags.get(TAG).cloned());
        filesystem.ok_or_else(|| format!("no volume {name:?} was created by the plugin"))
    }

    fn mount(&self, call: &PluginCall) -> Result<Value, String> {
        let filesystem = self.filesystem(&call.name)?;
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let present = self.mountpoint(&call.name);
        let point = match present {
            Some(point) => point,
            None => self.mounts.mount(&call.name, &filesystem)?.display().to_string(),
        };
        users.entry(call.name.clone()).or_default().insert(call.id.clone());
        Ok(json!({ "Mountpoint": point }))
    }

    fn unmount(&self, call: &PluginCall) -> Result<Value, String> {
        self.filesystem(&call.name)?;
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let of_volume = users.entry(call.name.clone()).or_default();
        of_volume.remove(&call.id);
        if of_volume.is_empty() {
            users.remove(&call.name);
            if self.mountpoint(&call.name).is_some() {
                self.mounts.unmount(&call.name)?;
            }
        }
        Ok(json!({}))
    }

    fn mountpoint(&self, name: &str) -> Option<String> {
        self.service.find_summary(name)?.attachment.filter(|attachment| !attachment.dead)?.mountpoint
    }

    fn show(&self, name: &str) -> Result<Value, String> {
        self.filesystem(name)?;
        let volume = self.service.find_summary(name).ok_or("the volume was deleted")?;
        Ok(json!({
            "Name": name,
            "Mountpoint": self.mountpoint(name).unwrap_or_default(),
            "CreatedAt": volume.created,
            "Status": { "like": volume.like, "size_bytes": volume.size_bytes },
        }))
    }

    fn list(&self) -> Value {
        let names = self.service.list_summaries().into_iter().filter(|volume| volume.tags.contains_key(TAG));
        let volumes: Vec<Value> = names.filter_map(|volume| self.show(&volume.name).ok()).collect();
        json!({ "Volumes": volumes })
    }
}
