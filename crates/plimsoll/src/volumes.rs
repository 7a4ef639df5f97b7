//! `plimsoll volume`: converts subcommands to requests of the control API, and prints the responses.

mod attach;
mod ebs;
mod fsck;
pub mod home;
mod iscsi;
pub mod screen;
mod scrub;
mod top;

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use plimsoll_language::{label, say};
use plimsoll_report::Page;
use plimsoll_report::pages::{CompletedChange, volumes as pages};
use plimsoll_service::api::{
    Autotune, Create, Faults, Fork, Group, Level, Recorded, Recording, Resize, Restore, Stats, Volume,
};
use plimsoll_service::client::{Client, ResponseBody, group_path, volume_path};
use plimsoll_service::settings::SizeText;
use plimsoll_units::Span;
use serde::de::DeserializeOwned;

use crate::args::{AutotuneArgs, FaultsArgs, FormArgs, GroupCommand, ReachArgs, VolumeArgs, VolumeCommand};
use crate::cli_error::CliError;
use crate::output::{Forms, put};

pub use attach::show_progress;

/// Executes the subcommand.
pub fn run(args: &VolumeArgs) -> Result<(), CliError> {
    match &args.command {
        VolumeCommand::Fsck { directory, repair, add_checksums } => {
            return fsck::fsck(args, directory.as_deref(), *repair, *add_checksums);
        }
        VolumeCommand::Detach { name, offline: true } => return attach::detach_offline(args, name),
        _ => {}
    }
    let service = ServiceClient::new(&args.reach, &args.forms)?;
    match &args.command {
        VolumeCommand::Create { name, like, size, group, seed, force } => {
            let (name, like, group) = (name.clone(), like.clone(), group.clone());
            let text = size.as_ref().map(|SizeText(text)| text.clone());
            let create = Create { name, like, size: text, group, seed: *seed, force: *force, ..Create::default() };
            let response = service.client.post("/v1/volumes", &create);
            let caution = |volume: &Volume| size.as_ref().and_then(|size| size.caution(volume));
            service.write_page(&response?, |volume| pages::created(volume).with_caution(caution(volume)))
        }
        VolumeCommand::List => service.list(),
        VolumeCommand::Show { name } => service.show(name),
        VolumeCommand::Level { name, to, force_detach } => {
            let body = Level { to: to.clone(), force_detach: *force_detach };
            service.write_page(&service.client.post(&volume_path(name, "level"), &body)?, pages::changed)
        }
        VolumeCommand::Resize { name, size } => {
            let body = Resize { size: Some(size.0.clone()), size_bytes: None };
            let response = service.client.post(&volume_path(name, "resize"), &body)?;
            let device = attach::describe_growth(&service.client.read(&response)?);
            service.write_page(&response, |volume: &Volume| {
                pages::changed_with(volume, device).with_caution(size.caution(volume))
            })
        }
        VolumeCommand::Snapshot { name, snapshot } => {
            let body = Fork { name: snapshot.clone(), like: None };
            service.write_page(&service.client.post(&volume_path(name, "snapshot"), &body)?, pages::created)
        }
        VolumeCommand::Clone { name, clone, like } => {
            let body = Fork { name: clone.clone(), like: like.clone() };
            service.write_page(&service.client.post(&volume_path(name, "clone"), &body)?, pages::created)
        }
        VolumeCommand::Restore { name, from, yes } => {
            service.confirm_restore(name, from, *yes)?;
            let body = Restore { from: from.clone() };
            service.write_page(&service.client.post(&volume_path(name, "restore"), &body)?, pages::changed)
        }
        VolumeCommand::Attach(args) if args.iscsi => iscsi::attach(&service, args),
        VolumeCommand::Attach(args) => attach::attach(&service, args),
        VolumeCommand::Failover { name } => iscsi::fail_over(&service, name),
        VolumeCommand::Detach { name, .. } => attach::detach(&service, name),
        VolumeCommand::Delete { names, yes } => service.delete(names, *yes),
        VolumeCommand::Fsck { .. } => Ok(()),
        VolumeCommand::Scrub { name, rate } => scrub::scrub(&service, name.as_deref(), *rate),
        VolumeCommand::Stats { name, ebs: Some(file) } => service.write_ebs_page(name, file),
        VolumeCommand::Stats { name, ebs: None } => service.stats(name),
        VolumeCommand::Top { names, once } => top::run(&service, names, *once),
        VolumeCommand::Autotune(args) => service.autotune(args),
        VolumeCommand::Faults(args) => service.faults(args),
        VolumeCommand::Record { name, stop: true, .. } => service.stop_recording(name),
        VolumeCommand::Record { name, file, .. } => service.record(name, file.as_deref()),
        VolumeCommand::Group { command } => service.group(command),
    }
}

/// Asks a question on the terminal. Without a terminal, the usage error `needed` names the flag.
fn confirm(question: &str, needed: String) -> Result<bool, CliError> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(CliError::usage(needed));
    }
    write!(std::io::stderr(), "{question} [y/N] ").context(label!("writing to the terminal"))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context(label!("reading from the terminal"))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Client of the service, and output of its responses.
pub struct ServiceClient {
    client: Client,
    forms: Forms,
}

impl ServiceClient {
    pub fn new(reach: &ReachArgs, forms: &FormArgs) -> Result<Self, CliError> {
        Ok(Self { forms: Forms::new(forms)?, client: home::client(reach)? })
    }

    /// Prints and writes the page of a response; JSON is the response itself.
    fn write_page<T: DeserializeOwned>(
        &self,
        response: &ResponseBody,
        page: impl FnOnce(&T) -> Page,
    ) -> Result<(), CliError> {
        let page = page(&self.client.read(response)?);
        self.forms.write(&page, || [&response.0[..], b"\n"].concat())
    }

    fn list(&self) -> Result<(), CliError> {
        self.write_page(&self.client.get("/v1/volumes")?, |volumes: &Vec<Volume>| pages::volumes(volumes))
    }

    fn show(&self, name: &str) -> Result<(), CliError> {
        let response = self.client.get(&volume_path(name, ""))?;
        let stats: Stats = self.client.fetch(&volume_path(name, "stats"))?;
        self.write_page(&response, |volume| pages::details(volume, &stats))
    }

    fn stats(&self, name: &str) -> Result<(), CliError> {
        self.write_page(&self.client.get(&volume_path(name, "stats"))?, |counts| pages::counters(name, counts))
    }

    fn write_ebs_page(&self, name: &str, file: &Path) -> Result<(), CliError> {
        let stats: Stats = self.client.fetch(&volume_path(name, "stats"))?;
        put(file, &ebs::statistics(&stats).to_page())
    }

    /// Lists groups, or instances, which are groups of a machine.
    pub fn list_groups(&self) -> Result<(), CliError> {
        let volumes: Vec<Volume> = self.client.fetch("/v1/volumes")?;
        self.write_page(&self.client.get("/v1/groups")?, |groups: &Vec<Group>| pages::groups(groups, &volumes))
    }

    /// Creates a group, or an instance.
    pub fn create_group(&self, name: &str, like: String, page: impl FnOnce(&Group) -> Page) -> Result<(), CliError> {
        self.write_page(&self.client.post("/v1/groups", &Group { name: name.to_owned(), like })?, page)
    }

    /// Deletes a group, or an instance.
    pub fn delete_group(&self, name: &str, change: fn(String) -> CompletedChange) -> Result<(), CliError> {
        self.client.delete(&group_path(name))?;
        self.forms.write_changes(&[change(name.to_owned())])
    }

    /// Asks before the content of a volume is replaced with that of anything but its own snapshot.
    fn confirm_restore(&self, name: &str, from: &str, is_sure: bool) -> Result<(), CliError> {
        if from == name {
            // The service refuses it.
            return Ok(());
        }
        let source: Volume = self.client.fetch(&volume_path(from, ""))?;
        let is_own = source.of.as_deref() == Some(name) && !source.writable;
        let needed = say!(
            "{from} is no snapshot of {name}: plimsoll volume restore {name} {from} --yes replaces the data of {name} with \
             those of {from}"
        );
        let question = say!("{from} is no snapshot of {name}: replace all data of {name} with those of {from}?");
        if is_own || is_sure || confirm(&question, needed)? {
            return Ok(());
        }
        Err(CliError::usage(label!("nothing was restored")))
    }

    fn delete(&self, names: &[String], is_sure: bool) -> Result<(), CliError> {
        let all = names.join(" ");
        let needed = say!(
            "deleting needs a confirmation: plimsoll volume delete {all} --yes deletes the data of {all} for good"
        );
        if !is_sure && !confirm(&say!("delete {all} with all data?"), needed)? {
            return Err(CliError::usage(label!("nothing was deleted")));
        }
        let mut deleted = Vec::new();
        let outcome = names.iter().try_for_each(|name| {
            self.client.delete(&volume_path(name, ""))?;
            deleted.push(CompletedChange::VolumeDeleted(name.clone()));
            Ok(())
        });
        self.forms.write_changes(&deleted).and(outcome)
    }

    fn autotune(&self, args: &AutotuneArgs) -> Result<(), CliError> {
        let path = volume_path(&args.name, "autotune");
        if args.off {
            return self.write_page(&self.client.delete(&path)?, pages::changed);
        }
        if args.default.is_none() && args.detached_after.is_none() {
            return Err(CliError::usage(label!(
                "nothing to follow: give --default and --most for levels that follow the load, --detached-after for a \
                 volume that rests, or --off"
            )));
        }
        let ns = |span: Option<Span>| span.map(Span::as_nanos);
        let body = Autotune {
            default: args.default,
            max: args.max,
            step: args.step,
            up_after_ns: ns(args.up_after),
            down_first_ns: ns(args.down_first),
            down_next_ns: ns(args.down_next),
            detached_after_ns: ns(args.detached_after),
        };
        self.write_page(&self.client.put(&path, &body)?, pages::changed)
    }

    fn faults(&self, args: &FaultsArgs) -> Result<(), CliError> {
        let path = volume_path(&args.name, "faults");
        if args.off {
            return self.write_page(&self.client.delete(&path)?, pages::changed);
        }
        let body = Faults {
            seed: args.seed,
            only: args.only.clone(),
            errors_ppm: args.errors.0,
            spikes_ppm: args.spikes.0,
            spike_ns: args.spike.map_or(0, Span::as_nanos),
            tears_ppm: args.tears.0,
            stall_ns: args.stall.map_or(0, Span::as_nanos),
        };
        if body == (Faults { seed: args.seed, only: args.only.clone(), ..Faults::default() }) {
            return Err(CliError::usage(label!(
                "no fault was named: give --errors, --spikes, --tears or --stall, or --off"
            )));
        }
        self.write_page(&self.client.put(&path, &body)?, pages::changed)
    }

    fn record(&self, name: &str, file: Option<&Path>) -> Result<(), CliError> {
        let file = file.ok_or_else(|| CliError::usage(label!("name a new file to record to, or give --stop")))?;
        let file = std::path::absolute(file).context(label!("the current directory"))?;
        let body = Recording { file: file.display().to_string() };
        self.write_page(&self.client.put(&volume_path(name, "recording"), &body)?, pages::changed)
    }

    fn stop_recording(&self, name: &str) -> Result<(), CliError> {
        let response = self.client.delete(&volume_path(name, "recording"))?;
        self.write_page(&response, |recorded: &Recorded| pages::recorded(name, recorded))
    }

    fn group(&self, command: &GroupCommand) -> Result<(), CliError> {
        match command {
            GroupCommand::Create { name, like } => self.create_group(name, like.clone(), pages::created_group),
            GroupCommand::List => self.list_groups(),
            GroupCommand::Delete { name } => self.delete_group(name, CompletedChange::GroupDeleted),
        }
    }
}
