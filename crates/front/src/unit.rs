//! The identity of an export as a SCSI logical unit, and who may reach it.

/// The names by which initiators know a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InquiryNames {
    /// At most 8 ASCII characters.
    pub vendor: String,
    /// At most 16 ASCII characters.
    pub product: String,
    /// At most 4 ASCII characters.
    pub revision: String,
}

impl Default for InquiryNames {
    fn default() -> Self {
        Self { vendor: "PLIMSOLL".into(), product: "VOLUME".into(), revision: "1.0".into() }
    }
}

/// The identity of an export as the logical unit of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitIdentity {
    pub target: String,
    /// Identifies the unit, whatever its name. Its last 100 bits are the NAA designator of type 6.
    pub uuid: u128,
    pub names: InquiryNames,
    /// Commands of one session in flight; `None` for the setting of the server.
    pub queue_depth: Option<u32>,
    pub paths: Paths,
    /// Portals that discovery returns, from the first one on; `None` for all.
    pub portals: Option<u16>,
    /// The initiators that may log in.
    pub admission: Admission,
}

/// The initiators that a target admits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// Those that the settings of the server admit.
    #[default]
    Settings,
    /// Those that prove the knowledge of this secret, whatever the settings are.
    Secret(Credentials),
    /// None: neither discovery nor login finds the target.
    Closed,
}

impl UnitIdentity {
    /// The designator of type NAA 6, without a company.
    pub const fn naa(&self) -> [u8; 16] {
        (0x6 << 124 | self.uuid & ((1 << 100) - 1)).to_be_bytes()
    }
}

/// The kinds of paths to a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// All are alike.
    #[default]
    Equal,
    /// The portals belong to two controllers in turns, and one controller owns the unit (implicit ALUA, SPC-4, 5.16).
    TwoControllers,
}

/// One of the two controllers of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// That of the first portal and every second one after it.
    #[default]
    A,
    /// That of the second portal and every second one after it.
    B,
}

impl Controller {
    /// The other controller.
    #[must_use]
    pub const fn partner(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A name and its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub name: String,
    /// The secret. RFC 7143 demands at least 12 bytes.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("name", &self.name).finish_non_exhaustive()
    }
}
