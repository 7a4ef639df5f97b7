//! Completion in shells: the registration of each shell, and the values of arguments.

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use plimsoll_catalogue::{Catalogue, Product, ProductKind, built_in_requirements};
use plimsoll_choose::GATE_FIGURES;
use plimsoll_measure::{BUILT_IN, LAST, name_run};
use plimsoll_service::api::Volume;

use crate::args::{self, ReachArgs, TermsArgs};
use crate::offers::read_offers;
use crate::store;
use crate::volumes::home;

/// Environment variable with the name of the shell that completes a command.
pub const VARIABLE: &str = "COMPLETE";
/// Name of the command in shells.
const PROGRAM: &str = "plimsoll";

/// The code with which a shell completes commands by calling this program.
pub fn registration(shell: &str) -> Vec<u8> {
    let mut code = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(shell).expect("the shell is one of those that clap has");
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut code).expect("writing to memory does not fail");
    if shell.name() == "zsh" {
        // A file of `fpath` is the body of the function: its first call defines the completer, and has to complete too.
        code.extend_from_slice(
            b"if [[ $funcstack[1] == _plimsoll ]]; then _clap_dynamic_completer_plimsoll \"$@\"; fi\n",
        );
    }
    code
}

/// The command with the values of its arguments. Files are completed where the type of an argument is a path.
pub fn build_command() -> Command {
    let command = args::build_command().mut_subcommand("presets", |presets| {
        presets.mut_arg("name", |name| name.add(ArgValueCompleter::new(Values(list_presets))))
    });
    let volume_names = |argument: Arg| match argument.get_id().as_str() {
        "name" | "names" | "from" => argument.add(ArgValueCompleter::new(Values(list_volumes))),
        _ => argument,
    };
    let command = command.mut_subcommand("volume", |volume| {
        volume.mut_subcommands(|sub| match sub.get_name() {
            "create" | "group" => sub,
            _ => sub.mut_args(volume_names),
        })
    });
    add_values(command)
}

fn add_values(command: Command) -> Command {
    command.mut_args(add_value).mut_subcommands(add_values)
}

fn add_value(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match name.as_deref().unwrap_or_default() {
        "CONFIG" | "PRODUCT" | "CONFIG|MODEL" => argument.add(ArgValueCompleter::new(Values(list_products))),
        "PATH|URI|CONFIG" | "PATH|CONFIG|URI" => argument.add(ArgValueCompleter::new(ValuesOrFiles(list_products))),
        "MACHINE" | "MACHINE|MODEL" => argument.add(ArgValueCompleter::new(Values(list_machines))),
        "RUN" | "RUNS" | "AFTER" => argument.add(ArgValueCompleter::new(ValuesOrFiles(list_runs))),
        "NAME|FILE" => argument.add(ArgValueCompleter::new(ValuesOrFiles(list_presets))),
        "REQUIREMENT" => argument.add(ArgValueCompleter::new(ValuesOrFiles(list_requirements))),
        "CONDITION" => argument.add(ArgValueCompleter::new(Values(list_figures))),
        _ => argument,
    }
}

/// Values that begin with the word to be completed.
struct Values(fn() -> Vec<CompletionCandidate>);

struct ValuesOrFiles(fn() -> Vec<CompletionCandidate>);

impl ValueCompleter for Values {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let begins = |candidate: &CompletionCandidate| {
            candidate.get_value().as_encoded_bytes().starts_with(current.as_encoded_bytes())
        };
        self.0().into_iter().filter(begins).collect()
    }
}

impl ValueCompleter for ValuesOrFiles {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let mut candidates = Values(self.0).complete(current);
        candidates.extend(PathCompleter::any().complete(current));
        candidates
    }
}

fn list_products() -> Vec<CompletionCandidate> {
    let Some(catalogue) = load_catalogue() else { return Vec::new() };
    let products = catalogue.products().filter(|product| product.kind() != ProductKind::Machine);
    let title = |product: &Product| Some(product.title().to_owned().into());
    products.map(|product| CompletionCandidate::new(product.name()).help(title(product))).collect()
}

fn list_machines() -> Vec<CompletionCandidate> {
    let Some(catalogue) = load_catalogue() else { return Vec::new() };
    catalogue.products().flat_map(Product::machines).map(CompletionCandidate::new).collect()
}

/// The catalogue with the user's products. The command itself reports files that cannot be read.
fn load_catalogue() -> Option<Catalogue> {
    Some(read_offers(&TermsArgs::default()).ok()?.catalogue)
}

/// Kept runs, newest first.
fn list_runs() -> Vec<CompletionCandidate> {
    let names = store::runs().list().into_iter().rev().map(|path| CompletionCandidate::new(name_run(&path)));
    std::iter::once(CompletionCandidate::new(LAST)).chain(names).collect()
}

fn list_presets() -> Vec<CompletionCandidate> {
    BUILT_IN.iter().map(|(name, _)| CompletionCandidate::new(*name)).collect()
}

fn list_requirements() -> Vec<CompletionCandidate> {
    built_in_requirements().map(|(name, _)| CompletionCandidate::new(name)).collect()
}

fn list_figures() -> Vec<CompletionCandidate> {
    GATE_FIGURES.into_iter().map(CompletionCandidate::new).collect()
}

/// Volumes of the service of this user; none without a service.
fn list_volumes() -> Vec<CompletionCandidate> {
    let client = home::client(&ReachArgs { service: None, token_file: None });
    let volumes: Option<Vec<Volume>> = client.ok().and_then(|client| client.fetch("/v1/volumes").ok());
    volumes.unwrap_or_default().into_iter().map(|volume| CompletionCandidate::new(volume.name)).collect()
}
