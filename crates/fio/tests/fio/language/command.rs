//! Command lines.

use plimsoll_fio::{Eta, Format, Question};
use plimsoll_units::Span;

use super::{line, words};

/// Jobs as `name: options`, separated by bars.
fn display(arguments: &str) -> String {
    match line(arguments) {
        Ok(command) => {
            let job = |job: &plimsoll_fio::FioJob| {
                let option = |option: &plimsoll_fio::RawOption| match &option.value {
                    Some(value) => format!(" {}={value}", option.name),
                    None => format!(" {}", option.name),
                };
                format!("{}:{}", job.name, job.options.iter().map(option).collect::<Vec<_>>().concat())
            };
            command.jobs.iter().map(job).collect::<Vec<_>>().join(" | ")
        }
        Err(faults) => words(&faults).join(" | "),
    }
}

#[test]
fn arguments_are_classified() {
    let check = |arguments, expected: &str| {
        let found = display(arguments);
        assert!(found.starts_with(expected), "{arguments}: {found}");
    };
    check("--name=a --size=1m", "a: name=a size=1m");
    check("-name a -numjob 4 -size 1m", "a: name=a numjobs=4 size=1m");
    check("--name a --norandommap --bs 4k", "a: name=a norandommap bs=4k");
    check("--nam=a --readwrite=write --size=1m", "a: name=a rw=write size=1m");
    check("--bs=64k --name=a --name=b --write_bw_log --size=1m", "a: name=a | b: name=b write_bw_log size=1m");
    check("first.fio --bs=64k", "a: | b: bs=8k");
    check("-- first.fio", "a: | b:");
    check("--name=a --section=b first.fio", "a: name=a | b: bs=8k");
    check("--name=a --filename=${DEV}", "a: name=a filename=/dev/sdx");
    check("--iod=4 --name=a", "argument 1: --iod may be any of --iodepth, --iodepth_batch, --iodepth_batch_submit");
    check("--iodepht=4 --name=a", "argument 1: fio has no option --iodepht");
    check("--name=a --fsync", "argument 2: fsync: without a value");
    check("--name=a --hostname=x", "argument 2: hostname is an option of");
    check("nowhere.fio", "argument 1: nowhere.fio cannot be read: no such file");
    check("--readonly=1", "argument 1: --readonly takes no value");
    check("--output", "argument 1: --output without a value");
    check("--size=1m", "argument 1: no job at all");
    check("--client=x --name=a", "argument 1: --client is not supported");
    check("--server", "argument 1: --server is not supported");
    check("", "argument 1: no job at all");
}

#[test]
fn flags_are_parsed() {
    let flags = |arguments: &str| line(&format!("{arguments} --name=a")).map(|command| command.flags);
    let read = |arguments| flags(arguments).unwrap_or_else(|faults| panic!("{arguments}: {:?}", words(&faults)));
    assert_eq!(read("").formats, [Format::Normal]);
    assert_eq!(read("--output-format=json+,normal").formats, [Format::JsonPlus, Format::Normal]);
    assert_eq!(read("--minimal").formats, [Format::Terse]);
    assert_eq!(read("--append-terse").formats, [Format::Normal, Format::Terse]);
    assert_eq!(read("--terse-version=5").terse_version, 5);
    assert_eq!(read("--eta=never").eta, Eta::Never);
    assert_eq!(read("--eta-newline=500ms").eta_newline, Some(Span::from_millis(500)));
    assert_eq!(read("--eta-interval=500").eta_interval, Span::from_millis(500));
    assert_eq!(read("--status-interval=10").status_interval, Some(Span::from_secs(10)));
    assert_eq!(read("--section=a --section=b").sections, ["a", "b"]);
    assert_eq!(read("--max-jobs=10").jobs_max, Some(10));
    assert_eq!((read("--seed=7").seed, read("--on=x").on), (Some(7), vec!["x".to_owned()]));
    assert_eq!(read("--destroy=/dev/a --destroy /dev/b").destroy, ["/dev/a", "/dev/b"]);
    assert!(read("--lenient --hostname=x").lenient);
    assert!(flags("--hostname=x").is_err() && flags("--lenient --foo=x").is_err());
    for wrong in ["--output-format=foo", "--terse-version=9", "--eta=x", "--status-interval=foo", "--max-jobs=0"] {
        assert!(flags(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn questions_need_no_job() {
    let question = |arguments| line(arguments).ok().and_then(|command| command.flags.question);
    assert_eq!(question("--version"), Some(Question::Version));
    assert_eq!(question("-h"), Some(Question::Help));
    assert_eq!(question("--cmdhelp=bs"), Some(Question::Option(Some("bs".to_owned()))));
    assert_eq!(question("--cmdhelp"), Some(Question::Option(None)));
    assert_eq!(question("--enghelp=libaio"), Some(Question::Engine(Some("libaio".to_owned()))));
    assert_eq!(question("--name=a"), None);
}

#[test]
fn global_options_are_repeated() {
    let read = line("--bs=64k first.fio").expect("it is read");
    let displayed: Vec<_> = read.globals.iter().map(|option| (option.name, option.value.as_deref())).collect();
    assert_eq!(displayed, [("bs", Some("64k")), ("size", Some("1m"))]);
}
