//! The subject of a figure.

/// The subject of a figure. Unknown fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadingScope {
    /// The database, or a pluggable database.
    pub database: String,
    /// The database's identifier, because databases may share a name.
    pub database_id: String,
    /// An instance of a clustered database.
    pub instance: String,
    pub host: String,
    /// A device, volume, file or tablespace; empty for all of them.
    pub part: String,
    /// The provider's identifier of the part, because parts may share a name.
    pub part_id: String,
}
