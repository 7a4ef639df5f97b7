//! The shape of a machine: processors, memory, network and number of volumes.

use std::sync::Arc;

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::expression::Expression;
use crate::offer::Offer;
use crate::product::{Machines, ProductKind};

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// The shape of a machine. A figure that the catalogue does not have is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MachineShape {
    /// Its name: `oci/VM.Standard.E5.Flex`.
    pub name: Arc<str>,
    /// Virtual processors: hardware threads, or cores where the machine has one thread for each core.
    pub vcpus: Option<f64>,
    /// The mean number of them that may run without end: less on burstable machines, whose credits run out.
    pub sustained_vcpus: Option<f64>,
    /// Memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Option<Bytes>,
    /// Bits per second of the network that carries its volumes, in each direction.
    pub network_bits_per_second: Option<f64>,
    /// Volumes that can be attached, at most.
    pub volumes: Option<u32>,
    /// True if its processors are Arm instead of x86-64.
    pub arm: bool,
}

impl Offer {
    /// The machine that the volume is attached to, or that is offered itself; the instance class of a managed database.
    /// `None` without a machine or class.
    pub fn machine_shape(&self) -> Option<MachineShape> {
        if self.product().managed().is_some() {
            return self.class_shape();
        }
        let is_machine = self.volume.product.kind == ProductKind::Machine;
        let machine = self.machine.as_ref().or_else(|| is_machine.then_some(&self.volume))?;
        let Machines { vcpus, sustained_vcpus, memory_gib, network_gbps, volumes, arm, .. } =
            machine.product.machines.as_ref()?;
        let number = |expression: &Option<Expression>| expression.as_ref()?.number(&machine.values);
        Some(MachineShape {
            name: Arc::clone(&machine.name),
            vcpus: number(vcpus),
            sustained_vcpus: number(sustained_vcpus).or_else(|| number(vcpus)),
            memory: number(memory_gib).map(|gib| Bytes::new((gib * GIB).round() as u64)),
            network_bits_per_second: number(network_gbps).map(|gbps| gbps * 1e9),
            volumes: number(volumes).map(|volumes| volumes as u32),
            arm: number(arm) == Some(1.0),
        })
    }

    /// The shape of the instance class: the columns `vcpus`, `memory_gib` and `arm` of the tiers.
    fn class_shape(&self) -> Option<MachineShape> {
        let tiers = self.product().tiers.as_ref()?;
        let row = &tiers.rows[self.volume.tier?];
        let number = |name: &str| row.cells[tiers.columns.iter().position(|column| column == name)?].as_number();
        let vcpus = number("vcpus");
        Some(MachineShape {
            name: Arc::clone(&row.name),
            vcpus,
            sustained_vcpus: vcpus,
            memory: number("memory_gib").map(|gib| Bytes::new((gib * GIB).round() as u64)),
            network_bits_per_second: None,
            volumes: None,
            arm: number("arm") == Some(1.0),
        })
    }
}
