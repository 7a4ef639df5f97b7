//! How the operator travels to executors.

use std::sync::{Arc, OnceLock};

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use super::operator::{ReplayExec, ReplaySpec};

/// First bytes of an encoded operator of any version.
const FAMILY: &[u8] = b"plimsoll-fleet replay ";
/// Version that this process claims to be, to exercise clusters of several versions; its own if unset.
pub static CLAIMED_VERSION: OnceLock<String> = OnceLock::new();
/// First bytes of an encoded operator of this version.
const TAG: &[u8] = concat!("plimsoll-fleet replay ", env!("CARGO_PKG_VERSION"), " format 3\n").as_bytes();

/// Ballista's codec, and that of the operator.
#[derive(Debug, Default)]
pub struct FleetCodec {
    ballista: BallistaPhysicalExtensionCodec,
}

impl PhysicalExtensionCodec for FleetCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !bytes.starts_with(FAMILY) {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        }
        let other = || {
            DataFusionError::Plan(
                "the plan is of another version of plimsoll-fleet: run client, scheduler and executors of one version"
                    .to_owned(),
            )
        };
        let claimed = CLAIMED_VERSION.get().map(|version| [FAMILY, version.as_bytes(), b" "].concat());
        let encoded = bytes.strip_prefix(claimed.as_deref().unwrap_or(TAG)).ok_or_else(other)?;
        let spec: ReplaySpec = serde_json::from_slice(encoded).map_err(|_| other())?;
        let [input] = inputs else { return Err(other()) };
        Ok(Arc::new(ReplayExec::new(Arc::clone(input), Arc::new(spec))))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(replay) = node.downcast_ref::<ReplayExec>() else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend_from_slice(TAG);
        serde_json::to_writer(bytes, &*replay.spec).map_err(|error| DataFusionError::External(Box::new(error)))
    }
}
