//! Checks of a host.

use plimsoll_record::{CheckNeed, HostCheck};

use super::each;
use crate::words::host_check::{describe_fact, describe_remedy};

view! {
    /// Checks of a host and of the storage at a path: its fitness for measurements and emulated volumes.
    struct Doctor from checked: (&str, &[HostCheck]) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.doctor/1"))]
        format: &'static str = "plimsoll.doctor/1",
        /// The path.
        path: String = checked.0.to_owned(),
        /// True if all necessary checks are ok or a caution.
        ready: bool = !checked.1.iter().any(HostCheck::is_blocking),
        /// The checks, gravest results first.
        checks: Vec<DoctorCheck> = each(checked.1),
    }

    /// A check of the host.
    struct DoctorCheck from check: &HostCheck {
        /// Name of the check.
        name: &'static str = check.name(),
        /// `ok`, `caution` (works, but figures or response times are doubtful), `failed` (a command will not work) or
        /// `unknown` (could not be checked).
        status: &'static str = check.status.name(),
        /// True if `plimsoll measure` or `plimsoll serve` needs it.
        necessary: bool = check.need == CheckNeed::Necessary,
        /// The observation.
        found: String = describe_fact(check),
        /// Consequence and remedy; null if none is needed.
        remedy: Option<String> = Some(describe_remedy(check)).filter(|remedy| !remedy.is_empty()),
    }
}
