//! The disks of a simulated server: several `--on PATH=CONFIG`, and the machine whose limits they share.

use std::path::PathBuf;

use plimsoll_catalogue::{Like, ProductKind};
use plimsoll_fio::Flags;
use plimsoll_language::{label, say};
use plimsoll_measure::{NamedModel, Offers, read_model};
use plimsoll_record::Finding;
use plimsoll_suite::Model;
use plimsoll_suite::fio::{NamedDisk, simulated_server};

use crate::args::TermsArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;

/// `PATH=CONFIG`; `None` for a configuration alone, whose options have a colon or comma before them.
fn split_path(on: &str) -> Option<(&str, &str)> {
    on.split_once('=').filter(|(path, _)| !path.is_empty() && !path.contains([':', '(', ',']))
}

/// The model of a server and its disks; `None` if the flags name no disk by its path.
pub fn server(flags: &Flags) -> Result<Option<(Model, Vec<NamedDisk>)>, CliError> {
    let with_paths: Vec<_> = flags.on.iter().filter_map(|on| split_path(on)).collect();
    match (with_paths.len(), flags.on.len(), &flags.machine) {
        (0, 0 | 1, None) => return Ok(None),
        (0, 0 | 1, Some(machine)) => {
            let remedy = say!("with a single configuration write --on 'CONFIG on {machine}'");
            return Err(CliError::usage(say!("--machine needs disks, as in --on /data=CONFIG; {remedy}")));
        }
        (with_paths, all, _) if with_paths < all => {
            let why = label!("several --on need the path of each disk, as in --on /=CONFIG --on /data=CONFIG");
            return Err(CliError::usage(why));
        }
        _ => {}
    }
    let mut offers = read_offers(&TermsArgs::default())?;
    let mut disks: Vec<(NamedDisk, NamedModel)> = Vec::new();
    for (path, config) in with_paths {
        let path = PathBuf::from(path);
        if disks.iter().any(|(disk, _)| disk.path == path) {
            return Err(CliError::usage(say!("--on {}=...: given twice", path.display())));
        }
        let model = read_model(config, || Ok::<_, CliError>(&mut offers))?;
        disks.push((NamedDisk { path, size: model.size() }, model));
    }
    let machine = flags.machine.as_deref().map(|machine| machine_limits(machine, &mut offers)).transpose()?;
    let parts = || disks.iter().map(|(_, model)| model).chain(&machine);
    let doubts: Vec<Finding> = parts().flat_map(NamedModel::doubts).collect();
    let credits = parts().find_map(NamedModel::credits);
    let models = disks.iter().map(|(_, model)| (model.name.clone(), model.model.clone())).collect();
    let machine = machine.map(|machine| (machine.name, machine.model));
    let disks: Vec<NamedDisk> = disks.into_iter().map(|(disk, _)| disk).collect();
    let model = simulated_server(&disks, models, machine, credits, flags.seed.unwrap_or(1));
    let model = model.map_err(|why| CliError::usage(format!("--on: {}", why.0)))?;
    Ok(Some((model.doubted(doubts), disks)))
}

/// The limits of a machine, or stages.
fn machine_limits(text: &str, offers: &mut Offers) -> Result<NamedModel, CliError> {
    if let Ok(Like::Stages(model)) = text.parse() {
        return Ok(NamedModel { name: model.to_string(), model, offer: None });
    }
    let offer = offers.offer(text)?;
    if offer.product().kind() != ProductKind::Machine {
        let example = "azure/Standard_D16s_v5";
        return Err(CliError::usage(say!("--machine {text}: not a machine; write one, such as {example}, or stages")));
    }
    let model = offer.limits().map_err(|why| CliError::usage(format!("--machine {text}: {why}")))?;
    Ok(NamedModel { name: offer.short().to_string(), model, offer: Some(offer) })
}
