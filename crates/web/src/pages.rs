//! Pages of volumes: the overview, and a volume with its level slider, charts and operations.

use std::path::Path;

use maud::{Markup, html};
use plimsoll_service::api::{LevelChange, Volume};
use plimsoll_service::block_device::{self, AttachError, AttachOptions, Filesystem};
use plimsoll_service::client::Client;
use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::answer::{Input, WebAnswer, WebRefusal, WebResult};
use crate::commands::PRESETS;
use crate::language::Language;
use crate::layout::{self, Frame};
use crate::{ConsoleState, live, story};

/// All volumes, groups, and the form that creates a volume.
pub fn volumes(shared: &ConsoleState, input: &Input) -> WebResult {
    let l = input.language;
    let groups = shared.service.groups()?;
    let about = shared.service.about()?;
    let frame =
        Frame { title: l.pick("Volumes", "ボリューム"), place: "/", scripts: &["volumes.js"], language: l };
    let content = html! {
        h1 { (l.pick("Volumes", "ボリューム")) }
        dl class="tiles" id="sum" {
            (tile("sum-volumes", l.pick("Volumes", "ボリューム")))
            (tile("sum-iops", "IOPS"))
            (tile("sum-mbps", "MB/s"))
            (tile("sum-cost", l.pick("Cost so far", "累計費用")))
            (tile("sum-faithful", l.pick("Faithful / busy", "モデルどおり / 稼働中")))
        }
        div class="scroll" tabindex="0" role="region" aria-label=(l.pick("Volumes", "ボリューム一覧")) {
            table id="volumes" data-snapshot=(l.pick("snapshot", "スナップショット")) {
                thead { tr {
                    th scope="col" { (l.pick("Name", "名前")) }
                    th scope="col" { "IOPS" }
                    th scope="col" { "MB/s" }
                    th scope="col" { "p50" }
                    th scope="col" { "p99" }
                    th scope="col" { (l.pick("Queue depth", "キュー深度")) }
                    th scope="col" class="l" { (l.pick("Last minute", "直近1分")) }
                    th scope="col" class="l" { (l.pick("Emulation", "エミュレーション")) }
                    th scope="col" { (l.pick("Size", "容量")) }
                    th scope="col" { (l.pick("Cost so far", "累計費用")) }
                } }
                tbody {}
            }
        }
        p id="none" class="lead" hidden {
            (l.pick("There are no volumes. Create one below.", "ボリュームがありません。下のフォームで作成してください。"))
        }
        (create_form(l, &groups))
        section class="card" {
            h2 { (l.pick("Groups", "グループ")) }
            p class="lead" { (l.pick("Volumes of a group share the limits of an instance.", "同じグループのボリュームは、インスタンスの上限を共有します。")) }
            @if !groups.is_empty() {
                ul class="plain" { @for group in &groups {
                    li { strong { (group.name) } " " (group.like) " "
                        button type="button" class="quiet" data-action="delete-group" data-name=(group.name) { (l.pick("Delete", "削除")) } }
                } }
            }
            form id="group" class="row" {
                label { (l.pick("Name", "名前")) input name="name" required maxlength="64"; }
                label class="wide" { (l.pick("Instance", "インスタンス")) input name="like" required placeholder="oci/VM.Standard.E4.Flex:16ocpu"; }
                button { (l.pick("Create group", "グループを作成")) }
            }
        }
        p class="lead" {
            (l.pick("Data directory", "データディレクトリ")) ": " (about.directory) "; "
            (Bytes::new(about.used_bytes)) (l.pick(" used of ", " 使用 / ")) (Bytes::new(about.capacity_bytes)) ". "
            @if about.slow > 1 { (l.pick("Model time is slower than the clock by a factor of ", "モデル時間は実時間より遅く進みます。倍率: ")) (about.slow) "." }
        }
    };
    Ok(layout::page(&frame, &content))
}

fn tile(id: &str, name: &str) -> Markup {
    html! { div { dt { (name) } dd id=(id) { "–" } } }
}

fn create_form(l: Language, groups: &[plimsoll_service::api::Group]) -> Markup {
    html! {
        section class="card" {
            h2 { (l.pick("Create a volume", "ボリュームを作成")) }
            form id="create" {
                div class="row" {
                    label { (l.pick("Name", "名前")) input name="name" required maxlength="64" autocomplete="off" pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*"; }
                    label class="wide" {
                        (l.pick("Product or configuration", "製品または構成"))
                        input name="like" required autocomplete="off" role="combobox" aria-expanded="false" aria-controls="products"
                            aria-autocomplete="list" placeholder="oci:100GB@10vpu";
                    }
                    @if !groups.is_empty() {
                        label { (l.pick("Group", "グループ")) select name="group" {
                            option value="" { "–" } @for group in groups { option { (group.name) } }
                        } }
                    }
                }
                ul id="products" class="options" role="listbox" aria-label=(l.pick("Products", "製品")) hidden {}
                (sliders(l))
                (figures(l))
                p { button { (l.pick("Create", "作成")) } }
            }
        }
    }
}

/// Sliders of level and size; hidden until a configuration has them.
fn sliders(l: Language) -> Markup {
    html! {
        div class="sliders" {
            label class="slider" data-slider="level" hidden {
                span { span class="name" { (l.pick("Level", "レベル")) } " " output {} }
                input type="range" name="level";
            }
            label class="slider" data-slider="size" hidden {
                span { span class="name" { (l.pick("Size", "容量")) } " " output {} }
                input type="range" name="size" min="0" max="1000" step="1";
            }
        }
    }
}

/// Figures that follow the sliders.
fn figures(l: Language) -> Markup {
    html! {
        dl class="tiles figures" hidden {
            div { dt { "IOPS" } dd data-figure="iops" { "–" } dd class="small" data-figure="iops_limit" {} }
            div { dt { "MB/s" } dd data-figure="mbps" { "–" } dd class="small" data-figure="bytes_limit" {} }
            div { dt { (l.pick("A month, USD", "月額 USD")) } dd data-figure="usd" { "–" } }
            div { dt { (l.pick("A month, JPY", "月額 JPY")) } dd data-figure="jpy" { "–" } }
        }
        p class="message" data-figure="message" role="status" {}
    }
}

/// A volume.
pub fn render_volume(shared: &ConsoleState, input: &Input) -> WebResult {
    let l = input.language;
    let volume = shared.service.volume(input.part(0))?;
    let others = shared.service.list()?;
    let case = story::case_of(shared, &volume.name);
    let frame = Frame { title: &volume.name, place: "/", scripts: &["volume.js"], language: l };
    let content = html! {
        div id="volume" data-name=(volume.name) data-size=(volume.size_bytes) data-uri=(volume.uris.first().map_or("", String::as_str))
            data-marks=(l.pick("level", "レベル")) data-sure=(l.pick("Replace all data of the volume?", "ボリュームの全データを置き換えますか？")) {
            h1 { (volume.name) " " small id="like" { (volume.like) } }
            dl class="tiles" {
                (tile("iops", "IOPS"))
                (tile("mbps", "MB/s"))
                (tile("p50", "p50"))
                (tile("p99", "p99"))
                (tile("depth", l.pick("Queue depth", "キュー深度")))
                (tile("clients", l.pick("Clients", "クライアント")))
                (tile("faithful", l.pick("Emulation", "エミュレーション")))
                (tile("cost", l.pick("Cost so far", "累計費用")))
            }
            @if volume.writable { (level_card(l)) }
            div class="charts" {
                section class="card" { h2 { (l.pick("Throughput", "スループット")) } div id="rate" class="plot" role="img" aria-label="IOPS" {} }
                section class="card" { h2 { (l.pick("Response time", "応答時間")) } div id="latency" class="plot" role="img" aria-label="p50, p99" {} }
            }
            p class="lead" {
                (l.pick("Shaded: seconds that did not follow the model, because replies of this host were late or clients were held up.",
                    "網掛け: このホストの応答の遅れなどにより、モデルどおりでなかった秒。"))
            }
            section class="card" {
                h2 { (l.pick("Measure", "測定")) }
                @if let Some(case) = &case { p { (l.pick("Emulates a choice for ", "選定対象: ")) a href={ "/choose/" (case) } { (story::title(shared, case)) } "." } }
                form id="measure" class="row" data-case=[case.as_ref()] {
                    label { (l.pick("Load", "負荷")) select name="preset" { @for preset in PRESETS { option { (preset) } } } }
                    @if volume.writable { label class="check" { input type="checkbox" name="writes"; (l.pick("Measure writes, too: all data of the volume are lost", "書き込みも測定する（ボリュームのデータは失われます）")) } }
                    button { (l.pick("Measure this volume", "このボリュームを測定")) }
                }
            }
            (operations(l, &volume, &others, shared.service.about()?.checksums))
            (faults_card(l, &volume))
            (details(l, &volume))
        }
    };
    Ok(layout::page(&frame, &content))
}

fn level_card(l: Language) -> Markup {
    html! {
        section class="card" id="levels" {
            h2 { (l.pick("Level and size", "レベルと容量")) }
            (sliders(l))
            (figures(l))
            p class="actions" {
                button type="button" id="force" hidden { (l.pick("Disconnect the clients and change", "クライアントを切断して変更")) }
                button type="button" id="grow" hidden { (l.pick("Grow to this size", "この容量に拡張")) }
            }
            form id="other" class="row" {
                label class="wide" { (l.pick("Other settings, or another product", "その他の設定、または別の製品"))
                    input name="to" autocomplete="off" placeholder="20vpu, iops=12000, aws/gp3:100GiB"; }
                button { (l.pick("Change", "変更")) }
            }
        }
    }
}

/// Operations as the control API has them.
fn operations(l: Language, volume: &Volume, others: &[Volume], has_checksums: bool) -> Markup {
    let is_attached = volume.attachment.is_some();
    html! {
        section class="card" {
            h2 { (l.pick("Operations", "操作")) }
            div class="forms" {
                form data-action="snapshot" class="row" {
                    label { (l.pick("Snapshot", "スナップショット")) input name="name" required placeholder={ (volume.name) "-1" }; }
                    button { (l.pick("Create", "作成")) }
                }
                form data-action="clone" class="row" {
                    label { (l.pick("Clone", "クローン")) input name="name" required placeholder={ (volume.name) "-2" }; }
                    button { (l.pick("Create", "作成")) }
                }
                @if volume.writable {
                    form data-action="restore" class="row" {
                        label { (l.pick("Restore from", "復元元")) select name="from" {
                            @for other in others.iter().filter(|other| other.name != volume.name) { option { (other.name) } }
                        } }
                        button { (l.pick("Restore", "復元")) }
                    }
                    (autotune_form(l, volume))
                }
                (recording_form(l, volume))
                (scrub_form(l, has_checksums))
                @if is_attached {
                    form data-action="detach" class="row" { span { (l.pick("Attached to this host", "このホストにアタッチ済み")) } button { (l.pick("Detach", "デタッチ")) } }
                } @else {
                    form data-action="attach" class="row" {
                        label { (l.pick("Attach, mounted at", "アタッチ（マウント先）")) input name="mountpoint" placeholder="/mnt/data"; }
                        label { (l.pick("New filesystem", "新規ファイルシステム")) select name="mkfs" { option value="" { "–" } option { "xfs" } option { "ext4" } } }
                        button { (l.pick("Attach", "アタッチ")) }
                    }
                }
                form data-action="delete" class="row" {
                    label { (l.pick("Delete with all data: type the name", "データごと削除（確認のため名前を入力）")) input name="name" required autocomplete="off" pattern=(volume.name); }
                    button class="danger" { (l.pick("Delete", "削除")) }
                }
            }
        }
    }
}

fn autotune_form(l: Language, volume: &Volume) -> Markup {
    let tune = volume.autotune.clone().unwrap_or_default();
    html! {
        form data-action="autotune" class="row" {
            label { (l.pick("Autotune: default level", "自動チューニング: 既定レベル")) input name="default" type="number" min="0" value=[tune.default]; }
            label { (l.pick("highest", "最大レベル")) input name="most" type="number" min="0" value=[tune.max]; }
            button { (l.pick("Set", "設定")) }
            @if volume.autotune.is_some() { button type="button" class="quiet" data-off="autotune" { (l.pick("Disable", "解除")) } }
        }
    }
}

fn recording_form(l: Language, volume: &Volume) -> Markup {
    html! {
        form data-action=(if volume.recording.is_some() { "stop-recording" } else { "record" }) class="row" {
            @if let Some(file) = &volume.recording {
                span { (l.pick("Recorded to ", "記録中: ")) code { (file) } }
                button { (l.pick("End the recording", "記録を終了")) }
            } @else {
                label { (l.pick("Record requests to a new file of the host", "リクエストの記録先（ホストの新規ファイル）"))
                    input name="file" required pattern="/.*" placeholder={ "/var/tmp/" (volume.name) ".trace" }; }
                button { (l.pick("Record", "記録")) }
            }
        }
    }
}

fn scrub_form(l: Language, has_checksums: bool) -> Markup {
    html! {
        form data-action="scrub" class="row" {
            @if has_checksums {
                span { (l.pick("Compare data with their checksums", "データをチェックサムと照合")) }
                button { (l.pick("Scrub", "スクラブ")) }
                span id="scrub" role="status" data-done=(l.pick("compared, damaged blocks", "照合済み、破損ブロック")) {}
            } @else {
                span class="lead" {
                    (l.pick("Scrub: this data directory has no checksums; plimsoll volume fsck --add-checksums adds them.",
                        "スクラブ: チェックサムがありません。plimsoll volume fsck --add-checksums で追加できます。"))
                }
            }
        }
    }
}

fn faults_card(l: Language, volume: &Volume) -> Markup {
    let faults = volume.faults.clone().unwrap_or_default();
    let number = |name: &str, label: &'static str, value: u64| {
        html! { label { (label) input name=(name) type="number" min="0" value=(value); } }
    };
    let kinds = ["read", "write", "flush", "trim"];
    html! {
        section class="card" {
            h2 { (l.pick("Faults", "障害注入")) }
            form data-action="faults" class="row" {
                label { (l.pick("Requests", "対象")) select name="only" {
                    option value="" { (l.pick("all", "すべて")) }
                    @for kind in kinds { option selected[faults.only.as_deref() == Some(kind)] { (kind) } }
                } }
                (number("errors_ppm", l.pick("Errors, ppm", "エラー (ppm)"), faults.errors_ppm.into()))
                (number("spikes_ppm", l.pick("Delays, ppm", "遅延 (ppm)"), faults.spikes_ppm.into()))
                (number("spike_ms", l.pick("Delay, ms", "遅延時間 (ms)"), if faults.spike_ns > 0 { faults.spike_ns / 1_000_000 } else { 50 }))
                (number("tears_ppm", l.pick("Closed connections, ppm", "接続断 (ppm)"), faults.tears_ppm.into()))
                (number("stall_ms", l.pick("Stall now, ms", "即時停止 (ms)"), 0))
                button { (l.pick("Inject", "注入")) }
                @if volume.faults.is_some() { button type="button" class="quiet" data-off="faults" { (l.pick("Clear", "解除")) } }
            }
        }
    }
}

fn details(l: Language, volume: &Volume) -> Markup {
    html! {
        details class="card" {
            summary { h2 { (l.pick("Details", "詳細")) } }
            dl class="about" {
                dt { (l.pick("Model", "モデル")) } dd { code { (volume.model) } }
                dt { (l.pick("Created", "作成日時")) } dd { (volume.created) @if let Some(of) = &volume.of { " (" (of) ")" } }
                @if let Some(group) = &volume.group { dt { (l.pick("Group", "グループ")) } dd { (group) } }
                @for uri in &volume.uris { dt { "NBD" } dd { code { (uri) } } }
                @if let Some(attachment) = &volume.attachment {
                    dt { (l.pick("Attachment", "アタッチ")) }
                    dd { (attachment.device.as_deref().or(attachment.file.as_deref()).unwrap_or("–")) " " (attachment.mountpoint.as_deref().unwrap_or("")) }
                }
                @if let Some(cost) = &volume.cost {
                    dt { (l.pick("Cost", "費用")) }
                    dd { @for part in &cost.parts { div { (part.like) ": " (part.cost) " " (cost.currency) } } }
                }
                @for doubt in &volume.doubts { dt { (l.pick("Doubt", "注意点")) } dd { (doubt) } }
            }
        }
    }
}

/// History of a volume, compact.
#[derive(Serialize)]
struct VolumeHistory {
    /// Present second since 1970.
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
        |name: &String| Filesystem::find(name).ok_or_else(|| WebRefusal::bad(format!("{name}: choose ext4 or xfs")));
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
