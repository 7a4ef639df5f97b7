//! Options resolved to the values of a job.

use plimsoll_fio::{Extent, FileOrder, FioJob, Order, groups};
use plimsoll_units::{Bytes, Span};

use super::{file, lenient, line, words};

fn parse_jobs(text: &str) -> Vec<FioJob> {
    file(text).unwrap_or_else(|faults| panic!("{text}: {:#?}", words(&faults))).jobs
}

/// A job with these options.
fn job(options: &str) -> FioJob {
    parse_jobs(&format!("[a]\n{}\n", options.replace(' ', "\n"))).remove(0)
}

#[track_caller]
fn check_jobs(options: &str, displayed: impl Fn(&FioJob) -> String, expected: &str) {
    assert_eq!(displayed(&job(options)), expected, "{options}");
}

fn blocks(job: &FioJob) -> String {
    let sizes = |sizes: &plimsoll_fio::BlockSizes| match sizes {
        plimsoll_fio::BlockSizes::Range(low, high) if low == high => low.get().to_string(),
        plimsoll_fio::BlockSizes::Range(low, high) => format!("{}-{}", low.get(), high.get()),
        plimsoll_fio::BlockSizes::Split(split) => {
            split.iter().map(|(size, share)| format!("{}/{share}", size.get())).collect::<Vec<_>>().join(":")
        }
    };
    [&job.access.blocks.read, &job.access.blocks.write, &job.access.blocks.trim].map(sizes).join(" ")
}

#[test]
fn block_sizes_are_per_direction() {
    let check = |options, expected| check_jobs(options, blocks, expected);
    check("", "4096 4096 4096");
    check("bs=16k", "16384 16384 16384");
    check("bs=16k,", "16384 4096 4096");
    check("bs=,16k", "4096 16384 16384");
    check("bs=,16k,", "4096 16384 4096");
    check("bs=,,16k", "4096 4096 16384");
    check("bs=16k,8k", "16384 8192 8192");
    check("bs=16k,,8k", "16384 4096 8192");
    check("bs=16k,8k,", "16384 8192 4096");
    check("bs=8k bs=,16k", "8192 16384 16384");
    check("blocksize=4KiB", "4000 4000 4000");
    check("kb_base=1000 bs=4KiB", "4096 4096 4096");
    check("bs=4KiB kb_base=1000", "4096 4096 4096");
    check("bsrange=8k-16k,", "8192-16384 4096 4096");
    check("bsrange=16k-8k", "8192-16384 8192-16384 8192-16384");
    check("bsrange=1k-2k bs=8k", "1024-2048 1024-2048 1024-2048");
    check("bsrange=8k-16k,,32k-64k", "8192-16384 4096 32768-65536");
    check("bssplit=8k,16k", "8192/100 16384/100 16384/100");
    check("bssplit=8k,", "8192/100 4096 4096");
    check("bs=64k bssplit=8k,", "8192/100 65536 65536");
    check("bssplit=4k/50:8k/50 bs=64k", "4096/50:8192/50 4096/50:8192/50 4096/50:8192/50");
}

#[test]
fn directions_and_orders_are_parsed() {
    let check = |options, expected| {
        let displayed = |job: &FioJob| {
            let access = &job.access;
            format!("{} {} {} {:?}", access.rw, access.direction.reads, access.direction.writes, access.order)
        };
        check_jobs(options, displayed, expected);
    };
    check("", "read true false Sequential { step: 0 }");
    check("rw=randread", "randread true false Random { run: 1, identical: false }");
    check("rw=randread:8", "randread true false Random { run: 8, identical: false }");
    check("rw=write:-4k", "write false true Sequential { step: -4096 }");
    check("rw=readwrite", "rw true true Sequential { step: 0 }");
    check("readwrite=randrw", "randrw true true Random { run: 1, identical: false }");
    check("rw=randread:3 rw_sequencer=identical", "randread true false Random { run: 3, identical: true }");
    check("rw=trimwrite", "trimwrite false true Sequential { step: 0 }");
    check("rw=randtrim", "randtrim false false Random { run: 1, identical: false }");
    let mix = |job: &FioJob| job.access.read_percent.to_string();
    check_jobs("rw=rw rwmixread=70 rwmixwrite=40", mix, "60");
    check_jobs("rw=rw rwmixwrite=40 rwmixread=70", mix, "70");
    check_jobs("rw=rw", mix, "50");
}

#[test]
fn files_and_sizes_are_parsed() {
    let paths = |options| job(options).files.paths("a", 1);
    assert_eq!(paths("filename=/tmp/a\\:b:/tmp/c"), ["/tmp/a:b", "/tmp/c"]);
    assert_eq!(paths("directory=/d0:/d1/ nrfiles=2"), ["/d1/a.1.0", "/d1/a.1.1"]);
    assert_eq!(paths("filename=f directory=/d"), ["/d/f"]);
    assert_eq!(paths("filename_format=$jobname-$jobnum-$filenum"), ["a-1-0"]);
    assert_eq!(paths("filename=${DEV}1"), ["/dev/sdx1"]);
    let size = |options| job(options).files.size;
    assert_eq!(size(""), None);
    assert_eq!(size("size=10%"), Some(Extent::Percent(10)));
    assert_eq!(size("size=1g"), Some(Extent::Bytes(Bytes::gib(1))));
    assert_eq!(size("size=$pagesize*$ncpus"), Some(Extent::Bytes(Bytes::new(8_192))));
    assert_eq!(Extent::Percent(10).of(Bytes::new(1_005)), Bytes::new(100));
    let direct = |options| job(options).files.direct;
    assert_eq!(
        [direct(""), direct("direct=1"), direct("buffered=0"), direct("direct=1 buffered=1")],
        [false, true, true, false]
    );
    assert_eq!(job("filename=a:b nrfiles=4").files.count, 2);
    assert_eq!(job("nrfiles=4 openfiles=9").files.open, 4);
    let order = |options| job(options).files.order;
    assert_eq!(order(""), FileOrder::RoundRobin { run: 1 });
    assert_eq!(order("file_service_type=random:8"), FileOrder::Random { run: 8 });
    assert_eq!(order("file_service_type=zipf:1.2"), FileOrder::Zipf { theta: 1.2 });
    assert_eq!(order("file_service_type=gauss:20"), FileOrder::Normal { deviation: 20.0 });
}

#[test]
fn times_and_rates_are_parsed() {
    assert_eq!(job("runtime=10m").life.runtime, Some(Span::from_secs(600)));
    assert_eq!(job("runtime=0").life.runtime, None);
    assert_eq!(job("timeout=1").life.runtime, Some(Span::from_secs(1)));
    assert_eq!(job("startdelay=10-5").life.delay, (Span::from_secs(5), Some(Span::from_secs(10))));
    let think = job("thinktime=10 thinktime_blocks=0").flow.think.expect("there is one");
    assert_eq!((think.pause, think.every, think.io_time), (Span::from_micros(10), Some(1), None));
    let think = |options| job(options).flow.think.expect("there is one");
    let spun = think("thinktime=10 thinktime_spin=1ms thinktime_blocks_type=issue");
    assert_eq!((spun.pause, spun.spin, spun.counts_issued), (Span::from_millis(1), Span::from_millis(1), true));
    let timed = think("thinktime=10 thinktime_iotime=2");
    assert_eq!((timed.every, timed.io_time), (None, Some(Span::from_secs(2))));
    assert_eq!(think("thinktime=10 thinktime_iotime=2 thinktime_blocks=4").every, Some(4));
    let rate = job("rate=1m,2m,").flow.rate;
    assert_eq!((rate.read, rate.write, rate.trim), (Some(1 << 20), Some(2 << 20), None));
    let rate = job("rate_iops=,500").flow.rate_iops;
    assert_eq!((rate.read, rate.write), (None, Some(500)));
}

#[test]
fn depths_default_like_fio() {
    let check = |options, expected| {
        let displayed = |job: &FioJob| {
            let flow = &job.flow;
            let of_answers = (flow.complete_min, flow.complete_max);
            format!("{} {} {} {of_answers:?} {}", flow.iodepth, flow.batch, flow.depth_low, flow.in_flight())
        };
        check_jobs(options, displayed, expected);
    };
    check("", "1 1 1 (1, 1) 1");
    check("iodepth=16 ioengine=libaio", "16 1 16 (1, 1) 16");
    check("iodepth=16 ioengine=libaio iodepth_batch=0 iodepth_low=99", "16 16 16 (1, 1) 16");
    check("iodepth=16 iodepth_batch_complete=8 iodepth_batch_submit=4 ioengine=io_uring", "16 4 16 (8, 8) 16");
    check("iodepth=16 ioengine=psync", "16 1 16 (1, 1) 1");
    check("iodepth=16 ioengine=libaio iodepth_batch_complete_min=0", "16 1 16 (0, 0) 1");
    check("iodepth=16 ioengine=libaio iodepth_batch_complete_min=0 iodepth_batch_complete_max=8", "16 1 16 (0, 8) 16");
    check("iodepth=16 ioengine=null", "16 1 16 (1, 1) 1");
    check("iodepth=16 ioengine=null iodepth_batch=4", "16 4 16 (1, 1) 4");
}

#[test]
fn sections_add_up() {
    let read = parse_jobs(
        "[global]\nbs=8k\nsize=1m\n[a]\n[b]\nbs=512\n[global]\nrw=write\n[c]\ninclude inner.fio\nstonewall=0\n[globals]\nrw=read\n[d]\nname=e\n",
    );
    let displayed: Vec<String> =
        read.iter().map(|job| format!("{} {} {}", job.name, job.access.rw, job.access.smallest().get())).collect();
    assert_eq!(displayed, ["a read 8192", "b read 512", "c write 16384", "e read 8192"]);
    let raw: Vec<_> = read[2].options.iter().map(|option| (option.name, option.value.as_deref())).collect();
    assert_eq!(raw, [("bs", Some("16k")), ("iodepth_batch", Some("3")), ("stonewall", Some("0"))]);
    assert_eq!(read[1].access.order, Order::Sequential { step: 0 });
}

#[test]
fn name_in_global_section_has_no_effect() {
    let read = parse_jobs("[global]\nname=all\nsize=1m\n[a]\n[b]\nname=own\n");
    let displayed: Vec<_> = read.iter().map(|job| (job.name.as_str(), job.section.as_str())).collect();
    assert_eq!(displayed, [("a", "a"), ("own", "b")]);
}

#[test]
fn size_accepts_repeated_percent_signs() {
    for text in ["size=50%", "size=50%%", "size=50%%%"] {
        assert_eq!(job(text).files.size, Some(Extent::Percent(50)), "{text}");
    }
}

#[test]
fn processors_are_parsed() {
    assert_eq!(job("cpus_allowed=1,3").processors, Some(vec![1, 3]));
    assert_eq!(job("cpumask=10").processors, Some(vec![1, 3]));
    assert_eq!(job("cpumask=0").processors, None);
}

#[test]
fn groups_are_numbered_like_fio() {
    let check = |text: &str, expected: &str| {
        let jobs = parse_jobs(text);
        let placings = groups(&jobs);
        let displayed: Vec<String> = jobs
            .iter()
            .zip(placings)
            .map(|(job, placing)| {
                let waits = placing.waits_for.map_or(String::new(), |index| format!(" after {}", jobs[index].name));
                format!("{}:{}/{}/{}{waits}", job.name, placing.group, placing.stage, placing.first_copy)
            })
            .collect();
        assert_eq!(displayed.join(" "), expected, "{text}");
    };
    check(
        "[a]\nstonewall\nnumjobs=2\n[b]\n[c]\nnew_group\n[d]\nstonewall=0\n[e]\nstonewall=1\nnumjobs=3\n[f]\n",
        "a:0/0/0 b:0/0/2 c:1/0/3 d:1/0/4 e:2/1/5 f:2/1/8",
    );
    check(
        "[global]\nstonewall\n[a]\n[b]\nnumjobs=2\n[c]\nstonewall=0\n[d]\nstonewall=0\nnew_group=1\nnumjobs=2\n",
        "a:0/0/0 b:1/1/1 c:1/1/3 d:2/1/4",
    );
    check("[a]\n[b]\nwait_for=a\n", "a:0/0/0 b:0/0/1 after a");
}

#[test]
fn later_file_waits_for_earlier_files() {
    let read = line("--bs=64k first.fio second.fio --name=z --size=1m").expect("all are read");
    let displayed: Vec<String> = read
        .jobs
        .iter()
        .zip(groups(&read.jobs))
        .map(|(job, placing)| format!("{}:{}:{}", job.name, placing.group, job.access.smallest().get()))
        .collect();
    assert_eq!(displayed, ["z:0:65536", "a:0:65536", "b:0:8192", "c:1:4096", "d:1:4096"]);
    assert!(read.jobs[3].options.iter().all(|option| option.name != "stonewall"));
}

#[test]
fn omissions_are_noted() {
    let read = lenient("[a]\nsize=1m\nnuma_cpu_nodes=0\nhostname=x\nfoo=1\nthread\ndirect=1\n").expect("it is read");
    let notes: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 4, "{notes:#?}");
    assert!(notes[0].starts_with("jobs/test.fio:3: numa_cpu_nodes=0 is not supported: left out"));
    assert!(notes[3].starts_with("jobs/test.fio:6: thread has no effect: "));
    assert!(read.jobs[0].files.direct);
    let read = file("[a]\nbs=4KiB\nfilename=/tmp/a;b\niodepth=8\ntime_based\nlockfile=none\nmem=malloc\n")
        .expect("it is read");
    let notes: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 4, "{notes:#?}");
    assert!(notes.iter().any(|note| note.contains("powers of 1,000")));
}
