//! `plimsoll oci-key`, `oci-config`, `ec2-key` and `instance`, and the addresses that are refused.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::home::Home;

#[test]
fn only_loopback_addresses_are_listened_on() {
    let home = Home::new("cloudaddress");
    for flag in ["--oci", "--ec2"] {
        home.refuses(&["serve", "x", flag, "0.0.0.0:0"], "loopback addresses only");
        home.refuses(&["serve", "x", flag, "127.0.0.1"], "127.0.0.1");
    }
    home.refuses(&["serve", "x", "--oci-metadata", "127.0.0.1:0"], "INSTANCE=HOST:PORT");
    assert!(!home.path().join("x").exists(), "nothing was made");
}

#[test]
fn configuration_is_made_once_and_keys_are_private() {
    let mut home = Home::new("cloudkeys");
    home.refuses(&["oci-config", "cli"], "plimsoll serve --oci");
    home.serve(&["--oci", "127.0.0.1:0", "--ec2", "127.0.0.1:0"]);
    let printed = home.does(&["oci-config", "cli"]);
    assert!(printed.contains("OCI_CLI_CONFIG_FILE="), "{printed}");
    home.refuses(&["oci-config", "cli"], "exists and is kept");
    let mode = |path: &str| home.path().join(path).metadata().map(|found| found.permissions().mode() & 0o777).ok();
    for file in ["cli/config", "cli/oci_cli_rc", "cli/plimsoll_api_key.pem", "volumes/cloud/keys.json"] {
        assert_eq!(mode(file), Some(0o600), "{file}");
    }
    assert_eq!(mode("volumes/cloud"), Some(0o700));
    let list = home.does(&["oci-key", "list"]);
    let fingerprint = list.split(' ').next().expect("there is a key").to_owned();
    assert_eq!(fingerprint.len(), 47, "{list}");
    home.refuses(&["oci-key", "add", "cli/plimsoll_api_key.pem"], "no RSA public key");
    home.does(&["oci-key", "remove", &fingerprint]);
    home.refuses(&["oci-key", "remove", &fingerprint], "no key has the fingerprint");
    let variables = home.does(&["ec2-key"]);
    assert!(
        variables.starts_with("export AWS_ACCESS_KEY_ID=AKIA") && variables.contains("AWS_ENDPOINT_URL_EC2=http://127")
    );
}

#[test]
fn instances_are_groups_that_stay() {
    let mut home = Home::serving("cloudinstance", &[]);
    home.does(&["instance", "create", "vm", "--shape", "VM.Standard.E4.Flex:16ocpu"]);
    home.does(&["instance", "create", "db", "--shape", "m6i.4xlarge"]);
    home.refuses(&["instance", "create", "no", "--shape", "m6i.huge"], "m6i");
    home.signal(Signal::KILL);
    home.serve(&[]);
    let list = home.does(&["instance", "list"]);
    assert!(list.contains("oci/VM.Standard.E4.Flex") && list.contains("aws/m6i.4xlarge"), "{list}");
    home.does(&["instance", "delete", "db"]);
    assert!(!home.does(&["instance", "list"]).contains("m6i"));
}
