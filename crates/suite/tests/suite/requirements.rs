//! Requirements of products on models in virtual time.

use std::ops::ControlFlow;

use plimsoll_catalogue::{Requirement, RequirementVerdict, built_in_requirements, parse_requirement};
use plimsoll_drive::Onward;
use plimsoll_fio::{FioCommand, Surroundings};
use plimsoll_model::parse;
use plimsoll_record::{Source, Subject};
use plimsoll_suite::fio::{
    JobFiles, PathLookup, PathMeaning, PlanContext, PlannedJobs, RequirementPlace, RequirementRuns, RunObserver,
    RunningStage, StagePlan, plan, requirement_command,
};
use plimsoll_suite::{Facts, Ground, Model, Nature};
use plimsoll_units::Bytes;

const SPACE: Bytes = Bytes::new(64 << 30);

struct Unobserved;

impl RunObserver for Unobserved {
    fn observe(&mut self, _: &RunningStage<'_>) -> Onward {
        ControlFlow::Continue(())
    }
}

fn build_command(requirement: &Requirement, place: RequirementPlace<'_>) -> Result<FioCommand, Vec<String>> {
    let around = Surroundings {
        read: &|path| Err(format!("{path}: no file")),
        variable: &|_| None,
        page_bytes: 4_096,
        memory_mib: 1_024,
        processors: 2,
        processors_present: 2,
    };
    requirement_command(requirement, place, &around)
}

fn planned(command: &FioCommand, meaning: PathMeaning) -> StagePlan {
    let lookup = PathLookup { at: &|_| Ok(None), is_directory: &|_| true, meaning, disks: &[] };
    plan(command, &PlanContext { lookup, fresh_seed: 1, ring_refused: None, aio_refused: None }).expect("a plan")
}

fn built_in(name: &str) -> Requirement {
    let text = Requirement::built_in_text(name).expect("a built-in requirement");
    parse_requirement(name, text).expect("a sound file")
}

/// The verdict on each condition of a built-in requirement on a model, after the runs that it needs.
fn judge_built_in(name: &str, model: &str) -> Vec<RequirementVerdict> {
    let requirement = built_in(name);
    let command = build_command(&requirement, RequirementPlace::Configuration(model)).expect("jobs");
    let spec = parse(model).expect("a notation");
    let subject = Subject { name: model.into(), kind: "model".into(), size: SPACE, device: None };
    let facts = Facts::new(Nature::Model, Source::Simulated { model: model.into(), credits: None }, subject);
    let mut ground = Model::new(&spec, 1, facts);
    let meaning = PathMeaning::Space(ground.facts().space);
    let plan = planned(&command, meaning);
    let facts = ground.facts().clone();
    let mut runs = RequirementRuns::new(&requirement, &facts, Vec::new());
    while runs.need_another() {
        let jobs = PlannedJobs::new(&command, &plan, meaning, "test");
        let files = JobFiles::new(&plan.files, meaning, &mut ground, &mut |_, _, _| ControlFlow::Continue(()));
        let files = files.expect("files of a model");
        runs.add(jobs.run(&files, &mut ground, &mut Unobserved));
    }
    assert_eq!((runs.failures.len(), runs.findings.len()), (0, 0), "{name}: {runs:?}");
    runs.judge().iter().map(|judged| judged.verdict).collect()
}

#[test]
fn fast_storage_meets_each_requirement() {
    for (name, _) in built_in_requirements() {
        let verdicts = judge_built_in(name, "station(16, 100us)");
        assert!(verdicts.iter().all(|verdict| *verdict == RequirementVerdict::Met), "{name}: {verdicts:?}");
    }
}

#[test]
fn slow_storage_meets_no_requirement() {
    for (name, _) in built_in_requirements() {
        let verdicts = judge_built_in(name, "station(1, 30ms)");
        assert!(verdicts.iter().all(|verdict| *verdict == RequirementVerdict::Failed), "{name}: {verdicts:?}");
    }
}

#[test]
fn storage_with_exactly_the_required_rate_meets_it() {
    let verdicts = judge_built_in("vault", "limit(3000) then station(64, 100us)");
    assert_eq!(verdicts, [RequirementVerdict::Met; 2]);
}

#[test]
fn files_are_new_and_removed() {
    for (name, _) in built_in_requirements() {
        let place = RequirementPlace::Directory { path: "/data", prefix: ".check-1" };
        let command = build_command(&built_in(name), place).unwrap();
        let plan = planned(&command, PathMeaning::Paths);
        assert!(!plan.files.is_empty(), "{name}");
        for file in &plan.files {
            let path = file.path.as_deref().unwrap();
            assert!(path.starts_with("/data/.check-1."), "{name}: {path}");
            assert!(file.unlink, "{name}: {path} is removed");
        }
    }
}

#[test]
fn jobs_without_the_figures_are_refused() {
    let check = |jobs: &str, condition: &str, expected: &str| {
        let text = format!(
            "title = 'x'\nabout = 'y'\njobs = \"\"\"\n{jobs}\"\"\"\n[default]\nsource = 's'\ndate = 'undated'\n\
             status = 'own'\n[[condition]]\n{condition}\n[sources.s]\ntitle = 's'\n"
        );
        let requirement = parse_requirement("own.toml", &text).unwrap();
        let refused = build_command(&requirement, RequirementPlace::Configuration("station(1, 1ms)")).unwrap_err();
        assert!(refused.iter().any(|line| line.contains(expected)), "{refused:?}");
    };
    let iops = "figure = 'iops'\nat_least = 10";
    check(
        "[random]\nrw=randrw\nsize=1m\n",
        &format!("{iops}\njob = 'radnom'"),
        "no job is named \"radnom\"; did you mean random?",
    );
    check("[a]\nsize=1m\n[b]\nstonewall\nsize=1m\n", iops, "not all jobs run at the same time");
    check("[a]\nrw=read\nsize=1m\n", "figure = 'write iops'\nat_least = 10", "its jobs have no such operations");
    check("[a]\nrw=write\nsize=1m\n", "figure = 'sync p99'\nat_most = '1ms'", "its jobs have no such operations");
    check("[a]\nsize=1m\nfilename=/dev/sdx\n", iops, "omit filename and directory");
    check("[a]\nszie=1m\n", iops, "szie");
}
