//! Terraform with the aws provider: creates, attaches and changes a volume, and plans no change afterwards.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::clouds::oci::client;
use crate::home::Home;

/// The provider waits for states as long as with the real service; 24 hours between modifications pass in 864 s.
const FLAGS: &[&str] = &["--ec2", "127.0.0.1:0", "--slow", "100", "--speed-up", "100"];
/// Directory of the provider plugin, as `terraform providers mirror` makes it.
const PLUGINS: &str = "PLIMSOLL_TERRAFORM_PLUGINS";

fn run(folder: &Path, key: &Value, arguments: &[&str]) -> Output {
    let of_key = |name: &str| key[name].as_str().expect("the key is complete");
    let mut command = Command::new("terraform");
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command.env("AWS_ACCESS_KEY_ID", of_key("AccessKeyId")).env("AWS_SECRET_ACCESS_KEY", of_key("SecretAccessKey"));
    command.env("AWS_EC2_METADATA_DISABLED", "true").env("CHECKPOINT_DISABLE", "1").env_remove("AWS_PROFILE");
    command.output().expect("terraform starts")
}

#[track_caller]
fn does(folder: &Path, key: &Value, arguments: &[&str]) -> String {
    let output = run(folder, key, arguments);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {}\n{text}{errors}", output.status);
    text.into_owned()
}

/// A volume of `gib` GiB that is attached to the only instance.
fn configuration(endpoint: &str, version: &str, gib: u32) -> String {
    format!(
        r#"terraform {{
  required_providers {{
    aws = {{
      source  = "hashicorp/aws"
      version = "{version}"
    }}
  }}
}}

provider "aws" {{
  region                      = "us-east-1"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
  endpoints {{
    ec2 = "{endpoint}"
  }}
}}

data "aws_instances" "all" {{
}}

resource "aws_ebs_volume" "data" {{
  availability_zone = "us-east-1a"
  size              = {gib}
  type              = "gp3"
  iops              = 4000
  throughput        = 200
  tags = {{
    Name = "data"
  }}
}}

resource "aws_volume_attachment" "data" {{
  device_name = "/dev/sdf"
  volume_id   = aws_ebs_volume.data.id
  instance_id = data.aws_instances.all.ids[0]
}}
"#
    )
}

#[test]
fn terraform_plans_no_change_after_it_applied() {
    let Some(plugins) = std::env::var_os(PLUGINS) else {
        eprintln!("skipped: {PLUGINS} is not set to a directory with the provider hashicorp/aws");
        return;
    };
    if client("PLIMSOLL_TERRAFORM", "terraform").is_none() {
        return;
    }
    let versions = Path::new(&plugins).join("registry.terraform.io/hashicorp/aws");
    let version = std::fs::read_dir(&versions).expect("the plugins have the provider").next();
    let version = version.expect("it has a version").expect("it can be read").file_name();
    let home = Home::serving("terraform", FLAGS);
    let key: Value = serde_json::from_str(&home.does(&["ec2-key", "--json"])).expect("it is JSON");
    home.does(&["instance", "create", "db", "--shape", "m6i.4xlarge"]);
    let folder = home.path().join("infrastructure");
    std::fs::create_dir(&folder).expect("it is new");
    let endpoint = key["endpoint"].as_str().expect("the key has an endpoint");
    let write = |gib| {
        let text = configuration(endpoint, &version.to_string_lossy(), gib);
        std::fs::write(folder.join("main.tf"), text).expect("it can be written");
    };
    write(10);
    does(&folder, &key, &["init", &format!("-plugin-dir={}", Path::new(&plugins).display())]);
    does(&folder, &key, &["apply", "-auto-approve"]);
    // 0: no changes; 2: there are some.
    let plan = run(&folder, &key, &["plan", "-detailed-exitcode"]);
    assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
    write(20);
    let changed = does(&folder, &key, &["apply", "-auto-approve"]);
    assert!(changed.contains("1 changed"), "{changed}");
    let plan = run(&folder, &key, &["plan", "-detailed-exitcode"]);
    assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
    let ended = does(&folder, &key, &["destroy", "-auto-approve"]);
    assert!(ended.contains("Destroy complete! Resources: 2 destroyed"), "{ended}");
}
