//! Flags of `plimsoll suite articles`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::articles::{Article, Articles, ArticlesOptions};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::{Bytes, Span};

use super::{Place, PlaceArgs, Suite};

/// `plimsoll suite articles`
#[derive(Debug, Args)]
pub struct ArticlesArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Whose commands, and whose table beside them
    #[arg(long, value_enum)]
    pub article: ArticleWord,
    /// Bytes of each file, instead of the article's
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// How long a step is, instead of the article's
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
}

/// An article.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArticleWord {
    /// OCI block volumes of several levels and sizes, with dd
    OciLevels,
    /// NetApp TR-4969: AFF A-Series and C-Series under a ladder of threads
    Tr4969,
    /// SATA disk, SSD and ioDrive of rented servers, with Bonnie++ and tiotest
    Sakura,
    /// Disks of Azure in 2014, one and two striped, with CrystalDiskMark 3.0.3
    AzureStriping,
    /// OCI block volumes of Ultra High Performance, with fio
    OciUhp,
}

impl Suite for ArticlesArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let article = match self.article {
            ArticleWord::OciLevels => Article::OciLevels,
            ArticleWord::Tr4969 => Article::Tr4969,
            ArticleWord::Sakura => Article::Sakura,
            ArticleWord::AzureStriping => Article::AzureStriping,
            ArticleWord::OciUhp => Article::OciUhp,
        };
        let usual = ArticlesOptions { memory: self.place.memory(facts), ..ArticlesOptions::of(article) };
        Ok(Box::new(Articles::new(ArticlesOptions { size: self.size, span: self.measure, ..usual }, facts)?))
    }
}
