//! A configuration, or stages of a model without a product.

use std::str::FromStr;

use plimsoll_model::{ChainSpec, NotationError};
use thiserror::Error;

use crate::config::{Config, ConfigError, OWN_MACHINE_WORD};

/// A configuration or stages.
#[derive(Clone, Debug, PartialEq)]
pub enum Like {
    /// Stages in the notation of models: `limit(3000) then link(1ms)`.
    Stages(ChainSpec),
    /// A configuration: `oci:256GB@50vpu`.
    Config(Config),
}

/// Text that is neither.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoLike {
    /// Invalid stages.
    #[error("{0}")]
    Stages(NotationError),
    /// An invalid configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl FromStr for Like {
    type Err = NoLike;

    fn from_str(text: &str) -> Result<Self, NoLike> {
        match plimsoll_model::parse(text) {
            Ok(model) => Ok(Self::Stages(model)),
            Err(error) if is_stages(text) => Err(NoLike::Stages(error)),
            Err(_) => Ok(Self::Config(text.parse()?)),
        }
    }
}

/// True for a text in the form of stages, valid or not: `name(...)` without `of`.
fn is_stages(text: &str) -> bool {
    let (open, colon) = (text.find('('), text.find(':'));
    let is_machine = |before: &str| before.contains(" on ") || before.trim() == OWN_MACHINE_WORD;
    let begins = |open: usize| colon.is_none_or(|colon| open < colon) && !is_machine(&text[..open]);
    !text.contains(") of ") && open.is_some_and(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_and_configurations_are_distinguished() {
        assert!(matches!("limit(3000) then link(1ms)".parse(), Ok(Like::Stages(_))));
        assert!(matches!("link(one)".parse::<Like>(), Err(NoLike::Stages(_))));
        for config in [
            "machine(iops=1000)",
            "gp3 on machine(iops=1000)",
            "gp3:100GiB",
            "stripe(2,64KiB) of gp3:100GiB",
            "oci:50GB@0vpu on oci/BM.Standard.E4.128",
        ] {
            assert!(matches!(config.parse(), Ok(Like::Config(_))), "{config}");
        }
        assert!(matches!("gp3:".parse::<Like>(), Err(NoLike::Config(_))));
    }
}
