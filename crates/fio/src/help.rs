//! Output of `--cmdhelp` and `--enghelp`: options and engines with their support.

use plimsoll_language::{StaticText, label, say};

use crate::engine;
use crate::number::Bare;
use crate::options::{self, OptionLookup, Spec, Support, ValueForm};

/// Description of an option, or a line per option; `all` lists all, too.
pub fn option_help(name: Option<&str>) -> String {
    let Some(name) = name.filter(|name| *name != "all") else {
        return options::options()
            .map(|spec| format!("{:<30}{}\n", spec.name, support(spec)))
            .collect::<Vec<_>>()
            .concat();
    };
    match options::look_up(name) {
        OptionLookup::Supported(spec) => one(spec),
        OptionLookup::Unsupported(owner) => {
            say!("{name} is an option of {owner}, which plimsoll does not support\n")
        }
        OptionLookup::Unknown(Some(near)) => say!("fio has no option {name}; did you mean {near}?\n"),
        OptionLookup::Unknown(None) => say!("fio has no option {name}\n"),
    }
}

/// Support of an engine, or a line per engine.
pub fn engine_help(name: Option<&str>) -> String {
    let line = |(engine, why): (&str, Option<StaticText>)| match why {
        None => say!("{engine:<16}runs\n"),
        Some(why) => say!("{engine:<16}is refused: {why}\n"),
    };
    let lines: Vec<String> =
        engine::all().filter(|(engine, _)| name.is_none_or(|name| name == *engine)).map(line).collect();
    match name {
        Some(name) if lines.is_empty() => say!("fio has no engine {name}\n"),
        _ => lines.concat(),
    }
}

fn one(spec: &Spec) -> String {
    let mut text = say!("    option  {}\n", spec.name);
    if !spec.aliases.is_empty() {
        text.push_str(&say!("     alias  {}\n", spec.aliases.join(", ")));
    }
    text.push_str(&say!("     takes  {}\n", form(spec.form)));
    let default = if spec.default.is_empty() { label!("none") } else { spec.default };
    text.push_str(&say!("   default  {default}\n      here  {}\n", support(spec)));
    text
}

fn support(spec: &Spec) -> String {
    match spec.support {
        Support::Runs => label!("runs").to_owned(),
        Support::Accepted(why) => say!("has no effect: {why}"),
        Support::Refused(why) => say!("is refused: {why}"),
    }
}

fn form(form: ValueForm) -> String {
    let limits = |min: i64, max: i64| match (min, max) {
        (i64::MIN, i64::MAX) => String::new(),
        (min, max) if max >= i64::from(u32::MAX) => say!(" of at least {min}"),
        (min, max) => say!(" from {min} to {max}"),
    };
    match form {
        ValueForm::Text => label!("a text").to_owned(),
        ValueForm::OptionalText => label!("optional text").to_owned(),
        ValueForm::Flag => label!("nothing, 0 or 1").to_owned(),
        ValueForm::Bool => label!("0 or 1").to_owned(),
        ValueForm::Integer(min, max) => say!("a whole number{}, with k, m or g", limits(min, max)),
        ValueForm::Integers(min, max) => {
            say!("up to three whole numbers{}, with k, m or g: reads,writes,trims", limits(min, max))
        }
        ValueForm::Time(Bare::Seconds) => label!("a time: seconds, or with us, ms, s, m, h or d").to_owned(),
        ValueForm::Time(Bare::Micros) => label!("a time: microseconds, or with us, ms, s, m, h or d").to_owned(),
        ValueForm::Times => label!("up to three times in microseconds, or with a unit: reads,writes,trims").to_owned(),
        ValueForm::TimeRange => label!("a time, or two as in 5-10: seconds, or with a unit").to_owned(),
        ValueForm::Extent => label!("a size with k, m, g or t, or a share as in 20%").to_owned(),
        ValueForm::Sizes => label!("a size, or two as in 1m-2m").to_owned(),
        ValueForm::Ranges => label!("up to three ranges as in 4k-64k: reads,writes,trims").to_owned(),
        ValueForm::Split => label!("sizes with their hundredths as in 4k/60:64k/40").to_owned(),
        ValueForm::Choice(words) => say!("one of {}", words.join(", ")),
        ValueForm::ChoiceWith(words) => say!("one of {}, with parameters after a colon", words.join(", ")),
        ValueForm::Floats(min, max) => say!("numbers from {min} to {max} with colons between them"),
        ValueForm::Distribution => {
            label!("random, zipf:1.1, pareto:0.2, normal:25, zoned:60/10:40/90 or zoned_abs:60/1g:40/9g").to_owned()
        }
        ValueForm::Pattern => label!("0xdeadbeef, a number, \"text\" or 'a file', one after the other").to_owned(),
        ValueForm::Processors => label!("processors as in 0,5,8-15").to_owned(),
        ValueForm::ProcessorMask => label!("a number with a bit for each processor").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_describes_options_and_engines() {
        let check = |text: String, expected: &str| assert!(text.contains(expected), "{expected}: {text}");
        check(option_help(Some("blocksize")), "alias  blocksize\n");
        check(option_help(Some("bs")), "takes  up to three whole numbers of at least 1, with k");
        check(option_help(Some("bs")), "default  4096\n      here  runs\n");
        check(option_help(Some("thread")), "here  has no effect: jobs are always threads");
        check(option_help(Some("uri")), "uri is an option of the engine nbd");
        check(option_help(Some("iodepht")), "did you mean iodepth?");
        check(engine_help(Some("libaio")), "libaio          runs\n");
        check(engine_help(Some("cpuio")), "cpuio           is refused: ");
        check(engine_help(Some("foo")), "fio has no engine foo");
        assert_eq!(option_help(None).lines().count(), options::options().count());
        assert_eq!(option_help(None), option_help(Some("all")));
        assert!(engine_help(None).lines().count() > 40);
    }
}
