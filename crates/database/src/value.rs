//! Values of parameters and columns.

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    /// An integer of any width.
    Int(i64),
    /// A floating-point number; decimals are returned as this or as text.
    Float(f64),
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// The integer, parsed from text if necessary.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Float(value) => Some(*value as i64),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Null | Self::Bytes(_) => None,
        }
    }

    /// The number, parsed from text if necessary.
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Null | Self::Bytes(_) => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

/// Values of a row, in column order.
pub type Row = Vec<Value>;
