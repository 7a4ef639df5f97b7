//! Values that go into statements and come back.

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// An integer of any width.
    Int(i64),
    /// A floating-point number; decimals come back as this or as text.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// The integer, also where it came as text.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Float(value) => Some(*value as i64),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Null | Self::Bytes(_) => None,
        }
    }

    /// The number, also where it came as text.
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Null | Self::Bytes(_) => None,
        }
    }

    /// The text.
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

/// Values of one row, in the order of its columns.
pub type Row = Vec<Value>;
