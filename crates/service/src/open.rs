//! Start of a service: opens the data directory and serves its volumes.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use plimsoll_device::Clock;
use plimsoll_front::{DataFiles, DirectoryError, Limits, Recomputed, Server, TornCommit};
use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Instant};
use plimsoll_volume::{Geometry, Store, Unrecoverable, Unreferenced, VolumeAccess, VolumeId, Volumes};

use crate::attach::left_over;
use crate::automation::Automation;
use crate::fsck;
use crate::group::ServedGroup;
use crate::metadata::{StoredMetadata, VolumeMetadata};
use crate::moment;
use crate::options::ServiceOptions;
use crate::product::Product;
use crate::refusal::OpenError;
use crate::service::{Inner, MeasuredFloor, Service, ServiceState};
use crate::ticker::Ticker;
use crate::volume::{RingVolume, Volume};

struct StoredVolume {
    id: VolumeId,
    size: u64,
    access: VolumeAccess,
}

impl Service {
    /// Opens or creates a data directory, and serves all volumes in it.
    ///
    /// The caller adds listeners to the server, runs it on a separate thread, and drops it afterwards. All methods
    /// block until the server runs.
    pub fn open(options: ServiceOptions) -> Result<(Self, Server), OpenError> {
        let directory = options.directory.clone();
        let created = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        created.map_err(|source| OpenError::Make { directory: directory.clone(), source })?;
        let (mut files, contents) =
            DataFiles::directory(&directory, options.checksums).map_err(|error| damaged(&directory, error))?;
        let names = fsck::collect_names(&contents.log.commits);
        let mut notices: Vec<String> = contents.torn.as_ref().map(torn).into_iter().collect();
        let (store, mut jobs) = if contents.log.commits.is_empty() {
            (Store::new(Geometry::default(), u64::MAX), Vec::new())
        } else {
            let recovered = Store::recover(contents.log.commits, &contents.lengths, u64::MAX, contents.unreferenced);
            let recovered = recovered.map_err(|source| match source {
                Unrecoverable::Short(files) => {
                    OpenError::Damaged { directory: directory.clone(), why: fsck::short(&directory, &files, &names) }
                }
                source => OpenError::Store { directory: directory.clone(), source },
            })?;
            if contents.unreferenced == Unreferenced::Keep {
                let bytes = Bytes::new(recovered.unreferenced_bytes);
                notices.push(say!(
                    "up to {bytes} that no volume refers to are kept, since a commit was dropped: stop the service, and \
                     plimsoll volume fsck {} --repair frees them",
                    directory.display()
                ));
            }
            (recovered.store, recovered.jobs)
        };
        let recomputed = files
            .recover_sums()
            .map_err(|source| OpenError::Directory(DirectoryError::Io { directory: directory.clone(), source }))?;
        if recomputed.bytes > 0 {
            let Recomputed { bytes, blocks } = recomputed;
            notices.push(say!(
                "the service was not ended cleanly: the checksums of {} that were being written were computed again, {blocks} \
                 of them differed",
                Bytes::new(bytes)
            ));
        }
        let clock = Clock::start();
        let mut volumes = Volumes::new(store, options.slow);
        volumes.set_durability(options.durability, options.commit_interval);
        let mut server = Server::new(volumes, files, Limits::default(), clock).map_err(OpenError::Ring)?;
        let (volumes, _, pending) = server.volumes();
        pending.append(&mut jobs);
        volumes.set_capacity(options.space_limit(volumes.store().usage().taken));
        let state = serve_all(&mut server, &directory, &options)?;
        let store = server.store_id().unwrap_or_default();
        let floor = Mutex::new(MeasuredFloor { best: options.floor, again: None });
        let inner = Inner {
            handle: server.handle(),
            options,
            clock,
            store,
            started: moment::now(),
            state: Mutex::new(state),
            ticker: Ticker::default(),
            scrub: Mutex::default(),
            notices,
            floor,
        };
        let service = Self { inner: Arc::new(inner) };
        service.start_automation().map_err(OpenError::Thread)?;
        Ok((service, server))
    }
}

/// Describes a log that has lost commits, with the affected volumes.
fn damaged(directory: &Path, error: DirectoryError) -> OpenError {
    match error {
        DirectoryError::Log { source, log, .. } => {
            OpenError::Damaged { directory: directory.to_owned(), why: fsck::refusal(directory, &source, &log) }
        }
        error => error.into(),
    }
}

fn torn(TornCommit { bytes, file }: &TornCommit) -> String {
    let fate = match file {
        Some(file) => say!("kept as {}", file.display()),
        None => label!("dropped, for the disk is full").to_owned(),
    };
    say!("the log ended in {bytes} bytes of a commit that was never answered: {fate}")
}

/// Serves all volumes of the store.
fn serve_all(server: &mut Server, directory: &Path, options: &ServiceOptions) -> Result<ServiceState, OpenError> {
    let (volumes, ..) = server.volumes();
    let about: Vec<(StoredVolume, String)> = volumes
        .store()
        .volumes()
        .map(|about| (StoredVolume { id: about.volume, size: about.size, access: about.access }, about.text.to_owned()))
        .collect();
    let (mut state, mut found) = (ServiceState::default(), Vec::new());
    let wrong =
        |id: VolumeId, why: String| OpenError::VolumeMetadata { directory: directory.to_path_buf(), volume: id.0, why };
    for (one, text) in about {
        match StoredMetadata::read(&text).map_err(|why| wrong(one.id, why))? {
            StoredMetadata::Volume(metadata) => found.push((one, *metadata)),
            StoredMetadata::Group(metadata) => {
                let id = one.id;
                let group =
                    ServedGroup::restore(server, id, metadata, &options.products).map_err(|why| wrong(id, why))?;
                state.groups.insert(group.metadata.name.clone(), group);
            }
        }
    }
    for (one, metadata) in found {
        let (id, name) = (one.id, metadata.name.clone());
        let mut volume = restore_volume(server, &state, one, metadata, options).map_err(|why| wrong(id, why))?;
        volume.attachment = left_over(directory, &name);
        if state.volumes.insert(name, volume).is_some() {
            return Err(wrong(id, label!("another volume has the same name").to_owned()));
        }
    }
    Ok(state)
}

/// Serves an existing volume.
fn restore_volume(
    ring: &mut Server,
    state: &ServiceState,
    StoredVolume { id, size, access }: StoredVolume,
    metadata: VolumeMetadata,
    options: &ServiceOptions,
) -> Result<Volume, String> {
    let product = Product::restore(&metadata.like, &metadata.model, &options.products)?;
    let group = match &metadata.group {
        Some(name) => Some(state.groups.get(name).ok_or_else(|| say!("its group {name} is not there"))?.id),
        None => None,
    };
    let iscsi = options.iscsi.as_ref().zip(ring.store_id());
    let unit = iscsi.map(|(iscsi, store)| Box::new(iscsi.unit(store, id, &metadata, &product)));
    let served = RingVolume::new(id, &metadata, &product, (size, access), group, options.slow).with_unit(unit.clone());
    let export = served.begin(ring).map_err(|not| not.to_string())?;
    let automation = Automation::new(Instant::ZERO, &metadata, &product, options);
    Ok(Volume { unit, ..Volume::new(id, export, (size, access), metadata, product, automation) })
}
