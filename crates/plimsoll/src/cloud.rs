//! `plimsoll oci-key`, `oci-config`, `ec2-key` and `instance`: keys and configurations of clients of the control planes, and
//! the instances that their volumes are attached to.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_cloud::{Ec2Key, Endpoints, KeyError, NewKey, OciKey, TENANCY, USER};
use plimsoll_report::{Block, Column, Page, Table, TableLayout, to_json};
use serde_json::json;

use crate::args::{Ec2KeyArgs, InstanceArgs, InstanceCommand, OciConfigArgs, OciKeyArgs, OciKeyCommand};
use crate::cli_error::CliError;
use crate::output::{Forms, print};
use crate::volumes::{ServiceClient, home};

const PRIVATE_KEY: &str = "plimsoll_api_key.pem";

/// `plimsoll oci-key`.
pub fn oci_key(args: &OciKeyArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory = home::data_directory(&args.reach)?;
    match &args.command {
        OciKeyCommand::Add { file, user, tenancy } => {
            let pem = std::fs::read_to_string(file).map_err(|error| CliError::reading(file, error))?;
            let key = OciKey::new(tenancy, user, &pem).map_err(refused)?;
            let line = format!("{} of {} is registered", key.fingerprint, key.user);
            plimsoll_cloud::add_oci_key(&directory, key.clone()).map_err(refused)?;
            forms.write(&Page::of_block("Key of OCI", Block::Text(line)), || to_json(&json!({ "keyId": key.id() })))
        }
        OciKeyCommand::List => {
            let keys = plimsoll_cloud::oci_keys(&directory).map_err(refused)?;
            let table = Table::rows("Keys of OCI", &keys)
                .column(Column::text("fingerprint", 0), |key| key.fingerprint.as_str())
                .column(Column::text("user", 0), |key| key.user.as_str())
                .column(Column::text("tenancy", 0), |key| key.tenancy.as_str())
                .table();
            let table = Table { layout: TableLayout::Lines, ..table };
            let page = Page::of_table(table, "no keys yet: plimsoll oci-key add FILE.pem, or plimsoll oci-config");
            forms.write(&page, || to_json(&keys.iter().map(OciKey::id).collect::<Vec<_>>()))
        }
        OciKeyCommand::Remove { fingerprint } => {
            let removed = plimsoll_cloud::remove_oci_key(&directory, fingerprint).map_err(refused)?;
            if removed == 0 {
                let message = format!("no key has the fingerprint {fingerprint}: plimsoll oci-key list shows all");
                return Err(CliError::usage(message));
            }
            forms.print(&format!("{fingerprint} is removed\n"))
        }
    }
}

/// `plimsoll oci-config`.
pub fn oci_config(args: &OciConfigArgs) -> Result<(), CliError> {
    let directory = home::data_directory(&args.reach)?;
    let endpoints = endpoints(&directory)?;
    let endpoint = args.endpoint.clone().or(endpoints.oci).ok_or_else(|| no_endpoint("--oci 127.0.0.1:9471"))?;
    let region = endpoints.region.unwrap_or_else(|| "eu-zurich-1".to_owned());
    let usual = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".oci"));
    let folder = args.folder.clone().or_else(|| usual.clone());
    let folder = folder.ok_or_else(|| CliError::usage("HOME is not set: name a folder for the files"))?;
    let folder = std::path::absolute(folder).context("the current directory")?;
    let [config, rc, private] = ["config", "oci_cli_rc", PRIVATE_KEY].map(|name| folder.join(name));
    if let Some(present) = [&config, &rc, &private].into_iter().find(|path| path.exists()) {
        return Err(CliError::usage(format!(
            "{} exists and is kept: name another folder (plimsoll oci-config FOLDER)",
            present.display()
        )));
    }
    let pair = NewKey::generate().map_err(refused)?;
    let key = OciKey::new(TENANCY, USER, &pair.public_pem).map_err(refused)?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.with_context(|| format!("making {}", folder.display()))?;
    write_new(&private, &pair.private_pem)?;
    let (fingerprint, key_file) = (&key.fingerprint, private.display());
    write_new(
        &config,
        &format!(
            "[DEFAULT]\nuser={USER}\ntenancy={TENANCY}\nfingerprint={fingerprint}\nkey_file={key_file}\nregion={region}\n"
        ),
    )?;
    write_new(&rc, &format!("[DEFAULT]\nendpoint = {endpoint}\ncompartment-id = {TENANCY}\n"))?;
    plimsoll_cloud::add_oci_key(&directory, key.clone()).map_err(refused)?;
    let mut text = format!("{} is made, and its key {fingerprint} is registered for {endpoint}\n", folder.display());
    if usual.as_ref() != Some(&folder) {
        let (config, rc) = (config.display(), rc.display());
        text.push_str(&format!("export OCI_CLI_CONFIG_FILE={config} OCI_CLI_RC_FILE={rc}\n"));
    }
    text.push_str("next: SUPPRESS_LABEL_WARNING=True oci bv volume list\n");
    print(text.as_bytes())
}

/// `plimsoll ec2-key`.
pub fn ec2_key(args: &Ec2KeyArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory = home::data_directory(&args.reach)?;
    let endpoint = args.endpoint.clone().or(endpoints(&directory)?.ec2);
    let endpoint = endpoint.ok_or_else(|| no_endpoint("--ec2 127.0.0.1:9472"))?;
    let key = Ec2Key::generate();
    plimsoll_cloud::add_ec2_key(&directory, key.clone()).map_err(refused)?;
    let Ec2Key { id, secret } = key;
    let variables = format!(
        "export AWS_ACCESS_KEY_ID={id} AWS_SECRET_ACCESS_KEY={secret} AWS_DEFAULT_REGION=us-east-1 \
         AWS_ENDPOINT_URL_EC2={endpoint}"
    );
    let key = json!({ "AccessKeyId": id, "SecretAccessKey": secret, "endpoint": endpoint });
    forms.write(&Page::of_block("Key of EC2", Block::Listing(variables)), || to_json(&key))
}

/// `plimsoll instance`.
pub fn instance(args: &InstanceArgs) -> Result<(), CliError> {
    let service = ServiceClient::new(&args.reach, &args.forms)?;
    match &args.command {
        InstanceCommand::Create { name, shape } => service.create_group(name, machine(shape), |group| {
            let text = format!("{name}: volumes that are attached share the limits of {}", group.like);
            Page::of_block(format!("Instance {name}"), Block::Text(text))
        }),
        InstanceCommand::List => service.list_groups(),
        InstanceCommand::Delete { name } => service.delete_group(name, &format!("instance {name} deleted\n")),
    }
}

/// A machine of the catalogue from the name that its vendor gives it.
fn machine(shape: &str) -> String {
    match shape {
        shape if shape.contains('/') || shape.contains('(') => shape.to_owned(),
        shape if shape.starts_with("Standard_") => format!("azure/{shape}"),
        // Google's types have hyphens before the size, AWS's a dot: n2-standard-4, u-6tb1.metal.
        shape if shape.contains('-') && !shape.contains('.') => format!("gcp/{shape}"),
        shape if shape.starts_with("VM.") || shape.starts_with("BM.") => format!("oci/{shape}"),
        shape => format!("aws/{shape}"),
    }
}

fn endpoints(directory: &Path) -> Result<Endpoints, CliError> {
    Ok(Endpoints::read(directory).context("the addresses of the control planes")?)
}

fn no_endpoint(flag: &str) -> CliError {
    CliError::usage(format!(
        "no such control plane was served yet: start plimsoll serve {flag}, or give --endpoint URL"
    ))
}

/// Writes a new file for its owner alone.
fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    Ok(written.with_context(|| format!("writing {}", path.display()))?)
}

fn refused(error: KeyError) -> CliError {
    match error {
        KeyError::Io { .. } | KeyError::Making(_) => CliError::Failed(error.into()),
        error => CliError::usage(error.to_string()),
    }
}
