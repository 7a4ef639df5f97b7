//! The recommendation of each cloud, a volume or a layout of several, as a Terraform fragment with the provider's
//! attribute names.
//!
//! Covers volumes, RDS instances and Azure SQL databases, not machines, attachments or file systems. Locations are variables.

use std::fmt::Write as _;

use std::collections::BTreeSet;

use plimsoll_catalogue::{Offer, OptionValue, Price, Wrap};
use plimsoll_choose::sizing::{Best, Choice, Sizing, VolumeContent};
use plimsoll_language::{Language, label, say};

use crate::words::{clean, sizing as words};

/// Writes an offer under a volume name as a resource; `None` if the product has no Terraform resource.
type WriteResource = fn(&Offer, &str) -> Option<ResourceBlock>;

/// A resource without its count.
struct ResourceBlock {
    resource: &'static str,
    /// Attributes in order, as Terraform expressions.
    attributes: Vec<(&'static str, String)>,
    /// Variables used, with their descriptions.
    variables: &'static [(&'static str, &'static str)],
}

/// Providers by the first part of the product's name.
const PROVIDERS: [(&str, WriteResource); 4] = [("aws", aws), ("azure", azure), ("gcp", gcp), ("oci", oci)];

/// The recommendations of a sizing by provider, in the language of a tool.
pub(crate) struct Recommendations<'s> {
    /// Volumes that the tool creates, with their providers.
    pub(crate) volumes: Vec<(&'s str, VolumeContent, &'s Choice)>,
    /// Recommendations that the tool does not create, that of the headline first.
    pub(crate) gaps: Vec<String>,
}

impl Recommendations<'_> {
    /// The gaps as comments of a file.
    pub(crate) fn comment_gaps(&self) -> String {
        self.gaps.iter().map(|gap| comment_line(gap)).collect()
    }
}

/// The fragment; `None` if no provider of it has a recommendation.
pub fn terraform(sizing: &Sizing) -> Option<String> {
    Language::English.scope(|| {
        let recommended = recommend(sizing);
        let (mut variables, mut blocks) = (Vec::new(), Vec::new());
        for (provider, content, choice) in &recommended.volumes {
            let name = content.name();
            let Some(mut block) = write(&choice.offer, &format!("plimsoll-{name}")) else { continue };
            if let Some(cluster) = &sizing.required.platform.cluster {
                block.attributes.extend(shared(provider, (cluster.count as usize).max(2)));
            }
            blocks.push(format_resource(choice, name, &block));
            variables
                .extend(block.variables.iter().filter(|own| !variables.contains(*own)).copied().collect::<Vec<_>>());
        }
        let gaps = recommended.comment_gaps();
        if blocks.is_empty() {
            return Some(gaps).filter(|gaps| !gaps.is_empty());
        }
        let head = "# The recommended configuration of each cloud. Keep that of one cloud, and attach it to a machine that lets it\n\
                    # through. Members of a stripe become one volume in the guest, such as with lvcreate --type striped.\n";
        Some(format!("{head}{gaps}\n{}\n{}", declare_variables(&variables), blocks.join("\n")))
    })
}

/// Recommendations that [`terraform`] does not contain, with the reasons.
pub fn terraform_gaps(sizing: &Sizing) -> Vec<String> {
    recommend(sizing).gaps
}

fn recommend(sizing: &Sizing) -> Recommendations<'_> {
    let has_resource = |offer: &Offer| write(offer, "").is_some();
    find_recommendations(sizing, &PROVIDERS.map(|(name, _)| name), label!("Terraform resource"), has_resource)
}

/// The resource of an offer by its provider; `None` if there is no such resource.
fn write(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    let provider = provider_of(offer);
    PROVIDERS.iter().find(|(own, _)| *own == provider).and_then(|(_, create)| create(offer, name))
}

/// The first part of the product's name.
pub(crate) fn provider_of(offer: &Offer) -> &str {
    offer.product().name().split('/').next().unwrap_or_default()
}

/// The attribute of a volume that several machines write to. OCI has it at the attachment.
fn shared(provider: &str, machines: usize) -> Option<(&'static str, String)> {
    match provider {
        "aws" => Some(("multi_attach_enabled", "true".to_owned())),
        "azure" => Some(("max_shares", machines.to_string())),
        "gcp" => Some(("access_mode", text("READ_WRITE_MANY"))),
        _ => None,
    }
}

/// The recommendations of the providers of a tool and of the headline, by [`Sizing::best_of`]: another product than the
/// recommended one is never written.
pub(crate) fn find_recommendations<'s>(
    sizing: &'s Sizing,
    providers: &[&'static str],
    object: &str,
    has_object: impl Fn(&Offer) -> bool,
) -> Recommendations<'s> {
    let own = sizing.best_volumes().first().map(|choice| provider_of(&choice.offer));
    let others = providers.iter().copied().filter(|name| Some(*name) != own);
    let mut found = Recommendations { volumes: Vec::new(), gaps: Vec::new() };
    for provider in own.into_iter().chain(others) {
        let Some(best) = sizing.best_of(provider) else { continue };
        let volumes: Vec<_> = match best {
            Best::Layout(layout) => layout.parts.iter().map(|part| (part.content, &part.choice)).collect(),
            single => single.volumes().into_iter().map(|choice| (VolumeContent::Data, choice)).collect(),
        };
        let Some((_, lacking)) = volumes.iter().find(|(_, choice)| !has_object(&choice.offer)) else {
            found.volumes.extend(volumes.into_iter().map(|(content, choice)| (provider, content, choice)));
            continue;
        };
        let is_other = |choice: &&Choice| provider_of(&choice.offer) == provider && has_object(&choice.offer);
        let other = sizing.choices.iter().find(is_other).map(|choice| choice.offer.product().name());
        let remedy = other.map_or_else(String::new, |name| say!("; --provider {name} sizes for a product that has it"));
        let product = lacking.offer.product().name();
        found.gaps.push(say!("The recommendation of {provider} is not written: {product} has no {object}{remedy}"));
    }
    found
}

/// A comment with the source of price and choice, then the resource.
fn format_resource(choice: &Choice, name: &str, block: &ResourceBlock) -> String {
    let mut out = comment_line(&choice.offer.short().to_string());
    out += &price_lines(choice.price.as_ref());
    out += &comment_line(&words::reason(choice));
    out += &comment_slower(choice);
    let members = count_members(&choice.offer);
    let count = (members > 1).then(|| ("count", members.to_string()));
    let (plain, numbered) = (format!("-{name}\""), format!("-{name}-${{count.index}}\""));
    let index = |value: &String| if members > 1 { value.replace(&plain, &numbered) } else { value.clone() };
    let indexed = block.attributes.iter().map(|(attribute, value)| (*attribute, index(value)));
    let attributes: Vec<(&str, String)> = count.into_iter().chain(indexed).collect();
    out + &format!("resource \"{}\" \"{name}\" {{\n{}}}\n", block.resource, format_attributes(&attributes))
}

/// The comment of a recommendation that is slower than today for some class; empty for others.
pub(crate) fn comment_slower(choice: &Choice) -> String {
    let slower = words::slower(choice);
    if choice.slower.is_empty() { String::new() } else { comment_line(&say!("slower than today: {slower}")) }
}

fn format_attributes(attributes: &[(&str, String)]) -> String {
    let width = attributes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for (attribute, value) in attributes {
        writeln!(lines, "  {attribute:<width$} = {value}").expect("writing to a string does not fail");
    }
    lines
}

fn declare_variables(variables: &[(&str, &str)]) -> String {
    let declare = |(name, text): &(&str, &str)| {
        format!("variable \"{name}\" {{\n  type        = string\n  description = \"{text}\"\n}}\n")
    };
    variables.iter().map(declare).collect::<Vec<_>>().join("\n")
}

/// A volume that exists, and its new configuration.
#[derive(Clone, Copy, Debug)]
pub struct VolumeChange<'a> {
    /// The identifier by which Terraform imports it.
    pub id: &'a str,
    /// The new configuration.
    pub offer: &'a Offer,
}

/// Attributes of a resource that are set when a volume is made. They describe no configuration, are not known here, or
/// their change would replace the volume.
fn attributes_of_creation(resource: &str) -> Option<&'static str> {
    Some(match resource {
        "aws_ebs_volume" => {
            "availability_zone, encrypted, kms_key_id, multi_attach_enabled, snapshot_id, tags, tags_all"
        }
        "azurerm_managed_disk" => "name, location, resource_group_name, create_option, zone, logical_sector_size, tags",
        "google_compute_disk" => "name, zone, image, snapshot, labels",
        "google_compute_region_disk" => "name, replica_zones, snapshot, labels",
        "oci_core_volume" => {
            "compartment_id, availability_domain, display_name, source_details, kms_key_id, defined_tags, freeform_tags"
        }
        _ => return None,
    })
}

/// The resource of a volume that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerraformChange {
    /// The resource, and a block that imports it (Terraform 1.5).
    pub text: String,
    /// Names and descriptions of the variables that it uses.
    pub variables: &'static [(&'static str, &'static str)],
}

/// The label of a volume's resource. Identifiers may differ in letters that labels do not have.
pub fn terraform_label(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let plain: String = id.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    format!("plimsoll_{plain}")
}

/// The resource of a volume under a label. It changes in place: a plan that would replace the volume fails. `None` if the
/// product has no resource.
pub fn terraform_change(change: &VolumeChange<'_>, label: &str) -> Option<TerraformChange> {
    let block = write(change.offer, "")?;
    let ignored = attributes_of_creation(block.resource)?;
    let resource = block.resource;
    let import = format!(
        "import {{\n  to = {resource}.{label}\n  id = {}\n}}\n\n{}resource \"{resource}\" \"{label}\" {{\n{}\n  \
         lifecycle {{\n    prevent_destroy = true\n    ignore_changes  = [{ignored}]\n  }}\n}}\n",
        quote(change.id),
        comment_line(&change.offer.short().to_string()),
        format_attributes(&block.attributes)
    );
    Some(TerraformChange { text: import, variables: block.variables })
}

/// Declarations of variables.
pub fn terraform_variables(variables: &BTreeSet<(&'static str, &'static str)>) -> String {
    declare_variables(&variables.iter().copied().collect::<Vec<_>>())
}

/// A string of Terraform's language, without templates.
fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${").replace("%{", "%%{");
    format!("\"{}\"", clean(&escaped).replace(['\n', '\r'], " "))
}

/// A price and its source as comments; empty without one.
pub(crate) fn price_lines(price: Option<&Price>) -> String {
    let Some(price) = price else { return String::new() };
    let region = price.region.as_deref().map_or_else(String::new, |region| format!(" in {region}"));
    let source = format!("{}{}", price.cite.title, if price.cite.url.is_empty() { "" } else { ", " });
    let (month, date, url) = (price.monthly, &price.cite.date, &price.cite.url);
    let mut out = comment_line(&format!("{month} a month{region}, price list ({date}): {source}{url}"));
    if !price.is_complete() {
        out += &comment_line(&format!("without the price of {}", price.without.join(", ")));
    }
    out
}

pub(crate) fn comment_line(text: &str) -> String {
    format!("# {}\n", clean(text).replace(['\n', '\r'], " "))
}

pub(crate) fn count_members(offer: &Offer) -> u32 {
    offer.config.wraps.iter().map(Wrap::members).product()
}

fn text(value: &str) -> String {
    format!("\"{value}\"")
}

/// The value of an option; `None` if the product lacks the option.
pub(crate) fn option(offer: &Offer, name: &str) -> Option<String> {
    let chosen = offer.options.iter().find(|chosen| &*chosen.name == name)?;
    match chosen.value.as_ref()? {
        OptionValue::Number(number) => Some(format!("{number}")),
        OptionValue::Text(word) => Some(word.to_string()),
    }
}

/// The second part of the product's name.
pub(crate) fn kind(offer: &Offer) -> &str {
    offer.product().name().split_once('/').map_or("", |(_, kind)| kind)
}

/// True if an option has the value `yes`.
pub(crate) fn says_yes(offer: &Offer, name: &str) -> bool {
    option(offer, name).as_deref() == Some("yes")
}

/// The volume type in the API of EC2; `None` for other products.
pub(crate) fn ebs_type(offer: &Offer) -> Option<&str> {
    Some(kind(offer)).filter(|kind| matches!(*kind, "gp2" | "gp3" | "io1" | "io2" | "st1" | "sc1" | "standard"))
}

/// The SKU of a managed disk; `None` for other products.
pub(crate) fn azure_sku(offer: &Offer) -> Option<&'static str> {
    Some(match kind(offer) {
        "premium-ssd" => "Premium_LRS",
        "premium-ssd-v2" => "PremiumV2_LRS",
        "ultra" => "UltraSSD_LRS",
        "standard-ssd" => "StandardSSD_LRS",
        "standard-hdd" => "Standard_LRS",
        _ => return None,
    })
}

/// The disk type in the API of Compute Engine; `None` for other products.
pub(crate) fn gcp_disk_type(offer: &Offer) -> Option<&str> {
    match kind(offer) {
        "hyperdisk-balanced-ha" => Some("hyperdisk-balanced-high-availability"),
        kind if kind.starts_with("pd-") || kind.starts_with("hyperdisk-") => Some(kind),
        _ => None,
    }
}

/// Attributes of options that are set.
fn optional<const N: usize>(offer: &Offer, names: [(&'static str, &str); N]) -> Vec<(&'static str, String)> {
    names.into_iter().filter_map(|(attribute, name)| Some((attribute, option(offer, name)?))).collect()
}

fn aws(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    if kind(offer).starts_with("rds-") {
        return aws_database(offer, name);
    }
    let mut attributes =
        vec![("availability_zone", "var.aws_availability_zone".to_owned()), ("type", text(ebs_type(offer)?))];
    attributes.extend(optional(offer, [("size", "size"), ("iops", "iops"), ("throughput", "throughput")]));
    let variables = &[("aws_availability_zone", "Zone of the machine, such as us-east-1a")];
    Some(ResourceBlock { resource: "aws_ebs_volume", attributes, variables })
}

/// An RDS instance; `None` without an instance class.
fn aws_database(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    let is = |name: &str, value: &str| option(offer, name).as_deref() == Some(value);
    let edition = option(offer, "edition");
    let engine = match (kind(offer), edition.as_deref()) {
        ("rds-postgres", _) => text("postgres"),
        ("rds-mysql", _) => text("mysql"),
        ("rds-oracle", _) if is("licence", "own") => "var.aws_oracle_engine".to_owned(),
        ("rds-oracle", _) => text("oracle-se2"),
        ("rds-sqlserver", Some("express")) => text("sqlserver-ex"),
        ("rds-sqlserver", Some("web")) => text("sqlserver-web"),
        ("rds-sqlserver", Some("enterprise")) => text("sqlserver-ee"),
        ("rds-sqlserver", _) => text("sqlserver-se"),
        _ => return None,
    };
    let has_own_engine = engine.starts_with("var.");
    let mut attributes =
        vec![("identifier", text(name)), ("engine", engine), ("instance_class", text(&option(offer, "tier")?))];
    attributes.extend(optional(offer, [("allocated_storage", "size"), ("max_allocated_storage", "max_storage")]));
    attributes.push(("storage_type", text(&option(offer, "storage")?)));
    // RDS refuses the included IOPS of gp3, and those of gp2 follow from the size.
    let is_raised = |name: &str| {
        let chosen = offer.options.iter().find(|chosen| &*chosen.name == name);
        chosen.is_some_and(|chosen| chosen.value.as_ref() != chosen.low.map(OptionValue::Number).as_ref())
    };
    let has_iops = is("storage", "io1") || is("storage", "io2") || is("storage", "gp3") && is_raised("iops");
    let has_throughput = is("storage", "gp3") && is_raised("throughput");
    attributes.extend(optional(offer, [("iops", "iops")]).into_iter().filter(|_| has_iops || has_throughput));
    attributes.extend(optional(offer, [("storage_throughput", "throughput")]).into_iter().filter(|_| has_throughput));
    attributes.push(("multi_az", is("deployment", "multi-az").to_string()));
    let licence = if is("licence", "own") { "bring-your-own-license" } else { "license-included" };
    attributes.extend(option(offer, "licence").map(|_| ("license_model", text(licence))));
    attributes
        .extend([("username", "var.aws_database_user".to_owned()), ("manage_master_user_password", "true".to_owned())]);
    let variables: &[(&str, &str)] = &[
        ("aws_database_user", "Name of the database's first user"),
        ("aws_oracle_engine", "Engine with its edition, such as oracle-ee or oracle-se2"),
    ];
    let variables = if has_own_engine { variables } else { &variables[..1] };
    Some(ResourceBlock { resource: "aws_db_instance", attributes, variables })
}

fn azure_database(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    let (vcores, tier) = (option(offer, "vcores")?, option(offer, "tier")?);
    let sku = match tier.as_str() {
        "general-purpose" => "GP_Gen5",
        "business-critical" => "BC_Gen5",
        "business-critical-m" => "BC_M",
        "hyperscale" => "HS_Gen5",
        "hyperscale-premium" => "HS_PRMS",
        "hyperscale-premium-memory" => "HS_MOPRMS",
        _ => return None,
    };
    let mut attributes = vec![
        ("name", text(name)),
        ("server_id", "var.azure_sql_server_id".to_owned()),
        ("sku_name", text(&format!("{sku}_{vcores}"))),
    ];
    let size = optional(offer, [("max_size_gb", "size")]);
    attributes.extend(size.into_iter().filter(|_| !tier.starts_with("hyperscale")));
    let licence = if option(offer, "licence").as_deref() == Some("own") { "BasePrice" } else { "LicenseIncluded" };
    attributes.push(("license_type", text(licence)));
    let variables = &[("azure_sql_server_id", "Identifier of the logical server")];
    Some(ResourceBlock { resource: "azurerm_mssql_database", attributes, variables })
}

fn azure(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    if kind(offer) == "sql" {
        return azure_database(offer, name);
    }
    let sku = azure_sku(offer)?;
    let mut attributes = vec![
        ("name", text(name)),
        ("location", "var.azure_location".to_owned()),
        ("resource_group_name", "var.azure_resource_group".to_owned()),
        ("storage_account_type", text(sku)),
        ("create_option", text("Empty")),
    ];
    attributes.extend(optional(offer, [("disk_size_gb", "size")]));
    if matches!(kind(offer), "premium-ssd-v2" | "ultra") {
        attributes.push(("zone", "var.azure_zone".to_owned()));
        attributes.extend(optional(offer, [("disk_iops_read_write", "iops"), ("disk_mbps_read_write", "throughput")]));
        attributes.extend(
            optional(offer, [("logical_sector_size", "sector")]).into_iter().filter(|(_, size)| size != "4096"),
        );
    }
    if kind(offer) == "premium-ssd" {
        // The tier is set only if it differs from the default of the size.
        attributes.extend(option(offer, "tier").map(|tier| ("tier", text(&tier))));
    }
    attributes.extend(says_yes(offer, "expanded").then(|| ("performance_plus_enabled", "true".to_owned())));
    attributes.extend(says_yes(offer, "on_demand_burst").then(|| ("on_demand_bursting_enabled", "true".to_owned())));
    let variables: &[(&str, &str)] = &[
        ("azure_location", "Region of the machine, such as eastus"),
        ("azure_resource_group", "Resource group of the machine"),
        ("azure_zone", "Zone of the machine, such as 1"),
    ];
    let used = if matches!(kind(offer), "premium-ssd-v2" | "ultra") { variables } else { &variables[..2] };
    Some(ResourceBlock { resource: "azurerm_managed_disk", attributes, variables: used })
}

fn gcp(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    let disk_type = gcp_disk_type(offer)?;
    let regional = kind(offer) == "hyperdisk-balanced-ha";
    let place: [(&str, String); 1] = if regional {
        [("replica_zones", "[var.gcp_zone, var.gcp_second_zone]".to_owned())]
    } else {
        [("zone", "var.gcp_zone".to_owned())]
    };
    let mut attributes = vec![("name", text(name)), ("type", text(disk_type))];
    attributes.extend(place);
    attributes.extend(optional(
        offer,
        [("size", "size"), ("provisioned_iops", "iops"), ("provisioned_throughput", "throughput")],
    ));
    let variables: &[(&str, &str)] = &[
        ("gcp_zone", "Zone of the machine, such as us-central1-a"),
        ("gcp_second_zone", "Second zone of the same region"),
    ];
    let resource = if regional { "google_compute_region_disk" } else { "google_compute_disk" };
    Some(ResourceBlock { resource, attributes, variables: if regional { variables } else { &variables[..1] } })
}

fn oci(offer: &Offer, name: &str) -> Option<ResourceBlock> {
    if kind(offer) != "block-volume" {
        return None;
    }
    let mut attributes = vec![
        ("compartment_id", "var.oci_compartment_id".to_owned()),
        ("availability_domain", "var.oci_availability_domain".to_owned()),
        ("display_name", text(name)),
    ];
    attributes.extend(optional(offer, [("size_in_gbs", "size"), ("vpus_per_gb", "vpu")]));
    let variables = &[
        ("oci_compartment_id", "OCID of the compartment"),
        ("oci_availability_domain", "Availability domain of the machine"),
    ];
    Some(ResourceBlock { resource: "oci_core_volume", attributes, variables })
}
