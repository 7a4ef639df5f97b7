//! Replays in one process: results by month, and plans that would give wrong results.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, collect};
use datafusion::prelude::SessionContext;
use plimsoll_fleet::points::{MetricPoint, PointsWriter, point_schema};
use plimsoll_fleet::replay::{BucketSpec, FleetCodec, ReplayExec, ReplaySpec};

use crate::support::{TestFolder, arg, contents, fail, generate, program, succeed, table};

/// Points of two volumes in a file; each point lasts 60 s.
fn write_points(path: &Path, from: i64) -> PathBuf {
    let mut writer = PointsWriter::create(path).unwrap();
    for volume in [0, 2] {
        for n in 0..10 {
            let metrics = [Some(60), Some(0), Some(245_760), Some(0), None, None];
            writer.push(MetricPoint { volume, at: from + n * 60, period: 60, metrics }).unwrap();
        }
    }
    writer.finish().unwrap();
    path.to_owned()
}

fn scan(groups: Vec<Vec<PathBuf>>, is_declared: bool) -> Arc<dyn ExecutionPlan> {
    let file = |path: PathBuf| PartitionedFile::new(path.display().to_string(), path.metadata().unwrap().len());
    let count = groups.len();
    let groups = groups.into_iter().map(|paths| FileGroup::new(paths.into_iter().map(file).collect())).collect();
    let source = Arc::new(ParquetSource::new(point_schema()));
    let key = Partitioning::Hash(vec![Arc::new(Column::new("volume", 0))], count);
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
        .with_file_groups(groups)
        .with_output_partitioning(is_declared.then_some(key));
    DataSourceExec::from_data_source(config.build())
}

fn spec(folder: &TestFolder, name: &str) -> Arc<ReplaySpec> {
    let buckets = vec![BucketSpec { bucket: 0, from: None, name: name.to_owned(), has_limits: false }];
    let results = folder.path("results");
    fs::create_dir_all(&results).unwrap();
    Arc::new(ReplaySpec { buckets, results })
}

fn run(input: Arc<dyn ExecutionPlan>, spec: Arc<ReplaySpec>) -> Result<usize, String> {
    let plan = Arc::new(CoalescePartitionsExec::new(Arc::new(ReplayExec::new(input, spec))));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let batches = runtime.block_on(collect(plan, SessionContext::new().task_ctx()));
    batches.map(|batches| batches.iter().map(RecordBatch::num_rows).sum()).map_err(|error| error.to_string())
}

#[test]
fn plans_that_lose_the_order_of_points_are_refused() {
    let folder = TestFolder::new("traps");
    let path =
        |month: &str, bucket: u32| folder.path(&format!("metrics/month={month}/bucket={bucket:04}/points.parquet"));
    let first = write_points(&path("2026-01", 0), 0);
    let second = write_points(&path("2026-02", 0), 600);
    let again = write_points(&path("2026-03", 0), 300);
    let other = write_points(&path("2026-01", 1), 0);
    let check = |input, expected: &str| {
        let error = run(input, spec(&folder, "refused")).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(scan(vec![vec![first.clone()]], false), "the scan declares no partitioning");
    let repartitioned = Arc::new(CoalescePartitionsExec::new(scan(vec![vec![first.clone()]], true)));
    check(repartitioned, "has to stand directly over a scan of files");
    check(scan(vec![vec![second.clone(), first.clone()]], true), "files have to be in the order of months");
    check(scan(vec![vec![first.clone(), other.clone()]], true), "a partition has files of the buckets 0 and 1");
    check(scan(vec![vec![other]], true), "bucket 1 is not part of this run");
    check(scan(vec![vec![first.clone(), second.clone(), again]], true), "volume 0 goes back in time");
    assert!(contents(&folder.path("results")).is_empty());
    // In order it is right, and results that exist are returned without a scan.
    let spec = spec(&folder, "right");
    assert_eq!(run(scan(vec![vec![first.clone(), second.clone()]], true), Arc::clone(&spec)), Ok(2));
    fs::write(&first, "damaged").unwrap();
    assert_eq!(run(scan(vec![vec![first, second]], true), spec), Ok(2));
}

#[test]
fn a_plan_of_another_version_is_refused_with_words() {
    use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
    let (codec, context) = (FleetCodec::default(), SessionContext::new().task_ctx());
    let decode = |bytes: &[u8]| codec.try_decode(bytes, &[], &context, &DefaultPhysicalProtoConverter {});
    let error = decode(b"plimsoll-fleet replay 0.0.9 format 1\n{}").unwrap_err().to_string();
    assert!(error.contains("run client, scheduler and executors of one version"), "{error}");
}

#[test]
fn a_new_month_costs_only_that_month() {
    let folder = TestFolder::new("months");
    let options = ["--volumes", "60", "--period", "3600", "--buckets", "4"];
    let both = generate(&folder, "both", &[&options[..], &["--days", "59"]].concat());
    let csv = folder.path("both.csv");
    let replay = |fleet: &Path, csv: &Path| succeed(&["replay", arg(fleet), "--as-of", "2026-11", "--csv", arg(csv)]);
    let text = replay(&both, &csv);
    assert!(text.contains("(84960 read, 0 of 4 buckets were finished before)"), "{text}");
    // The same fleet, of which February comes later.
    let february = folder.path("february");
    fs::rename(both.join("metrics/month=2026-02"), &february).unwrap();
    fs::remove_dir_all(both.join("results")).unwrap();
    let text = replay(&both, &folder.path("january.csv"));
    assert!(text.contains("(44640 read, 0 of 4 buckets"), "{text}");
    fs::rename(&february, both.join("metrics/month=2026-02")).unwrap();
    let text = replay(&both, &folder.path("appended.csv"));
    assert!(text.contains("(40320 read, 0 of 4 buckets"), "{text}");
    assert_eq!(fs::read(&csv).unwrap(), fs::read(folder.path("appended.csv")).unwrap());
    let text = replay(&both, &folder.path("appended.csv"));
    assert!(text.contains("(0 read, 4 of 4 buckets"), "{text}");
    // A new volume in a later month costs only its points.
    let rows = folder.write("new.csv", "id,ts,r,w,rb,wb\nvol-new,1772323200,7,7,4096,4096\n");
    let columns = "id=id,time=ts,period=3600,read_ops=r,write_ops=w,read_bytes=rb,write_bytes=wb";
    let inventory = folder.write("inventory.csv", "id,config\nvol-new,aws/gp3:100GiB\n");
    succeed(&["ingest", arg(&both), arg(&rows), "--columns", columns, "--inventory", arg(&inventory)]);
    let text = replay(&both, &folder.path("appended.csv"));
    assert!(text.contains("(1 read, 3 of 4 buckets"), "{text}");
    // Other limits are another replay.
    let text = succeed(&["replay", arg(&both), "--as-of", "2026-11", "--as", "aws/gp3"]);
    assert!(text.contains("(84961 read, 0 of 4 buckets"), "{text}");
}

#[test]
fn the_results_of_the_last_replays_stay() {
    let folder = TestFolder::new("old");
    let fleet = generate(&folder, "fleet", &["--volumes", "4", "--days", "1", "--period", "3600", "--buckets", "2"]);
    let replay = |iops: usize| {
        let product = format!("aws/gp3:iops={iops}");
        succeed(&["replay", arg(&fleet), "--as-of", "2026-11", "--as", &product])
    };
    for iops in 3_001..=3_016 {
        assert!(replay(iops).contains("(96 read, 0 of 2 buckets"));
    }
    // Used again: not the oldest.
    assert!(replay(3_001).contains("(0 read, 2 of 2 buckets"));
    assert!(replay(3_017).contains("(96 read, 0 of 2 buckets"));
    let files = contents(&fleet.join("results"));
    let count = |end: &str| files.keys().filter(|name| name.ends_with(end)).count();
    assert_eq!((count(".verdicts.parquet"), count(".states.parquet")), (32, 32));
    assert!(replay(3_001).contains("(0 read, 2 of 2 buckets"));
    assert!(replay(3_002).contains("(96 read, 0 of 2 buckets"));
}

#[test]
fn the_same_seed_gives_the_same_files_and_rows_are_the_same_in_any_number_of_partitions() {
    let folder = TestFolder::new("same");
    let options = ["--volumes", "40", "--days", "4", "--period", "900", "--buckets", "8"];
    let fleets = ["one", "two"].map(|name| generate(&folder, name, &options));
    assert!(contents(&fleets[0]) == contents(&fleets[1]));
    for (fleet, parallel) in fleets.iter().zip(["1", "8"]) {
        // A name in the present folder.
        let arguments = ["replay", arg(fleet), "--as-of", "2026-11", "--csv", "replay.csv", "--parallel", parallel];
        assert!(program(&arguments).current_dir(fleet).status().unwrap().success());
    }
    assert!(contents(&fleets[0]) == contents(&fleets[1]));
    assert_eq!(table(&fleets[0].join("replay.csv")).len(), 40);
}

#[test]
fn autotuned_levels_follow_the_load_and_their_cost() {
    let folder = TestFolder::new("autotune");
    let fleet = folder.path("fleet");
    // 100 GB have 6,000 operations per second at 10 VPUs, 7,500 at 20, 9,000 at 30. An hour of 8,000, 22 hours of 100.
    let mut points = "id,ts,r,w,rb,wb\n".to_owned();
    for n in 0..23 * 12 {
        let rate: i64 = if n < 12 { 8_000 } else { 100 };
        let operations = rate * 300;
        points.push_str(&format!(
            "ocid1.volume.a,{},{operations},0,{},0\n",
            1_772_323_200 + n * 300,
            operations * 4_096
        ));
    }
    let points = folder.write("points.csv", &points);
    let inventory = folder.write("inventory.csv", "id,config\nocid1.volume.a,\"oci/block-volume:100GB,vpu=10\"\n");
    let columns = "id=id,time=ts,period=300,read_ops=r,write_ops=w,read_bytes=rb,write_bytes=wb";
    succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns, "--inventory", arg(&inventory)]);
    let replay = |options: &[&str]| {
        let csv = folder.path("replay.csv");
        let text = succeed(&[&["replay", arg(&fleet), "--as-of", "2026-11", "--csv", arg(&csv)], options].concat());
        let cost = text.lines().find_map(|line| line.strip_prefix("cost a month  ")).unwrap().replace(" USD", "");
        (cost.parse::<f64>().unwrap(), table(&csv)[0].clone(), text)
    };
    let (fixed, row, _) = replay(&[]);
    assert!(row["throttled_s"].parse::<i64>().unwrap() >= 3_600 && row["level_changes"] == "0", "{row:?}");
    let (highest, ..) = replay(&["--as", "oci/block-volume:vpu=30"]);
    let (tuned, row, text) = replay(&["--autotune-to", "30"]);
    // Up twice in the first minutes; down after an hour and five minutes.
    assert_eq!(row["level_changes"], "4", "{row:?}");
    assert!(row["throttled_s"].parse::<i64>().unwrap() <= 300, "{row:?}");
    assert!(text.contains("autotuned     1 volumes, 4 changes of level"), "{text}");
    // Two hours at 30 VPUs, 5 minutes at 20, the rest at 10, of 23 hours.
    let expected = fixed + (highest - fixed) * (2.0 + 0.5 * 5.0 / 60.0) / 23.0;
    assert!((tuned - expected).abs() <= 0.02, "{tuned} {expected}, {fixed} to {highest}");
    let error = fail(&["replay", arg(&fleet), "--as", "aws/gp3", "--autotune-to", "30"]);
    assert!(error.contains("no volume has a product that autotunes levels"), "{error}");
}

/// Volumes that begin after others, end before them, or have no points in a month.
#[test]
fn volumes_that_come_and_go_are_replayed_as_in_a_single_run() {
    let folder = TestFolder::new("come-and-go");
    let fleet = folder.path("fleet");
    let inventory: String = ["a", "b", "c", "d"].map(|id| format!("{id},aws/gp2:100GiB\n")).concat();
    let inventory = folder.write("inventory.csv", &format!("id,config\n{inventory}"));
    let columns = "id=id,time=ts,period=3600,read_ops=r,write_ops=w,read_bytes=rb,write_bytes=wb";
    succeed(&["ingest", arg(&fleet), "--inventory", arg(&inventory), "--buckets", "2"]);
    let csv = folder.path("replay.csv");
    let replay = || {
        succeed(&["replay", arg(&fleet), "--as-of", "2026-11", "--csv", arg(&csv)]);
        fs::read_to_string(&csv).unwrap()
    };
    // January, February, March, April.
    let months = [(1_767_225_600, "ab"), (1_769_904_000, "cd"), (1_772_323_200, "ad"), (1_775_001_600, "bc")];
    let mut appended = String::new();
    for (begin, ids) in months {
        let row = |id: char, hour: i64| format!("{id},{},3240000,0,13271040000,0\n", begin + hour * 3_600);
        let rows: String = ids.chars().flat_map(|id| (0..5).map(move |hour| row(id, hour))).collect();
        let points = folder.write("points.csv", &format!("id,ts,r,w,rb,wb\n{rows}"));
        succeed(&["ingest", arg(&fleet), arg(&points), "--columns", columns]);
        appended = replay();
    }
    let rows = table(&csv);
    let column = |name: &str| rows.iter().map(|row| row[name].parse::<i64>().unwrap()).collect::<Vec<_>>();
    assert_eq!(column("points"), [10; 4]);
    // 900 a second, of which 600 are credits: full ones last for two and a half hours.
    assert_eq!(column("lowest_credits_milli"), [0; 4], "{appended}");
    assert!(column("throttled_s").iter().all(|seconds| *seconds > 0), "{appended}");
    assert_eq!(column("end_ts"), [1_772_341_200, 1_775_019_600, 1_775_019_600, 1_772_341_200]);
    fs::remove_dir_all(fleet.join("results")).unwrap();
    assert_eq!(replay(), appended);
    assert!(contents(&fleet).keys().all(|name| !name.contains(".tmp")), "{:?}", contents(&fleet).keys());
}
