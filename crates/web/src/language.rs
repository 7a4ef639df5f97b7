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
    /// The language that the user chose, or that the browser prefers in `Accept-Language`; otherwise English.
    pub fn of(chosen: Option<&str>, accepted: Option<&str>) -> Self {
        match chosen {
            Some("ja") => Self::Japanese,
            Some(_) => Self::English,
            None => accepted.map_or(Self::English, Self::preferred),
        }
    }

    /// The language of highest quality in a list of ranges (RFC 9110, section 12.5.4), the first of equals.
    fn preferred(ranges: &str) -> Self {
        let quality = |range: &str| {
            let (tag, parameter) = range.split_once(';').unwrap_or((range, ""));
            let quality =
                parameter.trim().strip_prefix("q=").map_or(Some(1.0), |text| text.trim().parse::<f64>().ok())?;
            let language = match tag.trim().split('-').next()?.to_ascii_lowercase().as_str() {
                "ja" => Self::Japanese,
                "en" | "*" => Self::English,
                _ => return None,
            };
            (quality > 0.0).then_some((language, quality))
        };
        let best = ranges.split(',').filter_map(quality).reduce(|a, b| if b.1 > a.1 { b } else { a });
        best.map_or(Self::English, |(language, _)| language)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferred_language_is_chosen() {
        let of = |text: &str| Language::of(None, Some(text)).tag();
        for text in ["ja", "ja-JP,ja;q=0.9,en;q=0.8", "fr, ja;q=0.7, en;q=0.3", "en;q=0.1,ja"] {
            assert_eq!(of(text), "ja", "{text}");
        }
        for text in ["en-US,en;q=0.9,ja;q=0.8", "fr", "", "ja;q=0", "ja;q=x", "*, ja;q=0.5"] {
            assert_eq!(of(text), "en", "{text}");
        }
        assert_eq!(Language::of(Some("en"), Some("ja")), Language::English, "the user chose it");
        assert_eq!(Language::of(None, None), Language::English);
    }
}
