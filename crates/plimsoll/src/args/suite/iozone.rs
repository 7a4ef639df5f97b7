//! Flags of `plimsoll suite iozone`.

use clap::Args;
use plimsoll_device::SyncMode;
use plimsoll_suite::recipes::iozone::{Extent, Iozone, IozoneOptions, Test, Timed, Unit};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Bytes;

use super::{Place, PlaceArgs, Suite};

/// `plimsoll suite iozone`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // switches of the tool, each of its own
pub struct IozoneArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Tests by their numbers (-i): 0 write, 1 read, 2 random, 3 backward, 4 record rewrite, 5 stride, 8 mixed, 9 to 12
    /// pwrite, pread, pwritev, preadv; all of one process by default
    #[arg(short = 'i', long = "tests", value_name = "NUMBER", value_delimiter = ',')]
    pub tests: Vec<u8>,
    /// All file sizes from 64 KiB to 512 MiB with records from 4 KiB to 16 MiB (-a)
    #[arg(short, long, conflicts_with_all = ["size", "threads"])]
    pub all: bool,
    /// Size of the file (-s)
    #[arg(short, long, value_name = "SIZE", default_value = "512KiB")]
    pub size: Bytes,
    /// Size of a record (-r)
    #[arg(short, long, value_name = "SIZE", default_value = "4KiB")]
    pub record: Bytes,
    /// The largest file of --all (-g)
    #[arg(long, value_name = "SIZE", requires = "all", default_value = "512MiB")]
    pub largest: Bytes,
    /// Small records for large files too (-z)
    #[arg(short = 'z', long, requires = "all")]
    pub small_records: bool,
    /// So many processes at once, each with a file; their end is that of the first (-t)
    #[arg(short, long, value_name = "NUMBER")]
    pub threads: Option<u32>,
    /// The fsync at the end is in the time (-e)
    #[arg(short = 'e', long)]
    pub flush: bool,
    /// The close is in the time (-c)
    #[arg(short, long)]
    pub close: bool,
    /// Past the page cache (-I)
    #[arg(short = 'I', long)]
    pub direct: bool,
    /// Each write durable, by `O_SYNC` (-o)
    #[arg(short = 'o', long, conflicts_with = "data_synchronous")]
    pub synchronous: bool,
    /// Each write durable, by `O_DSYNC` (-+D)
    #[arg(long)]
    pub data_synchronous: bool,
    /// The report for spreadsheets too (-R)
    #[arg(short = 'R', long)]
    pub report: bool,
    /// Figures are operations per second (-O)
    #[arg(short = 'O', long, conflicts_with = "microseconds")]
    pub operations: bool,
    /// Figures are microseconds for each operation (-N)
    #[arg(short = 'N', long)]
    pub microseconds: bool,
}

impl IozoneArgs {
    fn extent(&self) -> Result<Extent, String> {
        let record = u32::try_from(self.record.get()).map_err(|_| "a record is too large: write --record 4KiB")?;
        Ok(match (self.threads, self.all, Extent::matrix()) {
            (Some(count), ..) => Extent::Processes { count, size: self.size, record },
            (None, true, Extent::Matrix { sizes, records, .. }) => {
                Extent::Matrix { sizes: (sizes.0, self.largest), records, small_records_always: self.small_records }
            }
            _ => Extent::One { size: self.size, record },
        })
    }
}

impl Suite for IozoneArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let test = |number: &u8| {
            let why = "0 to 5 and 8 to 12 are the tests that there are: write -i 0,1";
            Test::of_number(*number).ok_or_else(|| format!("test {number} is not made here: {why}"))
        };
        let usual = IozoneOptions::default();
        let tests = self.tests.iter().map(test).collect::<Result<Vec<_>, _>>()?;
        let options = IozoneOptions {
            extent: self.extent()?,
            tests: match (tests.is_empty(), self.threads) {
                (false, _) => tests,
                // Rewriting a record is of one process.
                (true, Some(_)) => usual.tests.into_iter().filter(|test| *test != Test::RecordRewrite).collect(),
                (true, None) => usual.tests,
            },
            timed: match (self.flush, self.close) {
                (false, false) => Timed::Calls,
                (true, false) => Timed::Flush,
                (false, true) => Timed::Close,
                (true, true) => Timed::FlushAndClose,
            },
            direct: self.direct,
            opened: match (self.synchronous, self.data_synchronous) {
                (true, _) => SyncMode::Sync,
                (_, true) => SyncMode::Dsync,
                _ => SyncMode::None,
            },
            unit: match (self.operations, self.microseconds) {
                (true, _) => Unit::Operations,
                (_, true) => Unit::Microseconds,
                _ => usual.unit,
            },
            report: self.report,
            memory: self.place.memory(facts),
            ..usual
        };
        Ok(Box::new(Iozone::new(options, facts)?))
    }
}
