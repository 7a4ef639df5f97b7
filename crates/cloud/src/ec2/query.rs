//! Parameters of a request: a form in the body, or a query.

use super::error::Ec2Error;
use crate::web::Request;

/// Parameters that every action takes.
const EVERYWHERE: [&str; 3] = ["Action", "Version", "DryRun"];
/// Maximum number of values of a list.
const LIST_MAX: usize = 1_000;

/// Parameters in the order of the request.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
}

/// A filter: a name, and values of which one has to match.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub name: String,
    pub values: Vec<String>,
}

impl Query {
    pub fn read(request: &Request) -> Self {
        let form = form_urlencoded::parse(&request.body).into_owned();
        Self { pairs: request.query.iter().cloned().chain(form).collect() }
    }

    /// All parameters in a fixed notation.
    pub fn text(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.pairs).finish()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn required(&self, name: &str) -> Result<&str, Ec2Error> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| Ec2Error::missing(name))
    }

    pub fn number(&self, name: &str) -> Result<Option<u64>, Ec2Error> {
        let wrong = |text: &str| Ec2Error::value(format!("Value ({text}) for parameter {name} is invalid."));
        self.get(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Values of `NAME.1`, `NAME.2` and so on.
    pub fn list(&self, name: &str) -> Vec<&str> {
        (1..=LIST_MAX).map_while(|number| self.get(&format!("{name}.{number}"))).collect()
    }

    pub fn filters(&self) -> Vec<Filter> {
        let filter = |number: usize| {
            let name = self.get(&format!("Filter.{number}.Name"))?.to_owned();
            let values = self.list(&format!("Filter.{number}.Value")).into_iter().map(str::to_owned).collect();
            Some(Filter { name, values })
        };
        (1..=LIST_MAX).map_while(filter).collect()
    }

    /// Tags of new objects of a kind, such as `volume`.
    pub fn tags(&self, kind: &str) -> serde_json::Map<String, serde_json::Value> {
        let mut tags = serde_json::Map::new();
        for number in 1..=LIST_MAX {
            let prefix = format!("TagSpecification.{number}");
            let Some(found) = self.get(&format!("{prefix}.ResourceType")) else { break };
            if found == kind {
                tags.extend(self.plain_tags(&format!("{prefix}.Tag")));
            }
        }
        tags
    }

    /// Tags `PREFIX.N.Key` and `PREFIX.N.Value`.
    pub fn plain_tags(&self, prefix: &str) -> Vec<(String, serde_json::Value)> {
        let tags = self.tag_selectors(prefix).into_iter();
        tags.map(|(key, value)| (key.to_owned(), value.unwrap_or_default().into())).collect()
    }

    /// Keys `PREFIX.N.Key`, with `PREFIX.N.Value` if it is given.
    pub fn tag_selectors(&self, prefix: &str) -> Vec<(&str, Option<&str>)> {
        let tag = |number: usize| {
            Some((self.get(&format!("{prefix}.{number}.Key"))?, self.get(&format!("{prefix}.{number}.Value"))))
        };
        (1..=LIST_MAX).map_while(tag).collect()
    }

    /// Refuses parameters that an action does not have. `defined` are names, or beginnings of names that end in a dot.
    pub fn only(&self, defined: &[&str]) -> Result<(), Ec2Error> {
        let is_known = |key: &str| {
            EVERYWHERE.contains(&key)
                || defined.iter().any(|defined| *defined == key || (defined.ends_with('.') && key.starts_with(defined)))
        };
        if let Some((key, _)) = self.pairs.iter().find(|(key, _)| !is_known(key)) {
            let displayed: String = key.chars().take(100).collect();
            let message = format!("The parameter {displayed} is not recognized");
            return Err(Ec2Error::new("UnknownParameter", message));
        }
        Ok(())
    }

    /// Ends a dry run, after all checks and before the change.
    pub fn end_dry_run(&self) -> Result<(), Ec2Error> {
        if self.is_true("DryRun") {
            let message = "Request would have succeeded, but DryRun flag is set.";
            return Err(Ec2Error::new("DryRunOperation", message));
        }
        Ok(())
    }
}

/// True if each filter matches one of the values of its name; refused if a name is unknown.
pub(super) fn selects<'v>(
    filters: &[Filter],
    values_of: impl Fn(&str) -> Option<Vec<String>> + 'v,
) -> Result<bool, Ec2Error> {
    for Filter { name, values } in filters {
        let Some(present) = values_of(name) else {
            let displayed: String = name.chars().take(100).collect();
            return Err(Ec2Error::value(format!("The filter '{displayed}' is invalid")));
        };
        if !values.iter().any(|pattern| present.iter().any(|value| matches(pattern, value))) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares a value with a pattern: `*` stands for any letters, `?` for one letter or none, and a backslash precedes a literal
/// letter (EC2 user guide, List and filter using the CLI and API).
fn matches(pattern: &str, value: &str) -> bool {
    let value: Vec<char> = value.chars().collect();
    // Whether the pattern so far matches the value up to each position.
    let mut matched = vec![false; value.len() + 1];
    matched[0] = true;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => (1..matched.len()).for_each(|end| matched[end] |= matched[end - 1]),
            '?' => (1..matched.len()).rev().for_each(|end| matched[end] |= matched[end - 1]),
            letter => {
                let literal = if letter == '\\' { letters.next().unwrap_or(letter) } else { letter };
                for end in (1..matched.len()).rev() {
                    matched[end] = matched[end - 1] && value[end - 1] == literal;
                }
                matched[0] = false;
            }
        }
    }
    matched[value.len()]
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_have_wildcards() {
        for (pattern, value, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "aab", true),
            ("a?c*", "abc", true),
            ("a?c", "ac", true),
            ("a?c", "abbc", false),
            ("prod?", "production", false),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "acb", false),
            (r"\*amazon\?\\", r"*amazon?\", true),
            (r"\*amazon\?\\", r"xamazon?\", false),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, value), expected, "{pattern} {value}");
        }
    }
}
