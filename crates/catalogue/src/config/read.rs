//! Parser of configurations. Knows the grammar of [`Config`], not products.

use std::str::FromStr;

use plimsoll_language::{label, say};
use plimsoll_model::Layout;
use plimsoll_units::Bytes;

use super::{Config, ConfigError, LAYOUTS, OWN_MACHINE, OWN_MACHINE_WORD, Part, Setting, Wrap};

/// Maximum number of members of an array.
const MEMBERS_MAX: u32 = 1024;
/// Maximum number of layers.
const WRAPS_MAX: usize = 8;
/// Default interleave of an array.
const INTERLEAVE: Bytes = Bytes::kib(64);

/// The unparsable part, and the expected syntax.
type Unparsable<'t> = (&'t str, String);

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        parse_config(text.trim()).map_err(|(at, expected)| ConfigError {
            text: text.to_owned(),
            at: at.to_owned(),
            expected,
        })
    }
}

fn parse_config(text: &str) -> Result<Config, Unparsable<'_>> {
    let (mut volume, machine) = match text.split_once(" on ") {
        Some((volume, machine)) => (volume.trim(), Some(machine_part(machine.trim())?)),
        None => (text, None),
    };
    let mut wraps = Vec::new();
    while let Some((outer, inner)) = volume.split_once(" of ") {
        if wraps.len() == WRAPS_MAX {
            return Err((outer, say!("at most {WRAPS_MAX} layers are allowed")));
        }
        wraps.push(wrap(outer.trim())?);
        volume = inner.trim();
    }
    Ok(Config { wraps, volume: machine_part(volume)?, machine })
}

/// A machine by name, or by its limits in parentheses.
fn machine_part(text: &str) -> Result<Part, Unparsable<'_>> {
    let own = text.strip_prefix(OWN_MACHINE_WORD).map(str::trim_start).filter(|rest| rest.starts_with('('));
    let Some(own) = own else { return part(text) };
    let inside = own[1..].strip_suffix(')').filter(|inside| !inside.trim().is_empty());
    let inside = inside.ok_or_else(|| (text, machine_syntax().to_owned()))?;
    Ok(Part { product: OWN_MACHINE.to_owned(), settings: parse_settings(inside)? })
}

fn part(text: &str) -> Result<Part, Unparsable<'_>> {
    let (product, rest) = text.split_once(':').map_or((text, None), |(product, rest)| (product, Some(rest)));
    let stray = |c: char| c.is_whitespace() || "(),@=\"'".contains(c) || c.is_control();
    if matches!(product, "" | "on" | "of") || product.contains(stray) {
        return Err((text, product_syntax().to_owned()));
    }
    let settings = rest.map_or_else(|| Ok(Vec::new()), parse_settings)?;
    Ok(Part { product: product.to_owned(), settings })
}

fn parse_settings(text: &str) -> Result<Vec<Setting>, Unparsable<'_>> {
    let mut read: Vec<Setting> = Vec::new();
    for text in text.split([',', '@']) {
        let setting = parse_setting(text.trim())?;
        if read.iter().any(|earlier| same_place(earlier, &setting)) {
            return Err((text, "it is set a second time".to_owned()));
        }
        read.push(setting);
    }
    Ok(read)
}

/// True if both set the same option.
pub(crate) fn same_place(a: &Setting, b: &Setting) -> bool {
    let sets_size = |setting: &Setting| match setting {
        Setting::Size { .. } => true,
        Setting::Option { name, .. } => name.eq_ignore_ascii_case("size"),
        Setting::Word(_) => false,
    };
    match (a, b) {
        (Setting::Option { name: a, .. }, Setting::Option { name: b, .. }) | (Setting::Word(a), Setting::Word(b)) => {
            a.eq_ignore_ascii_case(b)
        }
        (a, b) => sets_size(a) && sets_size(b),
    }
}

fn parse_setting(text: &str) -> Result<Setting, Unparsable<'_>> {
    let refused = || (text, setting_syntax().to_owned());
    let name = |name: &str| {
        let mut letters = name.chars();
        let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
        begins && letters.all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
    };
    if let Some((option, value)) = text.split_once('=') {
        let (option, value) = (option.trim(), value.trim());
        let stray = |c: char| c.is_whitespace() || "=:()\"'".contains(c) || c.is_control();
        if !name(option) || value.is_empty() || value.contains(stray) {
            return Err(refused());
        }
        let as_size = option.eq_ignore_ascii_case("size").then(|| parse_size(value)).flatten();
        return Ok(as_size.unwrap_or_else(|| Setting::Option { name: option.to_owned(), value: value.to_owned() }));
    }
    if name(text) {
        return Ok(Setting::Word(text.to_owned()));
    }
    if let Some(size) = parse_size(text) {
        return Ok(size);
    }
    let (number, option) = number_and_word(text).filter(|(_, option)| name(option)).ok_or_else(refused)?;
    Ok(Setting::Option { name: option.to_owned(), value: number.to_owned() })
}

/// `256GB`, `1.5 TiB`, or as tools write it `1T`, `500Gi`: a number and a unit.
fn parse_size(text: &str) -> Option<Setting> {
    let (number, unit) = number_and_word(text)?;
    let is_short = matches!(unit, "G" | "T" | "P" | "Gi" | "Ti" | "Pi");
    let unit = if is_short { format!("{unit}B") } else { unit.to_owned() };
    let is_unit = unit.len() >= 2 && unit.ends_with(['B', 'b']) && format!("1{unit}").parse::<Bytes>().is_ok();
    is_unit.then(|| Setting::Size { number: number.to_owned(), unit })
}

fn number_and_word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, word) = (&text[..end], text[end..].trim());
    let is_number = number.parse::<f64>().is_ok() && number.starts_with(|c: char| c.is_ascii_digit());
    (is_number && !number.ends_with('.')).then_some((number, word))
}

fn wrap(text: &str) -> Result<Wrap, Unparsable<'_>> {
    let refused = || (text, wrap_syntax().to_owned());
    let (name, inside) = text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(refused)?;
    let arguments: Vec<&str> = inside.split(',').map(str::trim).collect();
    let size = |text: &str| text.parse::<Bytes>().ok().filter(|size| *size > Bytes::ZERO).ok_or_else(refused);
    if name.trim() == "page-cache" {
        let [capacity] = arguments[..] else { return Err(refused()) };
        return Ok(Wrap::PageCache(size(capacity)?));
    }
    let layout = LAYOUTS.into_iter().find(|layout| layout.word() == name.trim()).ok_or_else(refused)?;
    let (members, interleave) = match (layout, &arguments[..]) {
        (Layout::Mirror, [members]) => (members, INTERLEAVE),
        (Layout::Mirror, _) | (Layout::SerialStripe, [_]) => return Err(refused()),
        (_, [members]) => (members, INTERLEAVE),
        (_, [members, interleave]) => (members, size(interleave)?),
        _ => return Err(refused()),
    };
    let members: u32 = members.parse().map_err(|_| refused())?;
    let even = layout != Layout::Raid10 || members.is_multiple_of(2);
    if !(layout.min_members()..=MEMBERS_MAX).contains(&members) || !even {
        let pairs = if layout == Layout::Raid10 { ", an even number" } else { "" };
        return Err((text, say!("{name} takes {} to {MEMBERS_MAX} members{pairs}", layout.min_members())));
    }
    Ok(Wrap::Array { layout, members, interleave })
}

fn product_syntax() -> &'static str {
    label!("write a product, such as aws/gp3 or oci:256GB@50vpu")
}

fn machine_syntax() -> &'static str {
    label!("write a machine, such as aws/m5.large or machine(iops=12800, mbps=192)")
}

fn setting_syntax() -> &'static str {
    label!("write a size (256GB), a tier (P30), a number with its option (50vpu) or option=value")
}

fn wrap_syntax() -> &'static str {
    label!(
        "write stripe(N[,INTERLEAVE]), split-stripe(N[,INTERLEAVE]), serial-stripe(N,INTERLEAVE), mirror(N), raid10(N[,INTERLEAVE]), \
         raid5(N[,INTERLEAVE]), raid6(N[,INTERLEAVE]) or page-cache(SIZE) before of"
    )
}
