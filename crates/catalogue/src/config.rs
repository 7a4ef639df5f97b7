//! Configurations as text: product, settings, arrays and machine.
//!
//! Knows only the grammar: [`Catalogue`](crate::Catalogue) resolves products and options.

pub(crate) mod read;
#[cfg(test)]
mod tests;

use std::fmt;

use plimsoll_model::Layout;
use plimsoll_units::Bytes;
use thiserror::Error;

/// A storage configuration: `stripe(2,64KiB) of oci:256GB@120vpu on oci/VM.Standard.E4.Flex:16ocpu`.
///
/// ```text
/// CONFIG   = VOLUME [ " on " ( NAME [":" SETTINGS] | machine(SETTINGS) ) ]
/// VOLUME   = WRAP " of " VOLUME | NAME [ ":" SETTINGS ]
/// WRAP     = stripe(N[,INTERLEAVE]) | split-stripe(N[,I]) | serial-stripe(N,I) | mirror(N)
///          | raid10(N[,I]) | raid5(N[,I]) | raid6(N[,I]) | page-cache(SIZE)
/// SETTINGS = SETTING { ("," | "@") SETTING }
/// SETTING  = SIZE | TIER | NUMBER OPTION | OPTION=VALUE
/// ```
///
/// `Display` is canonical: options as `name=value`, settings separated by commas, explicit interleaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Arrays and caches around the volume, outermost first.
    pub wraps: Vec<Wrap>,
    /// The volume.
    pub volume: Part,
    /// The machine with the volume attached.
    pub machine: Option<Part>,
}

/// A product and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Name, alias or path of a product file.
    pub product: String,
    /// Settings in the given order.
    pub settings: Vec<Setting>,
}

/// A setting of a product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// A size with its unit as written: the product defines the vendor's GB.
    Size {
        /// Decimal number.
        number: String,
        /// Unit, such as `GB` or `GiB`.
        unit: String,
    },
    /// A tier, or a choice identified by its value.
    Word(String),
    /// An option with its value.
    Option {
        /// Name of the option.
        name: String,
        /// Its value as written.
        value: String,
    },
}

/// Layer around a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// An array of identical volumes.
    Array {
        /// Distribution of the data.
        layout: Layout,
        /// Number of members.
        members: u32,
        /// Interleave in bytes; without effect for a mirror.
        interleave: Bytes,
    },
    /// Page cache of the host, of this size.
    PageCache(Bytes),
}

/// Text that is not a configuration.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no configuration: at {at:?}, {expected}")]
pub struct ConfigError {
    /// The whole text.
    pub text: String,
    /// Rest of the text from the error on.
    pub at: String,
    /// Expected syntax.
    pub expected: String,
}

/// Name in the catalogue of a machine that a configuration describes by its limits.
pub(crate) const OWN_MACHINE: &str = "generic/machine";
/// The word for it in configurations: `machine(iops=12800,mbps=192)`.
pub(crate) const OWN_MACHINE_WORD: &str = "machine";

/// All layouts.
pub(crate) const LAYOUTS: [Layout; 7] = [
    Layout::Stripe,
    Layout::SplitStripe,
    Layout::SerialStripe,
    Layout::Mirror,
    Layout::Raid10,
    Layout::Raid5,
    Layout::Raid6,
];

impl Wrap {
    /// Number of volumes.
    pub const fn members(&self) -> u32 {
        match *self {
            Self::Array { members, .. } => members,
            Self::PageCache(_) => 1,
        }
    }

    /// Number of volumes with distinct data.
    pub const fn data_members(&self) -> u32 {
        match *self {
            Self::Array { layout, members, .. } => match layout {
                Layout::Stripe | Layout::SplitStripe | Layout::SerialStripe => members,
                Layout::Mirror => 1,
                Layout::Raid10 => members / 2,
                Layout::Raid5 => members - 1,
                Layout::Raid6 => members - 2,
            },
            Self::PageCache(_) => 1,
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wraps.iter().try_for_each(|wrap| write!(f, "{wrap} of "))?;
        self.volume.fmt(f)?;
        self.machine.iter().try_for_each(|machine| write!(f, " on {machine}"))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.product == OWN_MACHINE {
            let settings: Vec<String> = self.settings.iter().map(Setting::to_string).collect();
            return write!(f, "{OWN_MACHINE_WORD}({})", settings.join(","));
        }
        f.write_str(&self.product)?;
        for (index, setting) in self.settings.iter().enumerate() {
            write!(f, "{}{setting}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { number, unit } => write!(f, "{number}{unit}"),
            Self::Word(word) => f.write_str(word),
            Self::Option { name, value } => write!(f, "{name}={value}"),
        }
    }
}

impl fmt::Display for Wrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array { layout: Layout::Mirror, members, .. } => write!(f, "mirror({members})"),
            Self::Array { layout, members, interleave } => {
                write!(f, "{}({members},{})", layout.word(), exactly(*interleave))
            }
            Self::PageCache(size) => write!(f, "page-cache({})", exactly(*size)),
        }
    }
}

/// Exact size in the shortest notation: `64KiB`, `1200MB`.
pub(crate) fn exactly(size: Bytes) -> String {
    const UNITS: [(&str, u64); 8] = [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
    ];
    let bytes = size.get();
    let divisors = UNITS.iter().filter(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    let texts = divisors.map(|(name, unit)| format!("{}{name}", bytes / unit));
    texts.min_by_key(String::len).unwrap_or_else(|| format!("{bytes}B"))
}
