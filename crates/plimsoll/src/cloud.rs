//! `plimsoll oci-key`, `oci-config`, `ec2-key` and `instance`: keys and configurations of clients of the control planes, and
//! the instances that their volumes are attached to.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_cloud::{ClientConfigError, Ec2Key, Endpoints, KeyError, OciConfig, OciKey};
use plimsoll_language::{label, say};
use plimsoll_report::pages::CompletedChange;
use plimsoll_report::{
    Block, Column, Page, Table, TableLayout, ec2_key_json, oci_config_json, oci_key_json, oci_keys_json,
};

use crate::args::{Ec2KeyArgs, InstanceArgs, InstanceCommand, OciConfigArgs, OciKeyArgs, OciKeyCommand};
use crate::cli_error::CliError;
use crate::output::Forms;
use crate::volumes::{ServiceClient, home};

/// `plimsoll oci-key`.
pub fn oci_key(args: &OciKeyArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory = home::data_directory(&args.reach)?;
    match &args.command {
        OciKeyCommand::Add { file, user, tenancy } => {
            let pem = std::fs::read_to_string(file).map_err(|error| CliError::reading(file, error))?;
            let key = OciKey::new(tenancy, user, &pem).map_err(key_error)?;
            let line = say!("{} of {} is registered", key.fingerprint, key.user);
            plimsoll_cloud::add_oci_key(&directory, key.clone()).map_err(key_error)?;
            forms.write(&Page::of_block(label!("Key of OCI"), Block::Text(line)), || oci_key_json(&key.id()))
        }
        OciKeyCommand::List => {
            let keys = plimsoll_cloud::oci_keys(&directory).map_err(key_error)?;
            let table = Table::rows(label!("Keys of OCI"), &keys)
                .column(Column::text("fingerprint", 0), |key| key.fingerprint.as_str())
                .column(Column::text("user", 0), |key| key.user.as_str())
                .column(Column::text("tenancy", 0), |key| key.tenancy.as_str())
                .table();
            let table = Table { layout: TableLayout::Lines, ..table };
            let page =
                Page::of_table(table, label!("no keys yet: plimsoll oci-key add FILE.pem, or plimsoll oci-config"));
            forms.write(&page, || oci_keys_json(&keys.iter().map(OciKey::id).collect::<Vec<_>>()))
        }
        OciKeyCommand::Remove { fingerprint } => {
            let removed = plimsoll_cloud::remove_oci_key(&directory, fingerprint).map_err(key_error)?;
            if removed == 0 {
                let message = say!("no key has the fingerprint {fingerprint}: plimsoll oci-key list shows all");
                return Err(CliError::usage(message));
            }
            forms.write_changes(&[CompletedChange::KeyDeleted(fingerprint.clone())])
        }
    }
}

/// `plimsoll oci-config`.
pub fn oci_config(args: &OciConfigArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory = home::data_directory(&args.reach)?;
    let endpoints = open_endpoints(&directory)?;
    let endpoint = args.endpoint.clone().or(endpoints.oci).ok_or_else(|| no_endpoint("--oci 127.0.0.1:9471"))?;
    let region = endpoints.region.unwrap_or_else(|| "eu-zurich-1".to_owned());
    let default_folder = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".oci"));
    let folder = args.folder.clone().or_else(|| default_folder.clone());
    let folder = folder.ok_or_else(|| CliError::usage(label!("HOME is not set: name a folder for the files")))?;
    let folder = std::path::absolute(folder).context(label!("the current directory"))?;
    let created = OciConfig::write(&folder, &directory, &endpoint, &region)?;
    let (path, fingerprint) = (folder.display(), &created.fingerprint);
    let (config, rc) = (created.config.display().to_string(), created.rc.display().to_string());
    let mut text = say!("{path} is made, and its key {fingerprint} is registered for {endpoint}\n");
    if default_folder.as_ref() != Some(&folder) {
        text.push_str(&format!("export OCI_CLI_CONFIG_FILE={config} OCI_CLI_RC_FILE={rc}\n"));
    }
    text.push_str(label!("next: SUPPRESS_LABEL_WARNING=True oci bv volume list\n"));
    let json = || oci_config_json([&config, &rc, fingerprint, &endpoint]);
    forms.write(&Page::of_block(label!("Configuration of OCI"), Block::Listing(text)), json)
}

/// `plimsoll ec2-key`.
pub fn ec2_key(args: &Ec2KeyArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory = home::data_directory(&args.reach)?;
    let endpoint = args.endpoint.clone().or(open_endpoints(&directory)?.ec2);
    let endpoint = endpoint.ok_or_else(|| no_endpoint("--ec2 127.0.0.1:9472"))?;
    let key = Ec2Key::generate();
    plimsoll_cloud::add_ec2_key(&directory, key.clone()).map_err(key_error)?;
    let Ec2Key { id, secret } = key;
    let variables = format!(
        "export AWS_ACCESS_KEY_ID={id} AWS_SECRET_ACCESS_KEY={secret} AWS_DEFAULT_REGION=us-east-1 \
         AWS_ENDPOINT_URL_EC2={endpoint}"
    );
    forms.write(&Page::of_block(label!("Key of EC2"), Block::Listing(variables)), || {
        ec2_key_json(&id, &secret, &endpoint)
    })
}

/// `plimsoll instance`.
pub fn instance(args: &InstanceArgs) -> Result<(), CliError> {
    let service = ServiceClient::new(&args.reach, &args.forms)?;
    match &args.command {
        InstanceCommand::Create { name, shape } => {
            service.create_group(name, plimsoll_cloud::name_machine(shape), |group| {
                let text = say!("{name}: volumes that are attached share the limits of {}", group.like);
                Page::of_block(format!("Instance {name}"), Block::Text(text))
            })
        }
        InstanceCommand::List => service.list_groups(),
        InstanceCommand::Delete { name } => service.delete_group(name, CompletedChange::InstanceDeleted),
    }
}

fn open_endpoints(directory: &Path) -> Result<Endpoints, CliError> {
    Ok(Endpoints::read(directory).context(label!("the addresses of the control planes"))?)
}

fn no_endpoint(flag: &str) -> CliError {
    CliError::usage(say!("no such control plane was served yet: start plimsoll serve {flag}, or give --endpoint URL"))
}

impl From<ClientConfigError> for CliError {
    fn from(error: ClientConfigError) -> Self {
        match error {
            ClientConfigError::Key(error) => key_error(error),
            ClientConfigError::Io { .. } => Self::Failed(error.into()),
            ClientConfigError::Exists(_) => Self::usage(error.to_string()),
        }
    }
}

fn key_error(error: KeyError) -> CliError {
    match error {
        KeyError::Io { .. } | KeyError::Making(_) => CliError::Failed(error.into()),
        error => CliError::usage(error.to_string()),
    }
}
