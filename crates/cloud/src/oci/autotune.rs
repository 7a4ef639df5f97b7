//! Policies of automatic level changes, and the automation of the service that carries them out.

use plimsoll_service::api::Autotune;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::OciError;
use crate::cloud::{Operation, VolumeEntry};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "autotuneType", deny_unknown_fields)]
pub(super) enum AutotunePolicy {
    #[serde(rename = "PERFORMANCE_BASED")]
    Performance {
        #[serde(rename = "maxVpusPerGB")]
        max_vpus_per_gb: u32,
    },
    #[serde(rename = "DETACHED_VOLUME")]
    Detached {},
}

#[derive(Clone, Debug, Default)]
pub(super) struct Policies(Vec<AutotunePolicy>);

impl Policies {
    /// Policies of a request, or else the stored ones. The deprecated flag `isAutoTuneEnabled` adds or removes the policy
    /// of detached volumes.
    pub(super) fn new(given: Option<Vec<AutotunePolicy>>, stored: &[Value], enabled: Option<bool>) -> Self {
        let stored = || stored.iter().filter_map(|policy| serde_json::from_value(policy.clone()).ok()).collect();
        let mut policies: Vec<AutotunePolicy> = given.unwrap_or_else(stored);
        let is_detached = |policy: &AutotunePolicy| matches!(policy, AutotunePolicy::Detached {});
        match enabled {
            Some(true) if !policies.iter().any(is_detached) => policies.push(AutotunePolicy::Detached {}),
            Some(false) => policies.retain(|policy| !is_detached(policy)),
            Some(true) | None => {}
        }
        Self(policies)
    }

    /// The policies as views have them.
    pub(super) fn views(&self) -> Vec<Value> {
        self.0.iter().map(|policy| serde_json::to_value(policy).unwrap_or_default()).collect()
    }

    /// Automation for a volume of this level; `None` without policies.
    pub(super) fn automation(&self, operation: &Operation<'_>, level: u32) -> Result<Option<Autotune>, OciError> {
        let mut autotune = Autotune::default();
        for policy in &self.0 {
            match policy {
                AutotunePolicy::Performance { max_vpus_per_gb } if *max_vpus_per_gb <= level => {
                    let message = format!("maxVpusPerGB is {max_vpus_per_gb}: it has to be above vpusPerGB, {level}");
                    return Err(OciError::invalid(message));
                }
                AutotunePolicy::Performance { max_vpus_per_gb } => {
                    (autotune.default, autotune.max) = (Some(level), Some(*max_vpus_per_gb));
                }
                AutotunePolicy::Detached {} => {
                    autotune.detached_after_ns = Some(operation.cloud.durations.nanos("detached_autotune"));
                }
            }
        }
        Ok((!self.0.is_empty()).then_some(autotune))
    }
}

/// Replaces the automation of a volume.
pub(super) fn set(operation: &Operation<'_>, volume: &VolumeEntry, autotune: Option<Autotune>) -> Result<(), OciError> {
    let name = &volume.summary.name;
    match autotune {
        Some(autotune) => drop(operation.service().set_autotune(name, &autotune)?),
        None if volume.summary.autotune.is_some() => drop(operation.service().clear_autotune(name)?),
        None => {}
    }
    Ok(())
}
