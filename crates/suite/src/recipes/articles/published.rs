//! Figures that the articles published, read from `articles/*.toml`: the only copy, for the suites, the page of the articles and
//! their tests.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, de};

/// Name and content of a file of `articles/`.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../articles/", $name, ".toml")))
    };
}

const FILES: [(&str, &str); 5] =
    [file!("azure-striping"), file!("oci-levels"), file!("oci-uhp"), file!("sakura"), file!("tr-4969")];

static ARTICLES: LazyLock<Vec<(&str, PublishedArticle)>> = LazyLock::new(|| {
    let read = |(name, text)| (name, PublishedArticle::read(name, text).unwrap_or_else(|error| panic!("{error}")));
    FILES.map(read).into()
});

/// The figures of an article, by the name of its file: `azure-striping`.
///
/// # Panics
/// No file has this name. The embedded files are valid: a test reads them all.
pub fn article(name: &str) -> &'static PublishedArticle {
    ARTICLES.iter().find(|(file, _)| *file == name).map(|(_, content)| content).expect("a file of articles/")
}

/// A refused file of an article.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArticleError {
    /// No TOML, a missing or unknown key, or a value of another type.
    #[error("articles/{file}.toml: {message}")]
    Syntax {
        file: String,
        /// Line, key and reason.
        message: String,
    },
    /// The figures of a row do not match the columns of its table.
    #[error("articles/{file}.toml: table {table}, row {row}: {figures} figures for {columns} columns")]
    Columns { file: String, table: String, row: String, figures: usize, columns: usize },
}

/// The quantity of a step that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedFigure {
    /// Millions of bytes per second: the best round.
    Megabytes,
    /// MiB per second.
    Mebibytes,
    /// KiB written per second.
    KibibytesWritten,
    /// KiB read per second.
    KibibytesRead,
    /// Reads per second.
    Reads,
    /// Mean time of a read or write, in milliseconds.
    MeanMillis,
}

/// Which step of a command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Find {
    /// The one of this place among the names of steps that count, from 0.
    Place(usize),
    Named(String),
}

/// The figure of the suite that a row is compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFigure {
    pub command: usize,
    pub step: Find,
    pub figure: PublishedFigure,
}

/// A line of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArticleRow {
    /// Name of the line.
    pub label: String,
    pub unit: String,
    /// Digits behind the point.
    pub digits: usize,
    /// A figure for each column; none where the article has none. In the file a number, the samples whose mean is the
    /// figure, or an empty text.
    #[serde(deserialize_with = "figures")]
    pub published: Vec<Option<f64>>,
    /// The figure of the suite of the articles; none where it has none.
    pub suite: Option<SuiteFigure>,
}

/// How the figures of a table came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureStatus {
    Measured,
    /// From the vendor's specification.
    Specification,
    /// From the vendor's price list.
    Price,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArticleTable {
    /// Name within the file.
    pub name: String,
    pub title: String,
    pub place: String,
    /// How the figures came about.
    pub status: FigureStatus,
    /// Above each column, in two lines.
    pub columns: Vec<[String; 2]>,
    pub rows: Vec<ArticleRow>,
    /// Why figures of another place, or of a model, differ from these.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl ArticleTable {
    /// The line of this label.
    ///
    /// # Panics
    /// No line has this label.
    pub fn row(&self, label: &str) -> &ArticleRow {
        self.rows.iter().find(|line| line.label == label).expect("a line of the table")
    }

    /// The figures of a line that the article has in each of the first columns, by its label.
    ///
    /// # Panics
    /// No line has this label, or a column has no figure.
    pub fn figures<const N: usize>(&self, label: &str) -> [f64; N] {
        let line = self.row(label);
        std::array::from_fn(|column| line.published[column].expect("the article has a figure"))
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedArticle {
    /// Author or publisher, title, language and date.
    pub title: String,
    /// Address; none where it is not recorded.
    pub address: Option<String>,
    pub tables: Vec<ArticleTable>,
}

impl PublishedArticle {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The file, and the line and key or the row that is wrong.
    pub fn read(file: &str, text: &str) -> Result<Self, ArticleError> {
        let content: Self = toml::from_str(text)
            .map_err(|error| ArticleError::Syntax { file: file.into(), message: error.to_string() })?;
        for table in &content.tables {
            if let Some(row) = table.rows.iter().find(|row| row.published.len() != table.columns.len()) {
                return Err(ArticleError::Columns {
                    file: file.into(),
                    table: table.name.clone(),
                    row: row.label.clone(),
                    figures: row.published.len(),
                    columns: table.columns.len(),
                });
            }
        }
        Ok(content)
    }

    /// The table of this name.
    ///
    /// # Panics
    /// The article has no table of this name.
    pub fn table(&self, name: &str) -> &ArticleTable {
        self.tables.iter().find(|table| table.name == name).expect("a table of the article")
    }
}

/// A figure in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Number(f64),
    Samples(Vec<f64>),
    Missing(String),
}

fn figures<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Option<f64>>, D::Error> {
    let figure = |cell| match cell {
        Cell::Number(value) => Ok(Some(value)),
        Cell::Samples(values) if !values.is_empty() => Ok(Some(values.iter().sum::<f64>() / values.len() as f64)),
        Cell::Missing(text) if text.is_empty() => Ok(None),
        Cell::Samples(_) | Cell::Missing(_) => {
            Err(de::Error::custom("a figure is a number, samples, or an empty text"))
        }
    };
    Vec::<Cell>::deserialize(input)?.into_iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_compared_tables() {
        for (name, table) in
            [("azure-striping", "crystaldiskmark"), ("oci-levels", "dd"), ("oci-uhp", "fio"), ("sakura", "programs")]
        {
            assert!(article(name).table(table).rows.iter().all(|row| row.suite.is_some()), "{name}");
        }
        assert_eq!(
            article("tr-4969").table("arrays").row("Mean read at the highest load").published,
            [Some(500.0), None]
        );
    }

    #[test]
    fn mean_of_samples_is_the_figure() {
        let [slow, ..] = article("oci-uhp").table("fio").figures::<3>("Random read, 4 KiB");
        assert!((slow - 531.0).abs() < 1e-9, "{slow}");
    }

    #[test]
    fn errors_have_file_and_key() {
        let check = |published: &str, expected: &str| {
            let text = format!(
                "title = \"t\"\n[[tables]]\nname = \"n\"\ntitle = \"t\"\nplace = \"p\"\nstatus = \"measured\"\n\
                 columns = [[\"a\", \"b\"]]\nrows = [{{ label = \"l\", unit = \"s\", digits = 0, {published} }}]\n"
            );
            let error = PublishedArticle::read("x", &text).expect_err(published).to_string();
            assert!(error.starts_with("articles/x.toml: ") && error.contains(expected), "{error}");
        };
        check("published = [1, 2]", "table n, row l: 2 figures for 1 columns");
        check("published = [\"-\"]", "line 8");
        check("published = [[]]", "line 8");
        check("published = [1], other = 2", "unknown field `other`");
        check("unit_of = 1", "unknown field `unit_of`");
    }
}
