//! Processor model from `/proc/cpuinfo`, whose format depends on the architecture.

use super::value;

/// Implementer, part, name of ARM server processors, from the tables of `lscpu`.
const ARM_PARTS: &[(&str, &str, &str)] = &[
    ("0x41", "0xd08", "ARM Cortex-A72"),
    ("0x41", "0xd0b", "ARM Cortex-A76"),
    ("0x41", "0xd0c", "ARM Neoverse-N1"),
    ("0x41", "0xd40", "ARM Neoverse-V1"),
    ("0x41", "0xd49", "ARM Neoverse-N2"),
    ("0x41", "0xd4f", "ARM Neoverse-V2"),
    ("0x41", "0xd84", "ARM Neoverse-V3"),
    ("0x41", "0xd8e", "ARM Neoverse-N3"),
    ("0x48", "0xd01", "HiSilicon Kunpeng-920"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1a"),
];

/// The first processor's model.
pub(super) fn model(cpuinfo: &str) -> Option<String> {
    // Key by architecture: x86 and s390 "model name", MIPS "cpu model", POWER "cpu", RISC-V "uarch".
    let named = ["model name", "cpu model", "cpu", "uarch"].iter().find_map(|key| value(cpuinfo, key));
    named.map(str::to_owned).or_else(|| arm(cpuinfo))
}

fn arm(cpuinfo: &str) -> Option<String> {
    let implementer = value(cpuinfo, "CPU implementer")?;
    let part = value(cpuinfo, "CPU part")?;
    let entry = ARM_PARTS.iter().find(|(by, which, _)| *by == implementer && *which == part);
    Some(entry.map_or_else(|| format!("ARM implementer {implementer} part {part}"), |(_, _, name)| (*name).to_owned()))
}
