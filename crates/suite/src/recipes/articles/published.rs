//! Figures that the articles published, with their sources: the only copy, for the suite, the page of the articles and its
//! tests.

/// The quantity of a step that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// The one of this name.
    Named(&'static str),
    /// The one of this place among the names of steps that count, from 0.
    Place(usize),
}

/// A line of a table.
#[derive(Clone, Copy, Debug)]
pub struct ArticleRow {
    /// Name of the line.
    pub label: &'static str,
    /// Unit of its figures.
    pub unit: &'static str,
    /// Digits behind the point.
    pub digits: usize,
    /// Index of the command.
    pub command: usize,
    /// The step.
    pub find: Find,
    /// The quantity.
    pub figure: PublishedFigure,
    /// A figure for each column; none where the article has none.
    pub published: &'static [Option<f64>],
}

/// A table and its source.
#[derive(Clone, Copy, Debug)]
pub struct ArticleTable {
    /// Heading.
    pub title: &'static str,
    /// The article.
    pub source: &'static str,
    /// Above each column, in two lines.
    pub columns: &'static [[&'static str; 2]],
    /// The lines.
    pub rows: &'static [ArticleRow],
    /// Why figures of another place, or of a model, differ from these.
    pub notes: &'static [&'static str],
}

impl ArticleTable {
    /// The figures of a line that the article has in each column, by its label.
    ///
    /// # Panics
    /// No line has this label, or a column has no figure.
    pub fn figures<const N: usize>(&self, label: &str) -> [f64; N] {
        let line = self.rows.iter().find(|line| line.label == label).expect("a line of the table");
        std::array::from_fn(|column| line.published[column].expect("the article has a figure"))
    }
}

const fn row(
    label: &'static str,
    unit: &'static str,
    digits: usize,
    place: (usize, Find),
    figure: PublishedFigure,
    published: &'static [Option<f64>],
) -> ArticleRow {
    ArticleRow { label, unit, digits, command: place.0, find: place.1, figure, published }
}

/// Levels and sizes of OCI block volumes under `dd`.
pub const OCI_LEVELS: ArticleTable = ArticleTable {
    title: "OCI block volumes of four levels and sizes, dd bs=1G count=5",
    source: "OCI block volume performance by VPU, with dd (Japanese), November 2024",
    columns: &[["lower cost", "50 GB"], ["balanced", "50 GB"], ["lower cost", "100 GB"], ["balanced", "100 GB"]],
    rows: &[row(
        "dd, buffered",
        "MB/s",
        1,
        (0, Find::Place(0)),
        PublishedFigure::Megabytes,
        &[Some(15.4), Some(30.8), Some(30.8), Some(62.3)],
    )],
    notes: &[
        "the volumes allow 12.3, 24.6, 24.6 and 49.2 MB/s, with KB of 1,024 bytes: the published rates are 1.25 times as high, because dd \
         ended while about 1.09 GB were still in memory, in each of the four runs",
    ],
};

/// Lines of fio on an OCI volume of 256 GB: VPUs, and three samples of IOPS and of MiB/s.
pub const OCI_UHP_SAMPLES: [(u32, [f64; 3], [f64; 3]); 3] = [
    (0, [532.0, 514.0, 547.0], [2129.0 / 1024.0, 2057.0 / 1024.0, 2189.0 / 1024.0]),
    (50, [30_400.0, 30_500.0, 30_900.0], [119.0, 119.0, 121.0]),
    (120, [57_500.0, 56_900.0, 57_500.0], [225.0, 222.0, 225.0]),
];

const fn mean_iops(index: usize) -> f64 {
    let [a, b, c] = OCI_UHP_SAMPLES[index].1;
    (a + b + c) / 3.0
}

/// An OCI volume of 256 GB with three numbers of VPUs under fio.
pub const OCI_UHP: ArticleTable = ArticleTable {
    title: "OCI block volume of 256 GB with 0, 50 and 120 VPUs, fio of 4 jobs at depth 256",
    source: "OCI Ultra High Performance with fio (undated), means of the three samples that it prints",
    columns: &[["VPU/GB", "0"], ["VPU/GB", "50"], ["VPU/GB", "120"]],
    rows: &[row(
        "Random read, 4 KiB",
        "IOPS",
        0,
        (0, Find::Place(0)),
        PublishedFigure::Reads,
        &[Some(mean_iops(0)), Some(mean_iops(1)), Some(mean_iops(2))],
    )],
    notes: &[
        "the published figures are the first seconds of runs that were broken off: what fio shows each second, not its result",
        "512 GiB in the article's own listings belong to another volume: only 256 GB explain these rates",
    ],
};

const CDM: [(&str, usize); 8] = [
    ("Sequential Read", 0),
    ("Sequential Write", 1),
    ("Random Read 512KB", 2),
    ("Random Write 512KB", 3),
    ("Random Read 4KB (QD=1)", 4),
    ("Random Write 4KB (QD=1)", 5),
    ("Random Read 4KB (QD=32)", 6),
    ("Random Write 4KB (QD=32)", 7),
];

const fn cdm(line: usize, published: &'static [Option<f64>]) -> ArticleRow {
    let (label, place) = CDM[line];
    row(label, "MB/s", 3, (0, Find::Place(place)), PublishedFigure::Megabytes, published)
}

/// Disks of Azure, one and two striped, under `CrystalDiskMark` 3.0.3.
pub const AZURE: ArticleTable = ArticleTable {
    title: "Azure disks of 2014, one and two striped, CrystalDiskMark 3.0.3, 1000 MB x5",
    source: "froop: striping disks of Windows Server on Microsoft Azure (gist, Japanese), 4 September 2014",
    columns: &[["2008 R2", "single"], ["2008 R2", "stripe of 2"], ["2012 R2", "single"], ["2012 R2", "pool of 2"]],
    rows: &[
        cdm(0, &[Some(33.412), Some(58.319), Some(34.771), Some(57.907)]),
        cdm(1, &[Some(18.088), Some(51.255), Some(17.647), Some(54.722)]),
        cdm(2, &[Some(21.263), Some(22.685), Some(19.511), Some(25.827)]),
        cdm(3, &[Some(17.922), Some(39.693), Some(15.545), Some(39.513)]),
        cdm(4, &[Some(0.357), Some(0.423), Some(0.314), Some(0.478)]),
        cdm(5, &[Some(0.921), Some(0.870), Some(0.814), Some(0.886)]),
        cdm(6, &[Some(2.073), Some(4.133), Some(2.067), Some(4.297)]),
        cdm(7, &[Some(2.069), Some(4.158), Some(2.071), Some(4.140)]),
    ],
    notes: &[
        "at QD=32 each disk gave its limit of 500 IOPS, so that two gave twice as much; at QD=1 one read at a time waits for \
         one disk, and a second disk has nothing to do: striping helps deep queues only",
        "the stripes wrote in order 2.8 to 3.1 times as fast as one disk, which two disks alone do not explain",
        "the score is the best of five runs, and says nothing about the others",
    ],
};

/// Operations per second that `CrystalDiskMark` prints next to the rates of its requests of 4 KB, in the columns of [`AZURE`].
pub const AZURE_OPERATIONS: [(&str, [f64; 4]); 4] = [
    ("Random Read 4KB (QD=1)", [87.1, 103.2, 76.8, 116.8]),
    ("Random Write 4KB (QD=1)", [224.8, 212.4, 198.7, 216.2]),
    ("Random Read 4KB (QD=32)", [506.1, 1009.1, 504.7, 1049.0]),
    ("Random Write 4KB (QD=32)", [505.0, 1015.1, 505.7, 1010.7]),
];

const NONE: Option<f64> = None;

const fn tiotest_mean(label: &'static str, place: usize, published: &'static [Option<f64>]) -> ArticleRow {
    row(label, "ms", 3, (1, Find::Place(place)), PublishedFigure::MeanMillis, published)
}

/// SATA disk, SSD and `ioDrive` of rented servers under `Bonnie++` and `tiotest`.
pub const SAKURA: ArticleTable = ArticleTable {
    title: "SATA disk, SSD and ioDrive of rented servers, Bonnie++ and tiotest -t 8 -f 128 -b 4096 -r 32768",
    source: "Sakura's dedicated server, part 4: checking the speed of SSD and ioDrive (Japanese), about 2013",
    columns: &[["SATA", "512 MB"], ["SSD", "512 MB"], ["ioDrive", "512 MB"], ["SATA", "16 GB"]],
    rows: &[
        row(
            "Bonnie++ write, per char",
            "K/s",
            0,
            (0, Find::Named("Per-char write")),
            PublishedFigure::KibibytesWritten,
            &[Some(1214.0), Some(1238.0), Some(1221.0), Some(1234.0)],
        ),
        row(
            "Bonnie++ write, block",
            "K/s",
            0,
            (0, Find::Named("Block write")),
            PublishedFigure::KibibytesWritten,
            &[Some(101_934.0), Some(258_506.0), Some(578_389.0), Some(106_982.0)],
        ),
        row(
            "Bonnie++ rewrite",
            "K/s",
            0,
            (0, Find::Named("Rewrite")),
            PublishedFigure::KibibytesWritten,
            &[Some(43_441.0), Some(124_805.0), Some(260_766.0), Some(52_700.0)],
        ),
        row(
            "Bonnie++ read, per char",
            "K/s",
            0,
            (0, Find::Named("Per-char read")),
            PublishedFigure::KibibytesRead,
            &[Some(5793.0), Some(5963.0), Some(5425.0), NONE],
        ),
        row(
            "Bonnie++ read, block",
            "K/s",
            0,
            (0, Find::Named("Block read")),
            PublishedFigure::KibibytesRead,
            &[Some(141_667.0), Some(300_527.0), Some(824_549.0), Some(154_720.0)],
        ),
        row(
            "Bonnie++ seeks",
            "/s",
            1,
            (0, Find::Named("Seeks")),
            PublishedFigure::Reads,
            &[Some(489.0), Some(15_958.0), NONE, Some(445.8)],
        ),
        row(
            "tiotest write",
            "MiB/s",
            3,
            (1, Find::Place(0)),
            PublishedFigure::Mebibytes,
            &[Some(83.826), Some(251.427), Some(535.675), Some(92.085)],
        ),
        row(
            "tiotest random write",
            "MiB/s",
            3,
            (1, Find::Place(1)),
            PublishedFigure::Mebibytes,
            &[Some(4.727), Some(170.547), Some(593.659), Some(22.201)],
        ),
        row(
            "tiotest read",
            "MiB/s",
            3,
            (1, Find::Place(2)),
            PublishedFigure::Mebibytes,
            &[Some(158.834), Some(712.450), Some(437.936), Some(19_339.364)],
        ),
        row(
            "tiotest random read",
            "MiB/s",
            3,
            (1, Find::Place(3)),
            PublishedFigure::Mebibytes,
            &[Some(2.264), Some(98.142), Some(120.311), Some(18_175.686)],
        ),
        tiotest_mean("tiotest write, mean", 0, &[Some(0.326), Some(0.108), Some(0.052), Some(0.004)]),
        tiotest_mean("tiotest random write, mean", 1, &[Some(5.722), Some(0.150), Some(0.049), Some(0.003)]),
        tiotest_mean("tiotest read, mean", 2, &[Some(0.166), Some(0.042), Some(0.071), Some(0.002)]),
        tiotest_mean("tiotest random read, mean", 3, &[Some(12.931), Some(0.305), Some(0.258), Some(0.002)]),
    ],
    notes: &[
        "the article's fourth line of tiobench says random write again and is the random read; its seeks are counted per \
         second, not in KB/s",
        "the servers were booted with 512 MB of memory, or 16 GB in the last column, where the page cache read 19 GB/s",
        "512 MB of memory hold about a third of tiotest's 1 GB: so much of its random reads never came to a disk",
        "a byte at a time measures system calls, not storage; what is missing took less than half a second, which Bonnie++ \
         does not print",
        "its sql-bench asks a database, and is a suite of its own: plimsoll suite sql-bench",
    ],
};

/// Figures of the report's text about two arrays; its curves are pictures.
pub const ARRAYS: [(&str, [Option<f64>; 2]); 3] = [
    ("Mean read at the lowest load", [Some(150.0), Some(2000.0)]),
    ("Mean read at the highest load", [Some(500.0), NONE]),
    ("Most IOPS over IP protocols", [Some(600_000.0), NONE]),
];
