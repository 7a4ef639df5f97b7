//! Defective product files: a line of a sound file is changed, and the complaint states position and alternatives.

use plimsoll_catalogue::{Catalogue, check_product};

const CLOUD: &str = include_str!("products/cloud.toml");
const BURST: &str = include_str!("products/burst.toml");
const MACHINES: &str = include_str!("products/machines.toml");
const CSV: &str = include_str!("products/machines.csv");

fn csv(name: &str) -> Option<String> {
    (name == "machines.csv").then(|| CSV.to_owned())
}

/// Complaints about `text`, checked with the test's machines, a line each.
fn list_complaints(file: &str, text: &str) -> String {
    let mut catalogue = Catalogue::default();
    if file != "machines.toml" {
        catalogue.add("machines.toml", MACHINES, &csv).expect("the test's machines are sound");
    }
    let complaints = catalogue.add(file, text, &csv).err().unwrap_or_default();
    complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Replaces the first `from` in a sound file by `to`, and asserts a complaint that begins with the file's name and
/// `expected`. LINE in `expected` is the line of `from`.
fn check_changed(text: &str, from: &str, to: &str, expected: &str) {
    let at = text.find(from).unwrap_or_else(|| panic!("{from:?} is not in the file"));
    let changed = text.replacen(from, to, 1);
    let file = if text == MACHINES { "machines.toml" } else { "it.toml" };
    let line = text[..at].matches('\n').count() + 1;
    let found = list_complaints(file, &changed);
    let expected = expected.replace("LINE", &line.to_string());
    let expected = format!("{file}:{expected}");
    assert!(found.lines().any(|line| line.starts_with(&expected)), "{to:?} gave {found}, not {expected}");
}

#[test]
fn sound_files_have_no_complaints() {
    for text in [CLOUD, BURST] {
        assert_eq!(list_complaints("it.toml", text), "");
    }
    assert_eq!(list_complaints("machines.toml", MACHINES), "");
}

#[test]
fn defects_of_a_shared_file_are_located_there() {
    let (own, shared) = CLOUD.split_once("[[price]]").expect("the file has prices");
    let own = own.replacen("kind = ", "shared = \"cloud.shared\"\nkind = ", 1);
    let shared = format!("[[price]]{shared}");
    let check = |text: &str, shared: Option<&str>| {
        let mut catalogue = Catalogue::default();
        catalogue.add("folder/machines.toml", MACHINES, &csv).expect("the test's machines are sound");
        let beside = |name: &str| shared.filter(|_| name == "cloud.shared").map(str::to_owned);
        let found = catalogue.add("folder/it.toml", text, &beside).err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(check(&own, Some(&shared)), "");
    let at = shared.find("per = ").expect("a part of the price");
    let line = shared[..at].matches('\n').count() + 1;
    let found = check(&own, Some(&shared.replacen("per = ", "pre = ", 1)));
    let expected = format!("folder/cloud.shared:{line}:1: [[price.part]] has no key \"pre\"; did you mean per?");
    assert!(found.contains(&expected), "{found}");
    let found = check(&own.replacen("step = 1\n", "stap = 1\n", 1), Some(&shared));
    assert!(found.starts_with("folder/it.toml:"), "{found}");
    let found = check(&own, None);
    assert!(found.contains("\"cloud.shared\" cannot be read: a file in the same folder"), "{found}");
}

#[test]
fn a_managed_database_says_its_engines_and_who_does_what() {
    let managed = "[managed]\nengines = [\"oracle\"]\nprovides = \"it works\"\nleaves = \"the rest\"\n\n[[limit]]";
    let text = BURST.replacen("kind = \"volume\"", "kind = \"managed\"", 1).replacen("[[limit]]", managed, 1);
    assert_eq!(list_complaints("it.toml", &text), "");
    let check = |from: &str, to: &str, expected: &str| check_changed(&text, from, to, expected);
    check("\"oracle\"", "\"orakle\"", "LINE:12: engines is \"orakle\"; did you mean oracle?: db2, mariadb,");
    let without = list_complaints("it.toml", &text.replacen("engines = [\"oracle\"]\n", "", 1));
    assert!(without.contains("[managed] has no engines: db2"), "{without}");
    check("kind = \"managed\"", "kind = \"volume\"", "1:1: [managed] in a product of another kind");
    check_changed(BURST, "kind = \"volume\"", "kind = \"managed\"", "1:1: no [managed]: [managed] in a file of kind");
}

#[test]
fn keys_and_words_are_known_ones() {
    let check = |from: &str, to: &str, expected: &str| check_changed(CLOUD, from, to, expected);
    check("step = 1\n", "stap = 1\n", "LINE:1: [options.NAME] has no key \"stap\"; did you mean step?: choices, date,");
    check("kind = \"volume\"", "kind = \"volum\"", "LINE:8: kind is \"volum\"; did you mean volume?: volume, machine,");
    check("scope = \"volume\"", "scope = \"disk\"", "LINE:9: scope is \"disk\": volume, level, attachment, machine,");
    check(
        "status = \"verified\"",
        "status = \"sure\"",
        "LINE:10: status is \"sure\": verified, own, published, secondary,",
    );
    check("title = \"Test cloud volume\"", "", "1:1: the file has no title: title = \"...\"");
    check("title = \"Price list\"", "", "21:1: [sources.NAME] has no title");
    check("kind = \"size\"", "kind = \"sise\"", "LINE:8: kind \"sise\" does not go with the other keys of \"size\"");
    check("min = 50", "min = true", "LINE:7: min is boolean: a number or arithmetic in quotation marks");
    check("min = 50", "min = 50 50", "LINE:7: string values must be quoted");
    check("lift = [\"vpu\"]", "lift = [\"vpus\"]", "LINE:9: lift names \"vpus\": options (size, vpu, attachment)");
    check("product = \"test/cloud\"", "product = \"cloud\"", "LINE:11: product is \"cloud\": \"provider/name\"");
    check("aliases = [\"cloud\"]", "aliases = [\"clo ud\"]", "LINE:12: the alias \"clo ud\" could not be written");
    check("aliases = [\"cloud\"]", "aliases = [\"test/cloud\"]", "3:11: the name \"test/cloud\" is taken");
    check("capacity_unit = \"GB\"", "capacity_unit = \"pieces\"", "LINE:17: capacity_unit is \"pieces\": a unit");
    check("capacity_bytes = 1073741824", "", "1:1: the file does not say what capacity is counted in");
}

#[test]
fn every_figure_names_its_source() {
    let check = |from: &str, to: &str, expected: &str| check_changed(CLOUD, from, to, expected);
    check("source = \"page\"\n", "", "23:1: [options.NAME] does not say its source: source there or in [default]");
    check("source = \"page\"\n", "source = \"pge\"\n", "LINE:10: source \"pge\" is not defined; did you mean page?");
    check("date = \"2024\"\nstatus", "status", "23:1: [options.NAME] does not say its date");
}

#[test]
fn arithmetic_is_checked_where_it_stands() {
    let check = |from: &str, to: &str, expected: &str| check_changed(CLOUD, from, to, expected);
    check("\"size * if(vpu", "\"sice * if(vpu", "LINE:8: there is no \"sice\"; did you mean size?");
    check("1.5 * vpu + 45)\"", "1.5 * vpu + 45\"", "LINE:");
    check(
        "attachment == 'paravirtualized'",
        "attachment == 3",
        "LINE:24: when \"attachment == 3\": it is a number: a text",
    );
    check("ocpu >= 16", "ocpus >= 16", "89:11: there is no \"ocpus\": variables of the file, or of a machine's file");
    check("{read_us}us", "{rad_us}us", "LINE:");
    check("{read_us}us", "{read_us us", "LINE:");
    check("window({if", "windou({if", "96:10: at its defaults: the model of test/cloud cannot be read: \"windou(32");
}

#[test]
fn ranges_dates_and_amounts_make_sense() {
    let check = |from: &str, to: &str, expected: &str| check_changed(CLOUD, from, to, expected);
    check("min = 50", "min = 50000", "24:1: option \"size\": min is above max: min <= default <= max, step > 0");
    check("default = 10", "default = 130", "30:1: option \"vpu\": default is outside min and max");
    let detached = "default = \"iscsi\"\ndetached_from = 3";
    check("default = \"iscsi\"", detached, "38:1: detached_from does not go with an option that is no number");
    check("default = 10", "default = 10\ndetached_from = \"30\"", "36:17: detached_from");
    check("default = \"iscsi\"", "default = \"fc\"", "LINE:11: default is \"fc\": iscsi or paravirtualized");
    check("from = \"2019\"", "from = \"2022\"", "72:1: from 2022 is not before until 2021");
    check("until = \"2021\"", "until = \"soon\"", "LINE:9: until is \"soon\": YYYY, YYYY-MM or YYYY-MM-DD");
    check("amount = \"0.0255\"", "amount = 0.0255", "LINE:10: the amount is 0.0255: decimal digits in quotation marks");
    check("amount = \"0.0255\"", "amount = \"0,0255\"", "LINE:10: the amount is 0,0255: decimal digits");
    check("amount = \"0.0255\"", "amount = \"-0.0255\"", "LINE:10: the amount is below zero: decimal digits");
    check("quantity = \"size\"\n", "quantity = \"0/0\"\n", "LINE:12: quantity \"0/0\" has no value: arithmetic");
    check("iops = 35000\n", "iops = -35000\n", "LINE:8: iops is -35,000: a number above zero");
    check("iops = 35000\n", "iops = \"5 - 5\"\n", "LINE:8: iops is 0: a number above zero");
    check("quantity = \"size\"\n", "", "113:1: the part does not say what it costs: amount and quantity");
    check("currency = \"USD\"", "currency = \"dollar\"", "LINE:12: currency is \"dollar\": three letters");
    check("iops = 35000\n", "", "72:1: limit \"the level as it was\" has no rate: iops or bytes or both");
    let check = |from: &str, to: &str, expected: &str| check_changed(BURST, from, to, expected);
    check("unit = \"256KiB\"", "unit = \"256\"", "LINE:8: unit is \"256\": a size with its unit, such as 16KiB");
    check("month_hours = 730\n", "month_hours = 0\n", "LINE:15: month_hours is 0: a number above zero");
    check("month_hours = 730\n", "", "87:1: a price by the hour, without hours: month_hours = 730");
    check("[\"32000\", \"0.065\"]", "[\"99000\", \"0.065\"]", "LINE:32: the steps of amounts do not follow each other");
    check("P1 = \"5.28\"", "P2 = \"5.28\"", "LINE:13: there is no tier \"P2\": P1, P10, P20 or P80");
    check("[\"P10\", 128, 100]", "[\"P10\", 128]", "LINE:25: the row has 2 cells: 3: name, size, mibps");
    check("[\"P10\", 128, 100]", "[\"P1\", 128, 100]", "LINE:25: a second row \"P1\": one row for each name");
    check("[\"P10\", 128, 100]", "[\"P10\", 12, 100]", "31:1: tier P10 is not larger than the one before");
}

#[test]
fn published_rows_are_reproduced() {
    let check = |from: &str, to: &str, expected: &str| check_changed(CLOUD, from, to, expected);
    check(
        "[1024, 614, 50000]",
        "[1024, 640, 50000]",
        "LINE:25: row 2 of \"by size\": mbps@1MiB is 614.4 by the limits, not 640: the published figure",
    );
    check(
        "except = [{ row = 4, why = \"a planted error\" }]",
        "",
        "104:65: row 4 of \"by size\": mbps@1MiB is 680 by the",
    );
    check("row = 4,", "row = 3,", "104:45: row 3 of \"by size\" agrees, and is excepted: exceptions for rows that");
    check("row = 4,", "row = 5,", "100:1: there is no row 5: rows 1 to 4");
    check("mbps@1MiB", "mb@1MiB", "104:9: row 1 of \"by size\": the column \"mb@1MiB\" cannot be read: write iops,");
    check(
        "set = { vpu = 20 }",
        "set = { vpu = 25 }",
        "104:9: row 1 of \"by size\": test/cloud: vpu is 25, and goes in",
    );
}

#[test]
fn machines_are_rows() {
    let check = |from: &str, to: &str, expected: &str| check_changed(MACHINES, from, to, expected);
    check("csv = \"machines.csv\"", "csv = \"other.csv\"", "LINE:7: \"other.csv\" cannot be read: a file in the same");
    check("[machines]\ncsv = \"machines.csv\"", "", "1:1: no [machines]: [machines] in a file of kind \"machine\"");
    check("ocpu * gbps_per_ocpu), 600000", "ocpu * gbps), 600000", "LINE:42: iops");
}

#[test]
fn a_built_in_file_may_be_checked_again_and_names_stay_unique() {
    assert_eq!(check_product("it.toml", &CLOUD.replace("bare_metal", "max_gbps"), &|_| None), []);
    let taken = check_product("it.toml", &CLOUD.replace("aliases = [\"cloud\"]", "aliases = [\"gp3\"]"), &|_| None);
    assert_eq!(
        taken[0].to_string(),
        "it.toml:4:12: the name \"gp3\" is taken: names and aliases that no other product has"
    );
}

#[test]
fn facts_besides_limits_are_complete() {
    let check = |entry: &str, expected: &str| {
        check_changed(CLOUD, "[autotune.detached]", &format!("{entry}\n[autotune.detached]"), expected);
    };
    check(
        "[durability]\nannual_failure_rate = 2",
        "LINE:1: [durability] has no annual_failure_rate: a share of volumes",
    );
    let iscsi = |vendor: &str, prefix: &str| {
        format!("[iscsi]\nvendor = \"{vendor}\"\nmodel = \"b\"\nrevision = \"1\"\nprefix = \"{prefix}\"")
    };
    check(&iscsi("a name too long", "iqn.a"), "152:10: vendor is \"a name too long\": at most 8 ASCII characters");
    check(&iscsi("a", "IQN.a"), "155:10: prefix is \"IQN.a\": a name such as iqn.2026-01.com.example");
    check("[durability]\nannual_failure_rate = [0.2, 0.1]", "LINE:1: [durability] has no annual_failure_rate");
    check(
        "[[service_level]]\nof = \"availability\"\nshare = 99",
        "LINE:1: [[service_level]] has no share: share = a share",
    );
    check(
        "[[service_level]]\nof = \"performance\"\nshare = 0.9",
        "LINE:1: [[service_level]] has a wrong amount, or none",
    );
    check("[[service_level]]\nof = \"price\"\nshare = 0.9", "152:6: of is \"price\": availability or performance");
    check("[[sharing]]\nmode = \"read-only\"", "LINE:1: [[sharing]] has no hosts: hosts = machines");
    check("[[sharing]]\nhosts = 2\nmode = \"rw\"", "153:8: mode is \"rw\": read-write or read-only");
    check(
        "[[deviation]]\nloads = [\"random read\"]\nblocks = [\"2KiB\"]\nwhy = \"no\"",
        "153:11: blocks has \"2KiB\": 512 B, 4 KiB, 8 KiB, 64 KiB or 1 MiB",
    );
    check(
        "[[typical]]\nkinds = \"read\"\nblock = \"4KiB\"\n[[typical.drive]]\nname = \"a\"\niops = { 1 = 0 }",
        "156:10: iops at depth \"1\" is no rate: depths from 1 to 65536 with operations a second above 0",
    );
    check(
        "[[typical]]\nkinds = \"read\"\nblock = \"4KiB\"\n[[typical.drive]]\nname = \"a\"\niops = { 1 = 2 }",
        "LINE:1: [[typical]] has no range: two [[typical.drive]] or more",
    );
    check(
        "[[limit]]\nname = \"both\"\nscope = \"media\"\niops = 5\nadded = true",
        "LINE:1: limit \"both\" has no times to add: iops and bytes without credits, with in_model = true",
    );
    check("[[deviation]]\nwhy = \"no\"", "LINE:1: [[deviation]] has no loads: loads = [\"random read\", ...]");
    check(
        "[[deviation]]\nloads = [\"random reads\"]\nwhy = \"no\"",
        "152:10: loads is \"random reads\"; did you mean random read?: random read, random write,",
    );
    check_changed(CLOUD, "amount = \"0.0255\"\n", "by_column = \"usd\"\n", "LINE:13: there is no column \"usd\"");
}
