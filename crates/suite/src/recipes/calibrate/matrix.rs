//! Which loads are tried: Orion's runs and matrices.
//!
//! Columns are small operations outstanding, rows large ones; nothing outstanding is no load. Knows nothing about figures.

use std::fmt;

use super::Outstanding;

/// Which loads are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// Small operations until their latency is above its limit, then large ones until no more get through.
    #[default]
    Limit,
    /// Small operations alone, then large ones alone.
    Simple,
    /// Every combination of small and large ones.
    Normal,
    /// Small operations alone, up to 20 for each disk.
    Oltp,
    /// Large operations alone, up to 15 for each disk.
    Dss,
    /// A matrix of one's own.
    Advanced(Matrix),
}

/// A part of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// Its first row and first column: nothing is combined.
    Basic,
    /// All of it.
    Detailed,
    /// One load.
    Point(Outstanding),
    /// Growing small operations beside so many large ones.
    Row {
        /// Large operations outstanding.
        large: u32,
    },
    /// Growing large operations beside so many small ones.
    Column {
        /// Small operations outstanding.
        small: u32,
    },
    /// All of it up to a load.
    Max(Outstanding),
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => f.write_str("limit"),
            Self::Simple => f.write_str("simple"),
            Self::Normal => f.write_str("normal"),
            Self::Oltp => f.write_str("oltp"),
            Self::Dss => f.write_str("dss"),
            Self::Advanced(Matrix::Basic) => f.write_str("advanced -matrix basic"),
            Self::Advanced(Matrix::Detailed) => f.write_str("advanced -matrix detailed"),
            Self::Advanced(Matrix::Row { large }) => write!(f, "advanced -matrix row -num_large {large}"),
            Self::Advanced(Matrix::Column { small }) => write!(f, "advanced -matrix col -num_small {small}"),
            Self::Advanced(Matrix::Point(Outstanding { small, large })) => {
                write!(f, "advanced -matrix point -num_small {small} -num_large {large}")
            }
            Self::Advanced(Matrix::Max(Outstanding { small, large })) => {
                write!(f, "advanced -matrix max -num_small {small} -num_large {large}")
            }
        }
    }
}

impl Run {
    /// Its loads in their order; none where they depend on what is seen.
    pub(super) fn loads(self, disks: u32) -> Vec<Outstanding> {
        let (small, large) = (5 * disks, 2 * disks);
        match self {
            Self::Limit => Vec::new(),
            Self::Simple | Self::Advanced(Matrix::Basic) => [column(0, 1..=small), row(0, 1..=large)].concat(),
            Self::Normal | Self::Advanced(Matrix::Detailed) => combined(small, large),
            Self::Oltp => column(0, (1..=20).map(|times| times * disks)),
            Self::Dss => row(0, (1..=15).map(|times| times * disks)),
            Self::Advanced(Matrix::Point(load)) => {
                (load != Outstanding::default()).then_some(load).into_iter().collect()
            }
            Self::Advanced(Matrix::Row { large }) => column(large, u32::from(large == 0)..=small),
            Self::Advanced(Matrix::Column { small }) => row(small, u32::from(small == 0)..=large),
            Self::Advanced(Matrix::Max(load)) => combined(load.small, load.large),
        }
    }
}

/// Small operations that grow beside so many large ones.
fn column(large: u32, small: impl Iterator<Item = u32>) -> Vec<Outstanding> {
    small.map(|small| Outstanding { small, large }).collect()
}

/// Large operations that grow beside so many small ones.
fn row(small: u32, large: impl Iterator<Item = u32>) -> Vec<Outstanding> {
    large.map(|large| Outstanding { small, large }).collect()
}

/// Every load up to these but nothing at all.
fn combined(small: u32, large: u32) -> Vec<Outstanding> {
    let all = (0..=large).flat_map(|large| column(large, 0..=small));
    all.filter(|load| *load != Outstanding::default()).collect()
}
