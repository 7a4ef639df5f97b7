//! Expressions and their values.

use super::*;

/// `size` is 100, `iops` is missing, `protocol` is the text nfs.
struct Names;

impl Resolve for Names {
    fn resolve(&mut self, name: &str) -> Result<(usize, Type), String> {
        match name {
            "size" => Ok((0, Type::Number)),
            "iops" => Ok((1, Type::Number)),
            "protocol" => Ok((2, Type::Text)),
            "tier.iops" => Ok((3, Type::Any)),
            _ => Err("size, iops, protocol".to_owned()),
        }
    }
}

fn check(text: &str, expected: &str) {
    let values = [Value::Number(100.0), Value::Absent, Value::Text("nfs".into()), Value::Number(5.0)];
    let displayed = match parse(text, Type::Any, &mut Names) {
        Ok(expression) => match expression.value(&values) {
            Value::Absent => "nothing".to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("'{text}'"),
        },
        Err(error) => format!("at {}: {}: {}", error.at, error.what, error.allowed),
    };
    assert!(displayed.starts_with(expected), "{text:?} gave {displayed:?}, not {expected:?}");
}

#[test]
fn arithmetic() {
    check("1 + 2 * 3", "7");
    check("(1 + 2) * 3", "9");
    check("8 / 4 / 2", "1");
    check("8 - 4 - 2", "2");
    check("-size + 1", "-99");
    check("2 * -3", "-6");
    check("1e6 + 1.5e-1", "1000000.15");
    check("64_000", "64000");
    check("min(80000, max(3000, 500 * size))", "50000");
    check("clamp(3 * size, 100, 250)", "250");
    check("ceil(size / 30) + floor(1.9)", "5");
    check("tier.iops * 2", "10");
    check("1 / 0", "nothing");
}

#[test]
fn logic_is_three_valued() {
    check("size > 99 and size <= 100", "1");
    check("not size == 100", "0");
    check("protocol == 'nfs' or iops > 3", "1");
    check("iops > 3 or protocol == 'nfs'", "1");
    check("iops > 3 or protocol == 'fc'", "nothing");
    check("iops > 3 and protocol == 'fc'", "0");
    check("iops > 3 and protocol != 'fc'", "nothing");
    check("not iops", "nothing");
    check("iops + 1", "nothing");
    check("min(1, iops)", "nothing");
    check("if(given(iops), iops, 7)", "7");
    check("if(true, 1, iops)", "1");
    check("if(iops, 1, 2)", "nothing");
    check("if(size == 100, 'a', 'b')", "'a'");
    check("android", "at 0: there is no \"android\"");
}

#[test]
fn errors_state_their_position() {
    check("", "at 0: it cannot be read: a number, a name");
    check("1 +", "at 3: it cannot be read");
    check("1 2", "at 2: it goes on after its end: an operator");
    check("sise * 2", "at 0: there is no \"sise\": size, iops, protocol");
    check("2 * given(x)", "at 10: there is no \"x\"");
    check("sqrt(2)", "at 0: there is no function \"sqrt\": min max");
    check("clamp(1, 2)", "at 0: clamp is given 2 arguments: 3 to 3");
    check("(1", "at 2: it cannot be read: \")\"");
    check("'nfs", "at 0: a text does not end");
    check("1x", "at 0: 1x is no number");
    check("1 < 2 < 3", "at 6: it goes on after its end");
    check("size == 'nfs'", "at 13: it is a text: a number");
    check("protocol + 1", "at 12: it is a text: a number");
    check("if(1, 'a', 2)", "at 13: it is a number: a text");
    check(&"(".repeat(100), "at 40: it is nested too deeply");
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "[a-z0-9 ()+*/<>=!.,'é-]{0,40}") {
        let _ = parse(&text, Type::Number, &mut Names);
    }
}
