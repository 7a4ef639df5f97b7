//! Pages of volumes: the overview, and a volume with its level slider, charts and operations.

use std::path::Path;

use maud::{Markup, html};
use plimsoll_language::{label, say};
use plimsoll_service::api::{LevelChange, Volume};
use plimsoll_service::block_device::{self, AttachError, AttachOptions, Filesystem};
use plimsoll_service::client::Client;
use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::commands::PRESETS;
use crate::layout::{self, Frame};
use crate::{ConsoleState, case_history, live};

/// All volumes, groups, and the form that creates a volume.
pub fn volumes(shared: &ConsoleState, _: &Input) -> WebResult {
    let groups = shared.service.groups()?;
    let about = shared.service.about()?;
    let frame = Frame { title: label!("Volumes"), place: "/", scripts: &["volumes.js"] };
    let content = html! {
        h1 { (label!("Volumes")) }
        dl class="tiles" id="sum" {
            (tile("sum-volumes", label!("Volumes")))
            (tile("sum-iops", "IOPS"))
            (tile("sum-mbps", "MB/s"))
            (tile("sum-cost", label!("Cost so far")))
            (tile("sum-faithful", label!("Faithful / busy")))
        }
        div class="scroll" tabindex="0" role="region" aria-label=(label!("Volumes")) {
            table id="volumes" data-snapshot=(label!("snapshot")) {
                thead { tr {
                    th scope="col" { (label!("Name")) }
                    th scope="col" { "IOPS" }
                    th scope="col" { "MB/s" }
                    th scope="col" { "p50" }
                    th scope="col" { "p99" }
                    th scope="col" { (label!("Queue depth")) }
                    th scope="col" class="l" { (label!("Last minute")) }
                    th scope="col" class="l" { (label!("Emulation")) }
                    th scope="col" { (label!("Size")) }
                    th scope="col" { (label!("Cost so far")) }
                } }
                tbody {}
            }
        }
        p id="none" class="lead" hidden {
            (label!("There are no volumes. Create one below, for example data like oci:100GB@10vpu."))
        }
        (create_form(&groups))
        section class="card" {
            h2 { (label!("Groups")) }
            p class="lead" { (label!("Volumes of a group share the limits of an instance.")) }
            @if !groups.is_empty() {
                ul class="plain" { @for group in &groups {
                    li { strong { (group.name) } " " (group.like) " "
                        button type="button" class="quiet" data-action="delete-group" data-name=(group.name) { (label!("Delete")) } }
                } }
            }
            form id="group" class="row" {
                label { (label!("Name")) input name="name" required maxlength="64"; }
                label class="wide" { (label!("Instance")) input name="like" required placeholder="oci/VM.Standard.E4.Flex:16ocpu"; }
                button { (label!("Create group")) }
            }
        }
        p class="lead" {
            (label!("Data directory")) ": " (about.directory) "; "
            (Bytes::new(about.used_bytes)) (label!(" used of ")) (Bytes::new(about.capacity_bytes)) ". "
            @if about.slow > 1 { (label!("Model time is slower than the clock by a factor of ")) (about.slow) "." }
        }
    };
    Ok(layout::page(&frame, &content))
}

fn tile(id: &str, name: &str) -> Markup {
    html! { div { dt { (name) } dd id=(id) { "–" } } }
}

fn create_form(groups: &[plimsoll_service::api::Group]) -> Markup {
    html! {
        section class="card" {
            h2 { (label!("Create a volume")) }
            form id="create" {
                div class="row" {
                    label { (label!("Name")) input name="name" required maxlength="64" autocomplete="off" pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*"; }
                    label class="wide" {
                        (label!("Product or configuration"))
                        input name="like" required autocomplete="off" role="combobox" aria-expanded="false" aria-controls="products"
                            aria-autocomplete="list" placeholder="oci:100GB@10vpu";
                    }
                    @if !groups.is_empty() {
                        label { (label!("Group")) select name="group" {
                            option value="" { "–" } @for group in groups { option { (group.name) } }
                        } }
                    }
                }
                ul id="products" class="options" role="listbox" aria-label=(label!("Products")) hidden {}
                (sliders())
                (figures())
                p { button { (label!("Create")) } }
            }
        }
    }
}

/// Sliders of level and size; hidden until a configuration has them.
fn sliders() -> Markup {
    html! {
        div class="sliders" {
            label class="slider" data-slider="level" hidden {
                span { span class="name" { (label!("Level")) } " " output {} }
                input type="range" name="level";
            }
            label class="slider" data-slider="size" hidden {
                span { span class="name" { (label!("Size")) } " " output {} }
                input type="range" name="size" min="0" max="1000" step="1";
            }
        }
    }
}

/// Figures that follow the sliders.
fn figures() -> Markup {
    html! {
        dl class="tiles figures" hidden {
            div { dt { "IOPS" } dd data-figure="iops" { "–" } dd class="small" data-figure="iops_limit" {} }
            div { dt { "MB/s" } dd data-figure="mbps" { "–" } dd class="small" data-figure="bytes_limit" {} }
            div { dt { (label!("A month, USD")) } dd data-figure="usd" { "–" } }
            div { dt { (label!("A month, JPY")) } dd data-figure="jpy" { "–" } }
        }
        p class="message" data-figure="message" role="status" {}
    }
}

pub fn render_volume(shared: &ConsoleState, input: &Input) -> WebResult {
    let volume = shared.service.volume(input.part(0))?;
    let others = shared.service.list()?;
    let case = case_history::case_of(shared, &volume.name);
    let frame = Frame { title: &volume.name, place: "/", scripts: &["volume.js"] };
    let content = html! {
        div id="volume" data-name=(volume.name) data-size=(volume.size_bytes) data-uri=(volume.uris.first().map_or("", String::as_str))
            data-marks=(label!("level")) data-sure=(label!("Replace all data of the volume?")) {
            h1 { (volume.name) " " small id="like" { (volume.like) } }
            dl class="tiles" {
                (tile("iops", "IOPS"))
                (tile("mbps", "MB/s"))
                (tile("p50", "p50"))
                (tile("p99", "p99"))
                (tile("depth", label!("Queue depth")))
                (tile("clients", label!("Clients")))
                (tile("faithful", label!("Emulation")))
                (tile("cost", label!("Cost so far")))
            }
            @if volume.writable { (level_card()) }
            div class="charts" {
                section class="card" { h2 { (label!("Throughput")) } div id="rate" class="plot" role="img" aria-label="IOPS" {} }
                section class="card" { h2 { (label!("Response time")) } div id="latency" class="plot" role="img" aria-label="p50, p99" {} }
            }
            p class="lead" {
                (label!("Shaded: seconds that did not follow the model, because replies of this host were late or clients were held up."))
            }
            section class="card" {
                h2 { (label!("Measure")) }
                @if let Some(case) = &case { p { (label!("Emulates a choice for ")) a href={ "/choose/" (case) } { (case_history::title(shared, case)) } "." } }
                form id="measure" class="row" data-case=[case.as_ref()] {
                    label { (label!("Load")) select name="preset" { @for preset in PRESETS { option { (preset) } } } }
                    @if volume.writable { label class="check" { input type="checkbox" name="writes"; (label!("Measure writes, too: all data of the volume are lost")) } }
                    button { (label!("Measure this volume")) }
                }
            }
            (operations(&volume, &others, shared.service.about()?.checksums))
            (faults_card(&volume))
            (details(&volume))
        }
    };
    Ok(layout::page(&frame, &content))
}

fn level_card() -> Markup {
    html! {
        section class="card" id="levels" {
            h2 { (label!("Level and size")) }
            (sliders())
            (figures())
            p class="actions" {
                button type="button" id="force" hidden { (label!("Disconnect the clients and change")) }
                button type="button" id="grow" hidden { (label!("Grow to this size")) }
            }
            form id="other" class="row" {
                label class="wide" { (label!("Other settings, or another product"))
                    input name="to" autocomplete="off" placeholder="20vpu, iops=12000, aws/gp3:100GiB"; }
                button { (label!("Change")) }
            }
        }
    }
}

/// Operations of the control API.
fn operations(volume: &Volume, others: &[Volume], has_checksums: bool) -> Markup {
    let is_attached = volume.attachment.is_some();
    html! {
        section class="card" {
            h2 { (label!("Operations")) }
            div class="forms" {
                form data-action="snapshot" class="row" {
                    label { (label!("Snapshot")) input name="name" required placeholder={ (volume.name) "-1" }; }
                    button { (label!("Create")) }
                }
                form data-action="clone" class="row" {
                    label { (label!("Clone")) input name="name" required placeholder={ (volume.name) "-2" }; }
                    button { (label!("Create")) }
                }
                @if volume.writable {
                    form data-action="restore" class="row" {
                        label { (label!("Restore from")) select name="from" {
                            @for other in others.iter().filter(|other| other.name != volume.name) { option { (other.name) } }
                        } }
                        button { (label!("Restore")) }
                    }
                    (autotune_form(volume))
                }
                (recording_form(volume))
                (scrub_form(has_checksums))
                @if is_attached {
                    form data-action="detach" class="row" { span { (label!("Attached to this host")) } button { (label!("Detach")) } }
                } @else {
                    form data-action="attach" class="row" {
                        label { (label!("Attach, mounted at")) input name="mountpoint" placeholder="/mnt/data"; }
                        label { (label!("New filesystem")) select name="mkfs" { option value="" { "–" } option { "xfs" } option { "ext4" } } }
                        button { (label!("Attach")) }
                    }
                }
                form data-action="delete" class="row" {
                    label { (label!("Delete with all data: type the name")) input name="name" required autocomplete="off" pattern=(volume.name); }
                    button class="danger" { (label!("Delete")) }
                }
            }
        }
    }
}

fn autotune_form(volume: &Volume) -> Markup {
    let tune = volume.autotune.clone().unwrap_or_default();
    html! {
        form data-action="autotune" class="row" {
            label { (label!("Autotune: default level")) input name="default" type="number" min="0" value=[tune.default]; }
            label { (label!("highest")) input name="most" type="number" min="0" value=[tune.max]; }
            button { (label!("Set")) }
            @if volume.autotune.is_some() { button type="button" class="quiet" data-off="autotune" { (label!("Disable")) } }
        }
    }
}

fn recording_form(volume: &Volume) -> Markup {
    html! {
        form data-action=(if volume.recording.is_some() { "stop-recording" } else { "record" }) class="row" {
            @if let Some(file) = &volume.recording {
                span { (label!("Recorded to ")) code { (file) } }
                button { (label!("End the recording")) }
            } @else {
                label { (label!("Record requests to a new file of the host"))
                    input name="file" required pattern="/.*" placeholder={ "/var/tmp/" (volume.name) ".trace" }; }
                button { (label!("Record")) }
            }
        }
    }
}

fn scrub_form(has_checksums: bool) -> Markup {
    html! {
        form data-action="scrub" class="row" {
            @if has_checksums {
                span { (label!("Compare data with their checksums")) }
                button { (label!("Scrub")) }
                span id="scrub" role="status" data-done=(label!("compared, damaged blocks")) {}
            } @else {
                span class="lead" {
                    (label!("Scrub: this data directory has no checksums; plimsoll volume fsck --add-checksums adds them."))
                }
            }
        }
    }
}

fn faults_card(volume: &Volume) -> Markup {
    let faults = volume.faults.clone().unwrap_or_default();
    let number = |name: &str, label: &'static str, value: u64| {
        html! { label { (label) input name=(name) type="number" min="0" value=(value); } }
    };
    let kinds = ["read", "write", "flush", "trim"];
    html! {
        section class="card" {
            h2 { (label!("Faults")) }
            form data-action="faults" class="row" {
                label { (label!("Requests")) select name="only" {
                    option value="" { (label!("all")) }
                    @for kind in kinds { option selected[faults.only.as_deref() == Some(kind)] { (kind) } }
                } }
                (number("errors_ppm", label!("Errors, ppm"), faults.errors_ppm.into()))
                (number("spikes_ppm", label!("Delays, ppm"), faults.spikes_ppm.into()))
                (number("spike_ms", label!("Delay, ms"), if faults.spike_ns > 0 { faults.spike_ns / 1_000_000 } else { 50 }))
                (number("tears_ppm", label!("Closed connections, ppm"), faults.tears_ppm.into()))
                (number("stall_ms", label!("Stall now, ms"), 0))
                button { (label!("Inject")) }
                @if volume.faults.is_some() { button type="button" class="quiet" data-off="faults" { (label!("Clear")) } }
            }
        }
    }
}

fn details(volume: &Volume) -> Markup {
    html! {
        details class="card" {
            summary { h2 { (label!("Details")) } }
            dl class="about" {
                dt { (label!("Model")) } dd { code { (volume.model) } }
                dt { (label!("Created")) } dd { (volume.created) @if let Some(of) = &volume.of { " (" (of) ")" } }
                @if let Some(group) = &volume.group { dt { (label!("Group")) } dd { (group) } }
                @for uri in &volume.uris { dt { "NBD" } dd { code { (uri) } } }
                @if let Some(attachment) = &volume.attachment {
                    dt { (label!("Attachment")) }
                    dd { (attachment.device.as_deref().or(attachment.file.as_deref()).unwrap_or("–")) " " (attachment.mountpoint.as_deref().unwrap_or("")) }
                }
                @if let Some(cost) = &volume.cost {
                    dt { (label!("Cost")) }
                    dd { @for part in &cost.parts { div { (part.like) ": " (part.cost) " " (cost.currency) } } }
                }
                @for doubt in &volume.doubts { dt { (label!("Doubt")) } dd { (doubt) } }
            }
        }
    }
}

#[derive(Serialize)]
struct VolumeHistory {
    /// Current second since 1970.
    now_s: u64,
    /// Length of a second of the model, in seconds.
    step_s: u64,
    /// Second since 1970, IOPS, bytes per second, p50 and p99 in nanoseconds, and whether the second is faithful; seconds
    /// without replies are left out.
    seconds: Vec<(u64, u64, u64, u64, u64, bool)>,
    /// Level changes.
    marks: Vec<LevelChange>,
}

/// Recent seconds of a volume as JSON.
pub fn serialise_history(shared: &ConsoleState, name: &str, seconds: usize) -> Option<String> {
    let stats = shared.service.stats(name).ok()?;
    let (now_s, step_s) = (live::now_ms() / 1_000, u64::from(stats.slow));
    let recent = &stats.periods[stats.periods.len().saturating_sub(seconds)..];
    let second = |period: &plimsoll_service::api::Period| {
        let is_faithful = period.verdict == "faithful";
        let age_s = stats.now_s.saturating_sub(period.start_s) * step_s;
        (now_s.saturating_sub(age_s), period.ops, period.bytes, period.p50_ns, period.p99_ns, is_faithful)
    };
    let seconds = recent.iter().map(second).collect();
    let history = VolumeHistory { now_s, step_s, seconds, marks: shared.service.level_changes(name).ok()? };
    serde_json::to_string(&history).ok()
}

/// An attachment of a volume as a block device of the host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttachRequest {
    /// Mount point; without it there is only a device.
    mountpoint: Option<String>,
    /// Filesystem to create: `ext4` or `xfs`.
    mkfs: Option<String>,
}

/// Attaches a volume to the host.
pub fn attach(shared: &ConsoleState, input: &Input) -> WebResult {
    let AttachRequest { mountpoint, mkfs } = input.read()?;
    let find =
        |name: &String| Filesystem::find(name).ok_or_else(|| WebRefusal::bad(say!("{name}: choose ext4 or xfs")));
    let options = AttachOptions {
        name: input.part(0).to_owned(),
        mountpoint: mountpoint.filter(|point| !point.trim().is_empty()).map(Into::into),
        filesystem: mkfs.filter(|name| !name.is_empty()).as_ref().map(find).transpose()?,
        ..AttachOptions::default()
    };
    block_device::attach(&control(shared)?, &options, &|_| ()).map_err(|error| refuse_attachment(&error))?;
    Ok(WebAnswer::Done)
}

/// Detaches a volume from the host.
pub fn detach(shared: &ConsoleState, input: &Input) -> WebResult {
    block_device::detach(&control(shared)?, input.part(0)).map_err(|error| refuse_attachment(&error))?;
    Ok(WebAnswer::Done)
}

/// Client of the service: attachments take steps outside of it.
fn control(shared: &ConsoleState) -> Result<Client, WebRefusal> {
    let directory = shared.service.about()?.directory;
    Client::of_directory(Path::new(&directory)).map_err(|error| WebRefusal::bad(error.to_string()))
}

/// The error with its cause.
fn refuse_attachment(error: &AttachError) -> WebRefusal {
    let source = std::error::Error::source(error);
    WebRefusal::bad(source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}")))
}
