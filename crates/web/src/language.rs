//! Languages of labels. Numbers, units and product names are the same in all.

/// A language of the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

impl Language {
    /// The language named by a cookie; English without it.
    pub fn of_cookie(value: Option<&str>) -> Self {
        if value == Some("ja") { Self::Japanese } else { Self::English }
    }

    /// Tag of BCP 47.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }

    /// The label in this language.
    pub const fn pick(self, english: &'static str, japanese: &'static str) -> &'static str {
        match self {
            Self::English => english,
            Self::Japanese => japanese,
        }
    }
}
