//! Configurations that are parsed, refused, and formatted.

use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &str) {
    let displayed = text.parse::<Config>().map_or_else(
        |error| format!("at {:?}, {}", error.at, error.expected),
        |config| {
            let canonical = config.to_string();
            assert_eq!(canonical.parse::<Config>().as_ref(), Ok(&config), "{text:?} became {canonical:?}");
            canonical
        },
    );
    assert!(displayed.starts_with(expected), "{text:?} gave {displayed:?}, not {expected:?}");
}

#[test]
fn configurations_are_read() {
    check("oci:256GB@50vpu", "oci:256GB,vpu=50");
    check(" aws/gp3:500GiB, iops=12000 ", "aws/gp3:500GiB,iops=12000");
    check("aws/gp3", "aws/gp3");
    check("stripe(2, 64KiB) of azure/2014:1TB", "stripe(2,64KiB) of azure/2014:1TB");
    check("stripe(2) of x", "stripe(2,64KiB) of x");
    check("page-cache(1.2GB) of mirror(2) of x:P30", "page-cache(1200MB) of mirror(2) of x:P30");
    check("netapp/aff-a800:protocol=nfs", "netapp/aff-a800:protocol=nfs");
    check("oci:256GB@120vpu on oci/VM.Standard.E4.Flex:16ocpu", "oci:256GB,vpu=120 on oci/VM.Standard.E4.Flex:ocpu=16");
    check("x on machine(iops=12800, mbps=192)", "x on machine(iops=12800,mbps=192)");
    check("machine (iops=1k)", "machine(iops=1k)");
    check("x on generic/machine:memory=64GiB", "x on machine(memory=64GiB)");
    check("./mine/disk.toml:1.5TB", "./mine/disk.toml:1.5TB");
    check("x:size=256GB", "x:256GB");
    check("x:size=256", "x:size=256");
    check("raid10(4,1MiB) of raid5(3) of x", "raid10(4,1MiB) of raid5(3,64KiB) of x");
}

#[test]
fn errors_state_their_position() {
    check("", "at \"\", write a product");
    check("on on on", "at \"on\", write a product");
    check("a b", "at \"a b\", write a product");
    check("x:", "at \"\", write a size (256GB)");
    check("x:256", "at \"256\", write a size (256GB)");
    check("x:1GB,2GB", "at \"2GB\", it is set a second time");
    check("x:1GB,size=2", "at \"size=2\", it is set a second time");
    check("x:iops=1,2iops", "at \"2iops\", it is set a second time");
    check("x:iops=", "at \"iops=\", write a size (256GB)");
    check("strip(2) of x", "at \"strip(2)\", write stripe(N");
    check("stripe(1) of x", "at \"stripe(1)\", stripe takes 2 to 1024 members");
    check("raid10(5) of x", "at \"raid10(5)\", raid10 takes 4 to 1024 members, an even number");
    check("raid6(3) of x", "at \"raid6(3)\", raid6 takes 4");
    check("serial-stripe(2) of x", "at \"serial-stripe(2)\", write stripe(N");
    check("mirror(2,64KiB) of x", "at \"mirror(2,64KiB)\", write stripe(N");
    check("stripe(2,0B) of x", "at \"stripe(2,0B)\", write stripe(N");
    check("x on ", "at \"x on\", write a product");
    check("x on machine()", "at \"machine()\", write a machine, such as");
    check("x on machine(iops=1", "at \"machine(iops=1\", write a machine, such as");
    check("x on machine(iops=1,iops=2)", "at \"iops=2\", it is set a second time");
    check("x on y:1 2", "at \"1 2\", write a size (256GB)");
    check(&format!("{}x", "mirror(2) of ".repeat(9)), "at \"mirror(2)\", at most 8 layers");
}

fn size() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        (1u64..1 << 50).prop_map(Bytes::new),
        (1u64..4096).prop_map(Bytes::kib),
        (1u64..64).prop_map(Bytes::gib)
    ]
}

fn wrap() -> impl Strategy<Value = Wrap> {
    let array = (prop::sample::select(LAYOUTS.to_vec()), 2u32..40, size()).prop_map(|(layout, pairs, interleave)| {
        let interleave = if layout == Layout::Mirror { Bytes::kib(64) } else { interleave };
        Wrap::Array { layout, members: pairs * 2, interleave }
    });
    prop_oneof![array, size().prop_map(Wrap::PageCache)]
}

fn setting() -> impl Strategy<Value = Setting> {
    let unit = prop::sample::select(vec!["GB", "GiB", "TB", "MiB", "kB"]);
    prop_oneof![
        ("[1-9][0-9]{0,4}(\\.[0-9]{1,2})?", unit)
            .prop_map(|(number, unit)| Setting::Size { number, unit: unit.to_owned() }),
        "[A-Z][0-9]{1,2}".prop_map(Setting::Word),
        ("[a-r][a-z_]{0,6}", "[a-zA-Z0-9./-]{1,8}").prop_map(|(name, value)| Setting::Option { name, value }),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    // Settings of distinct kinds, so that no option is set twice.
    ("[a-z]{3,5}(/[a-zA-Z0-9.-]{1,12})?", prop::option::of(setting()))
        .prop_map(|(product, settings)| Part { product, settings: settings.into_iter().collect() })
}

proptest! {
    #[test]
    fn printed_configurations_are_parsed_again(
        wraps in prop::collection::vec(wrap(), 0..4), volume in part(), machine in prop::option::of(part())
    ) {
        let config = Config { wraps, volume, machine };
        prop_assert_eq!(config.to_string().parse::<Config>(), Ok(config));
    }

    #[test]
    fn no_text_is_too_odd(text in "[ -~]{0,60}") {
        if let Ok(config) = text.parse::<Config>() {
            prop_assert_eq!(config.to_string().parse::<Config>(), Ok(config));
        }
    }
}
