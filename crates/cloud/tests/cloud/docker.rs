//! Requests of Docker to a volume plugin.

use serde_json::{Value, json};

use crate::fixture::Plane;

fn call(plane: &Plane, name: &str, body: &Value) -> Value {
    let body = body.to_string();
    let length = body.len();
    let request = format!("POST /{name} HTTP/1.1\r\nhost: docker\r\ncontent-length: {length}\r\n\r\n{body}");
    Plane::send_to(plane.docker, request.as_bytes()).body
}

#[test]
fn volume_is_created_listed_and_removed() {
    let plane = Plane::start();
    assert_eq!(call(&plane, "Plugin.Activate", &json!({}))["Implements"], json!(["VolumeDriver"]));
    assert_eq!(call(&plane, "VolumeDriver.Capabilities", &json!({}))["Capabilities"]["Scope"], "local");
    let create = |opts: Value| call(&plane, "VolumeDriver.Create", &json!({ "Name": "data", "Opts": opts }));
    assert!(create(json!({}))["Err"].as_str().unwrap().contains("like="));
    assert!(create(json!({ "like": "oci:50GB", "colour": "red" }))["Err"].as_str().unwrap().contains("colour"));
    assert!(create(json!({ "like": "oci:50GB", "fs": "ntfs" }))["Err"].as_str().unwrap().contains("ext4"));
    assert_eq!(create(json!({ "like": "oci:50GB@10vpu" }))["Err"], "");
    assert_eq!(create(json!({ "like": "oci:50GB@10vpu" }))["Err"], "", "Docker repeats calls");
    assert_eq!(plane.home.service.volume("data").unwrap().level, Some(10));
    assert_eq!(call(&plane, "VolumeDriver.Get", &json!({ "Name": "data" }))["Volume"]["Name"], "data");
    assert_eq!(call(&plane, "VolumeDriver.List", &json!({}))["Volumes"].as_array().map(Vec::len), Some(1));
    let mount = |name: &str, id: &str| call(&plane, name, &json!({ "Name": "data", "ID": id }));
    let point = mount("VolumeDriver.Mount", "a")["Mountpoint"].as_str().unwrap().to_owned();
    assert!(point.ends_with("/data"), "{point}");
    assert_eq!(mount("VolumeDriver.Mount", "b")["Err"], "");
    assert_eq!(mount("VolumeDriver.Unmount", "a")["Err"], "");
    assert_eq!(mount("VolumeDriver.Unmount", "b")["Err"], "");
    assert_eq!(call(&plane, "VolumeDriver.Remove", &json!({ "Name": "data" }))["Err"], "");
    assert!(plane.home.service.volume("data").is_err());
}

#[test]
fn volumes_of_others_are_not_touched_and_errors_are_passed_on() {
    let plane = Plane::start();
    let like = "oci:50GB@10vpu".to_owned();
    let other = plimsoll_service::api::Create { name: "other".into(), like: like.clone(), ..Default::default() };
    plane.home.service.create(&other).unwrap();
    for name in ["Remove", "Mount", "Unmount", "Path", "Get"] {
        let reply = call(&plane, &format!("VolumeDriver.{name}"), &json!({ "Name": "other", "ID": "a" }));
        assert!(reply["Err"].as_str().unwrap().contains("created by the plugin"), "{name}: {reply}");
    }
    assert!(plane.home.service.volume("other").is_ok());
    let taken = call(&plane, "VolumeDriver.Create", &json!({ "Name": "other", "Opts": { "like": like } }));
    assert!(taken["Err"].as_str().unwrap().contains("already"), "{taken}");
    let create = json!({ "Name": "broken", "Opts": { "like": like } });
    assert_eq!(call(&plane, "VolumeDriver.Create", &create)["Err"], "");
    let mount = call(&plane, "VolumeDriver.Mount", &json!({ "Name": "broken", "ID": "a" }));
    assert_eq!(mount["Err"], "FUSE is missing: load its module");
}
