//! Modifications of volumes: type, size, IOPS and throughput, and how many are allowed in a day.

use plimsoll_service::api::{Level, Resize};

use super::error::Ec2Error;
use super::query::{Query, selects};
use super::volumes::{check_multi_attach, check_settings, configuration, find, read_settings, volume_state};
use super::xml::Element;
use super::{Ec2Result, page};
use crate::cloud::{Operation, VolumeEntry, moment};
use crate::record::{Ec2Settings, Modification, Provider};

/// The rule of modifications in a rolling period.
const PERIOD: &str = "ec2_modification_period";

/// `ModifyVolume`.
pub(super) fn modify(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId", "Size", "VolumeType", "Iops", "Throughput", "MultiAttachEnabled"])?;
    let mut volume = find(operation, query.required("VolumeId")?)?;
    let (id, now_ns) = (volume.record.id.clone(), operation.now_ns);
    if let state @ "creating" = volume_state(&volume, now_ns) {
        return Err(Ec2Error::state(format!("Volume '{id}' is '{state}'.")));
    }
    let earlier_ns = check_rate(operation, &volume)?;
    let from = read_settings(&volume);
    let to = target(query, &from)?;
    if to == from {
        let message = format!("The volume {id} has these settings already.");
        return Err(Ec2Error::new("InvalidParameterCombination", message));
    }
    operation.service().check_configuration(&configuration(&to))?;
    query.end_dry_run()?;
    apply(operation, &volume, &from, &to)?;
    let optimizing = operation.cloud.durations.nanos("ec2_optimizing_1tib") / 1_024 * to.size_gib;
    let modified_ns = now_ns.saturating_add(operation.cloud.durations.nanos("ec2_modifying"));
    volume.record.earlier_modifications_ns = earlier_ns;
    volume.record.modification = Some(Modification {
        started_ns: now_ns,
        modified_ns,
        ended_ns: modified_ns.saturating_add(optimizing),
        from,
        to,
    });
    operation.store(&volume)?;
    let fields = volume.record.modification.as_ref().map(|modification| build_fields(operation, &volume, modification));
    Ok(vec![Element::new("volumeModification", fields.unwrap_or_default())])
}

/// Starts of the modifications within the period before now. Refuses a further one while the last is in progress, and
/// beyond the number allowed in the period.
fn check_rate(operation: &Operation<'_>, volume: &VolumeEntry) -> Result<Vec<u64>, Ec2Error> {
    let VolumeEntry { record, .. } = volume;
    if record.modification.as_ref().is_some_and(|last| operation.now_ns < last.ended_ns) {
        let message = format!("{} is being modified: wait until the modification is completed.", record.id);
        return Err(Ec2Error::new("IncorrectModificationState", message));
    }
    let durations = &operation.cloud.durations;
    let (period_ns, allowed) = (durations.nanos(PERIOD), durations.count(PERIOD));
    let last = record.modification.iter().map(|last| last.started_ns);
    let starts = record.earlier_modifications_ns.iter().copied().chain(last);
    let recent: Vec<u64> = starts.filter(|start| operation.now_ns < start.saturating_add(period_ns)).collect();
    match recent.len().checked_sub(allowed) {
        None => Ok(recent),
        Some(first) => {
            let until = moment(recent[first].saturating_add(period_ns));
            let message = format!(
                "You've reached the maximum modification rate per volume limit: up to {allowed} modifications in a \
                 rolling 24-hour period. The next modification is possible at {until}."
            );
            Err(Ec2Error::new("VolumeModificationRateExceeded", message))
        }
    }
}

/// Settings after a modification: those that are not named stay, if the new type has them.
fn target(query: &Query, from: &Ec2Settings) -> Result<Ec2Settings, Ec2Error> {
    let volume_type = query.get("VolumeType").unwrap_or(&from.volume_type).to_owned();
    let size_gib = query.number("Size")?.unwrap_or(from.size_gib);
    if size_gib < from.size_gib {
        let message = format!("New size cannot be smaller than existing size ({} GiB)", from.size_gib);
        return Err(Ec2Error::value(message));
    }
    let keeps = volume_type == from.volume_type && volume_type != "gp2";
    // A volume of io1 that becomes io2 keeps its IOPS; one that becomes gp3 gets what is included.
    let keeps_iops = keeps || (["io1", "io2"].contains(&volume_type.as_str()) && from.volume_type.starts_with("io"));
    let retained = |is_kept: bool, value: Option<u64>| value.filter(|_| is_kept);
    let mut to = Ec2Settings {
        iops: query.number("Iops")?.or(retained(keeps_iops, from.iops)),
        throughput: query.number("Throughput")?.or(retained(keeps, from.throughput)),
        volume_type,
        size_gib,
    };
    check_settings(&to)?;
    check_multi_attach(query, &to.volume_type)?;
    if to.volume_type == "gp3" {
        let (iops, throughput) = equivalent_of_gp2(from);
        (to.iops, to.throughput) = (to.iops.or(Some(iops)), to.throughput.or(Some(throughput)));
    }
    if to.volume_type == "gp2" {
        to.iops = None;
    }
    Ok(to)
}

/// IOPS and throughput in MiB/s of a gp3 volume that are not named: the baseline, or those of the gp2 volume that it was, if
/// higher (EBS user guide, Requirements for volume modifications, read 2026-11-26).
fn equivalent_of_gp2(from: &Ec2Settings) -> (u64, u64) {
    let Ec2Settings { volume_type, size_gib, iops, .. } = from;
    if volume_type != "gp2" {
        return (3_000, 125);
    }
    (iops.unwrap_or(0).max(3_000), if *size_gib <= 170 { 128 } else { 250 })
}

fn apply(
    operation: &Operation<'_>,
    volume: &VolumeEntry,
    from: &Ec2Settings,
    to: &Ec2Settings,
) -> Result<(), Ec2Error> {
    let name = &volume.summary.name;
    let level = Level { to: configuration(to), force_detach: false };
    operation.service().level(name, &level)?;
    if to.size_gib > from.size_gib {
        operation.service().resize(name, &Resize::to_bytes(to.size_gib << 30))?;
    }
    Ok(())
}

/// State and progress in percent of a modification.
fn progress(modification: &Modification, now_ns: u64) -> (&'static str, u64) {
    let Modification { started_ns, modified_ns, ended_ns, .. } = *modification;
    if now_ns < modified_ns {
        ("modifying", 0)
    } else if now_ns < ended_ns {
        let total = ended_ns.saturating_sub(started_ns).max(1);
        ("optimizing", u64::try_from(u128::from(now_ns - started_ns) * 100 / u128::from(total)).unwrap_or(100).min(99))
    } else {
        ("completed", 100)
    }
}

fn build_fields(operation: &Operation<'_>, volume: &VolumeEntry, modification: &Modification) -> Vec<Element> {
    let (state, percent) = progress(modification, operation.now_ns);
    let mut fields = vec![
        Element::text("volumeId", &volume.record.id),
        Element::text("modificationState", state),
        Element::text("progress", percent),
        Element::text("startTime", moment(modification.started_ns)),
    ];
    if state == "completed" {
        fields.push(Element::text("endTime", moment(modification.ended_ns)));
    }
    let Modification { from, to, .. } = modification;
    for (settings, [volume_type, size, iops, throughput]) in [
        (to, ["targetVolumeType", "targetSize", "targetIops", "targetThroughput"]),
        (from, ["originalVolumeType", "originalSize", "originalIops", "originalThroughput"]),
    ] {
        fields.push(Element::text(volume_type, &settings.volume_type));
        fields.push(Element::text(size, settings.size_gib));
        fields.extend(settings.iops.map(|value| Element::text(iops, value)));
        fields.extend(settings.throughput.map(|value| Element::text(throughput, value)));
    }
    fields
}

/// `DescribeVolumesModifications`.
pub(super) fn describe(operation: &mut Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["VolumeId.", "Filter.", "MaxResults", "NextToken"])?;
    query.end_dry_run()?;
    let (required, filters) = (query.list("VolumeId"), query.filters());
    let volumes = match required.as_slice() {
        [] => operation.volumes(Provider::Ec2).into_iter().filter(|volume| volume.summary.writable).collect(),
        ids => ids.iter().map(|id| find(operation, id)).collect::<Result<Vec<VolumeEntry>, Ec2Error>>()?,
    };
    let mut items = Vec::new();
    for volume in &volumes {
        let Some(modification) = &volume.record.modification else {
            if required.is_empty() {
                continue;
            }
            let message = format!("Modification for volume '{}' does not exist.", volume.record.id);
            return Err(Ec2Error::new("InvalidVolumeModification.NotFound", message));
        };
        let (state, _) = progress(modification, operation.now_ns);
        let is_selected = selects(&filters, |name| match name {
            "volume-id" => Some(vec![volume.record.id.clone()]),
            "modification-state" => Some(vec![state.to_owned()]),
            "target-size" => Some(vec![modification.to.size_gib.to_string()]),
            "target-volume-type" => Some(vec![modification.to.volume_type.clone()]),
            "original-size" => Some(vec![modification.from.size_gib.to_string()]),
            "original-volume-type" => Some(vec![modification.from.volume_type.clone()]),
            _ => None,
        })?;
        if is_selected {
            items.push(Element::item(build_fields(operation, volume, modification)));
        }
    }
    page(query, "volumeModificationSet", items)
}
