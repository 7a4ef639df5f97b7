//! A simulated server: disks with adjacent addresses behind the limits of a machine.

use plimsoll_model::{ChainSpec, Invalid, Named, StageSpec};
use plimsoll_record::{CreditLevel, Source, Subject};
use plimsoll_units::Bytes;

use super::plan::NamedDisk;
use crate::ground::{Facts, Model, Nature};

/// The model of a server of these disks, each with its name and stages in `models`, and of its machine, if any.
///
/// # Errors
/// The stages do not fit together.
pub fn simulated_server(
    disks: &[NamedDisk],
    models: Vec<(String, ChainSpec)>,
    machine: Option<(String, ChainSpec)>,
    credits: Option<CreditLevel>,
    seed: u64,
) -> Result<Model, Invalid> {
    let named = disks.iter().zip(&models).map(|(disk, (name, _))| format!("{} = {name}", disk.path.display()));
    let machine_name = machine.iter().map(|(name, _)| format!("on {name}"));
    let name = named.chain(machine_name).collect::<Vec<_>>().join(", ");
    let chain = concat(disks, models.into_iter().map(|(_, model)| model), machine.map(|(_, limits)| limits))?;
    let size = Bytes::new(disks.iter().map(|disk| disk.size.get()).sum());
    let subject = Subject { name, kind: "server".into(), size, device: None };
    let source = Source::Simulated { model: chain.to_string(), credits };
    let devices = disks.iter().map(|disk| disk.size).collect();
    let facts = Facts { stages: chain.names(), devices, ..Facts::new(Nature::Model, source, subject) };
    Ok(Model::new(&chain, seed, facts))
}

fn concat(
    disks: &[NamedDisk],
    models: impl DoubleEndedIterator<Item = ChainSpec> + ExactSizeIterator,
    machine: Option<ChainSpec>,
) -> Result<ChainSpec, Invalid> {
    let all = models.zip(disks).rev().fold(None, |rest: Option<ChainSpec>, (first, disk)| match rest {
        None => Some(first),
        Some(rest) => {
            let both = StageSpec::Concat { size: disk.size, first, rest };
            Some(ChainSpec::nested(vec![both.into()]))
        }
    });
    let limits = machine.map(|chain| chain.stages().to_vec()).unwrap_or_default();
    let stages: Vec<Named> = limits.into_iter().chain(all.unwrap_or_default().stages().to_vec()).collect();
    ChainSpec::new(stages)
}
