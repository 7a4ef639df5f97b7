//! The initiators that may log in to a volume over iSCSI.

use plimsoll_front::iscsi::{Admission, Credentials};
use serde::{Deserialize, Serialize};

/// The initiators that may log in to a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Initiators {
    /// Those that the service admits.
    #[default]
    OfService,
    /// Those that have the secret of an attachment.
    WithSecret(ChapSecret),
    /// None: a control plane has detached the volume.
    None,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChapSecret {
    /// Name by which the initiator authenticates.
    pub user: String,
    /// At least 12 bytes.
    pub secret: String,
}

impl std::fmt::Debug for ChapSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChapSecret").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Initiators {
    pub(crate) fn admission(&self) -> Admission {
        match self {
            Self::OfService => Admission::Settings,
            Self::WithSecret(ChapSecret { user, secret }) => {
                Admission::Secret(Credentials { name: user.clone(), secret: secret.clone().into_bytes() })
            }
            Self::None => Admission::Closed,
        }
    }

    /// True for the initiators of a new volume.
    pub(crate) fn are_usual(&self) -> bool {
        *self == Self::OfService
    }
}
