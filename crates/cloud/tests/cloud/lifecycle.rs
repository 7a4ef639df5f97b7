//! Objects of OCI from creation to deletion, with the rules of the product.

use plimsoll_service::LevelChanges;
use serde_json::{Value, json};

use crate::fixture::{Ask, COMPARTMENT, Plane, SPEED_UP, date, new_directory};

#[test]
fn volume_passes_its_states_and_is_what_the_service_has() {
    let plane = Plane::start();
    let signer = plane.signer();
    let id = plane.volume(&signer, "data", 100, 20);
    let volume = plane.home.service.volume("data").unwrap();
    assert_eq!((volume.level, volume.size_bytes), (Some(20), 100 << 30));
    let reply = plane.put(&signer, &format!("/volumes/{id}"), &json!({ "vpusPerGB": 10, "displayName": "renamed" }));
    assert_eq!((reply.status, &reply.body["lifecycleState"]), (200, &"PROVISIONING".into()));
    let refused = plane.put(&signer, &format!("/volumes/{id}"), &json!({ "sizeInGBs": 200 }));
    assert_eq!(refused.error(), (409, "IncorrectState"));
    plane.until(&signer, &format!("/volumes/{id}"), "AVAILABLE");
    assert_eq!(plane.put(&signer, &format!("/volumes/{id}"), &json!({ "sizeInGBs": 99 })).status, 400);
    assert_eq!(plane.put(&signer, &format!("/volumes/{id}"), &json!({ "sizeInGBs": 200 })).status, 200);
    plane.until(&signer, &format!("/volumes/{id}"), "AVAILABLE");
    let volume = plane.home.service.volume("data").unwrap();
    assert_eq!((volume.level, volume.size_bytes), (Some(10), 200 << 30));
    assert_eq!(plane.delete(&signer, &format!("/volumes/{id}")).status, 204);
    assert!(plane.home.service.volume("data").is_err());
    let view = plane.until(&signer, &format!("/volumes/{id}"), "TERMINATED");
    assert_eq!(view["displayName"], "renamed");
    assert_eq!(plane.delete(&signer, &format!("/volumes/{id}")).status, 204, "a repeated request");
}

#[test]
fn changes_elsewhere_are_shown() {
    let plane = Plane::start();
    let signer = plane.signer();
    let create = |name: &str, like: &str| {
        let create = plimsoll_service::api::Create { name: name.into(), like: like.into(), ..Default::default() };
        plane.home.service.create(&create).unwrap()
    };
    create("plain", "oci:50GB@0vpu");
    create("foreign", "aws/gp3:10GiB");
    let list = plane.get(&signer, "/volumes");
    assert_eq!((list.body.as_array().map(Vec::len), &list.body[0]["vpusPerGB"]), (Some(1), &0.into()));
    let id = list.body[0]["id"].as_str().unwrap().to_owned();
    let level = plimsoll_service::api::Level { to: "20".into(), ..Default::default() };
    plane.home.service.level("plain", &level).unwrap();
    assert_eq!(plane.get(&signer, &format!("/volumes/{id}")).body["vpusPerGB"], 20);
    plane.home.service.delete("plain").unwrap();
    assert_eq!(plane.get(&signer, &format!("/volumes/{id}")).error(), (404, "NotAuthorizedOrNotFound"));
    create("plain", "oci:50GB@0vpu");
    let list = plane.get(&signer, "/volumes");
    assert_ne!(list.body[0]["id"], id, "another volume has another identifier");
}

#[test]
fn retry_token_creates_once_and_etag_guards() {
    let plane = Plane::start();
    let signer = plane.signer();
    let body = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50, "displayName": "a" }).to_string();
    let token = [("opc-retry-token", "t1"), ("opc-request-id", "ABC")];
    let first = plane.ask(&signer, "POST", "/volumes", &body, &token);
    let second = plane.ask(&signer, "POST", "/volumes", &body, &token);
    assert_eq!((first.status, &first.body["id"]), (200, &second.body["id"]));
    assert_eq!(second.header("opc-request-id"), Some("ABC"));
    let other = plane.ask(&signer, "POST", "/volumes", &body.replace("50", "60"), &token);
    assert_eq!(other.error(), (409, "InvalidatedRetryToken"));
    let path = format!("/volumes/{}", first.body["id"].as_str().unwrap());
    let rename = json!({ "displayName": "b" }).to_string();
    let refused = plane.ask(&signer, "PUT", &path, &rename, &[("if-match", "e1")]);
    assert_eq!(refused.error(), (412, "NoEtagMatch"));
    let etag = plane.get(&signer, &path).header("etag").unwrap().to_owned();
    assert_eq!(plane.ask(&signer, "PUT", &path, &rename, &[("if-match", &etag)]).status, 200);
    assert_eq!(plane.ask(&signer, "DELETE", &path, "", &[("if-match", &etag)]).error(), (412, "NoEtagMatch"));
}

#[test]
fn pages_walk_all_objects_once() {
    let plane = Plane::start();
    let signer = plane.signer();
    for number in 0..5 {
        let body = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50, "displayName": format!("v{number}") });
        assert_eq!(plane.post(&signer, "/volumes", &body).status, 200);
    }
    let (mut names, mut next) = (Vec::new(), Some(String::new()));
    while let Some(page) = next {
        let query = if page.is_empty() { String::new() } else { format!("&page={page}") };
        let reply = plane.get(&signer, &format!("/volumes?compartmentId={COMPARTMENT}&limit=2&sortOrder=ASC{query}"));
        let volumes = reply.body.as_array().unwrap();
        assert!(volumes.len() <= 2);
        names.extend(volumes.iter().map(|volume| volume["displayName"].as_str().unwrap().to_owned()));
        next = reply.header("opc-next-page").map(str::to_owned);
    }
    assert_eq!(names, ["v0", "v1", "v2", "v3", "v4"]);
    let filtered = plane.get(&signer, "/volumes?displayName=v3");
    assert_eq!(filtered.body.as_array().map(Vec::len), Some(1));
    for wrong in ["limit=0", "limit=x", "page=%21", "sortOrder=UP", "colour=red"] {
        assert_eq!(plane.get(&signer, &format!("/volumes?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn attachment_shares_limits_of_the_instance_and_ends_with_a_work_request() {
    let plane = Plane::start();
    let signer = plane.signer();
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let small = plane.instance(&signer, "small", "VM.Standard.E4.Flex:2ocpu");
    let id = plane.volume(&signer, "data", 100, 30);
    let attach = |instance: &str| {
        let body =
            json!({ "type": "iscsi", "instanceId": instance, "volumeId": id, "device": "/dev/oracleoci/oraclevdb" });
        plane.post(&signer, "/volumeAttachments", &body)
    };
    let single = attach(&small);
    assert_eq!((single.status, &single.body["isMultipath"]), (200, &false.into()), "less than 16 OCPUs: {single:?}");
    assert_eq!(single.body["multipathDevices"].as_array().map(Vec::len), Some(0));
    let path = format!("/volumeAttachments/{}", single.body["id"].as_str().unwrap());
    plane.until(&signer, &path, "ATTACHED");
    plane.delete(&signer, &path);
    plane.until(&signer, &path, "DETACHED");
    let attached = attach(&instance);
    assert_eq!((attached.status, &attached.body["lifecycleState"]), (200, &"ATTACHING".into()), "{attached:?}");
    assert_eq!(plane.home.service.volume("data").unwrap().group.as_deref(), Some("vm"));
    assert_eq!(attached.body["isMultipath"], true);
    assert_eq!((&attached.body["ipv4"], &attached.body["port"]), (&"169.254.2.2".into(), &3260.into()));
    assert_eq!(attached.body["multipathDevices"].as_array().map(Vec::len), Some(4));
    assert_eq!(attach(&instance).error(), (409, "Conflict"));
    let path = format!("/volumeAttachments/{}", attached.body["id"].as_str().unwrap());
    plane.until(&signer, &path, "ATTACHED");
    assert_eq!(plane.delete(&signer, &format!("/volumes/{id}")).error(), (409, "Conflict"));
    let refused = plane.put(&signer, &format!("/volumes/{id}"), &json!({ "vpusPerGB": 10 }));
    assert_eq!(refused.error(), (409, "Conflict"));
    assert!(refused.body["message"].as_str().unwrap().contains("--online-uhp"));
    let devices = plane.get(&signer, &format!("/instances/{instance}/devices?isAvailable=false"));
    assert_eq!(devices.body[0]["name"], "/dev/oracleoci/oraclevdb");
    let login = plane.put(&signer, &path, &json!({ "iscsiLoginState": "LOGIN_SUCCEEDED" }));
    assert_eq!(login.body["iscsiLoginState"], "LOGIN_SUCCEEDED");
    let detached = plane.delete(&signer, &path);
    let work = detached.header("opc-work-request-id").unwrap().to_owned();
    assert_eq!(plane.home.service.volume("data").unwrap().group, None);
    plane.until(&signer, &path, "DETACHED");
    let work = plane.get(&signer, &format!("/workRequests/{work}"));
    assert_eq!((&work.body["status"], &work.body["percentComplete"]), (&"SUCCEEDED".into(), &100.0.into()));
}

#[test]
fn attached_volume_changes_online_with_the_switch() {
    let plane = Plane::open(new_directory(), SPEED_UP, LevelChanges::Online);
    let signer = plane.signer();
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let id = plane.volume(&signer, "data", 100, 20);
    let body = json!({ "type": "iscsi", "instanceId": instance, "volumeId": id });
    assert_eq!(plane.post(&signer, "/volumeAttachments", &body).status, 200);
    let reply = plane.put(&signer, &format!("/volumes/{id}"), &json!({ "vpusPerGB": 50 }));
    assert_eq!((reply.status, &reply.body["vpusPerGB"]), (200, &50.into()), "{reply:?}");
}

#[test]
fn requested_secret_admits_initiators_until_the_detachment() {
    let plane = Plane::start();
    let signer = plane.signer();
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let id = plane.volume(&signer, "data", 100, 30);
    let attach = |kind: &str| {
        let body = json!({ "type": kind, "instanceId": instance, "volumeId": id, "useChap": true });
        plane.post(&signer, "/volumeAttachments", &body)
    };
    assert_eq!(attach("paravirtualized").status, 400);
    let attached = attach("iscsi").body;
    assert_eq!(attached["chapUsername"], id.as_str());
    let secret = attached["chapSecret"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 32);
    let target = plane.home.service.iscsi_target("data").unwrap();
    assert_eq!((target.chap_user.as_deref(), &*target.iqn), (Some(&*id), attached["iqn"].as_str().unwrap()));
    let path = format!("/volumeAttachments/{}", attached["id"].as_str().unwrap());
    plane.until(&signer, &path, "ATTACHED");
    assert_eq!(plane.get(&signer, &path).body["chapSecret"], secret.as_str());
    assert_eq!(plane.delete(&signer, &path).status, 204);
    assert!(plane.home.service.iscsi_target("data").is_err(), "the target is closed");
    let detached = plane.until(&signer, &path, "DETACHED");
    assert_eq!((&detached["chapSecret"], &detached["iqn"]), (&json!(null), &json!(null)));
    let body = json!({ "type": "iscsi", "instanceId": instance, "volumeId": id });
    let again = plane.post(&signer, "/volumeAttachments", &body).body;
    assert_eq!((&again["chapUsername"], &again["iqn"]), (&json!(null), &attached["iqn"]));
}

#[test]
fn backups_of_a_group_are_volumes_again() {
    let plane = Plane::start();
    let signer = plane.signer();
    let ids = [plane.volume(&signer, "data", 50, 10), plane.volume(&signer, "log", 60, 20)];
    let source = json!({ "type": "volumeIds", "volumeIds": ids });
    let body = json!({ "compartmentId": COMPARTMENT, "sourceDetails": source });
    let group = plane.post(&signer, "/volumeGroups", &body).body;
    assert_eq!(group["sizeInGBs"], 110);
    assert_eq!(plane.post(&signer, "/volumeGroups", &body).error(), (409, "Conflict"), "a volume is in one group");
    let backup = plane.post(&signer, "/volumeGroupBackups", &json!({ "volumeGroupId": group["id"] })).body;
    assert_eq!(
        (&backup["lifecycleState"], backup["volumeBackupIds"].as_array().map(Vec::len)),
        (&"CREATING".into(), Some(2))
    );
    let path = format!("/volumeGroupBackups/{}", backup["id"].as_str().unwrap());
    plane.until(&signer, &path, "AVAILABLE");
    let backups = plane.get(&signer, &format!("/volumeBackups?compartmentId={COMPARTMENT}")).body;
    assert_eq!(backups.as_array().map(Vec::len), Some(2));
    let source = json!({ "type": "volumeGroupBackupId", "volumeGroupBackupId": backup["id"] });
    let restored =
        plane.post(&signer, "/volumeGroups", &json!({ "compartmentId": COMPARTMENT, "sourceDetails": source }));
    assert_eq!((restored.status, &restored.body["sizeInGBs"]), (200, &110.into()), "{restored:?}");
    assert_eq!(plane.home.service.list().unwrap().iter().filter(|volume| volume.writable).count(), 4);
    assert_eq!(plane.delete(&signer, &path).status, 204);
    assert_eq!(plane.home.service.list().unwrap().iter().filter(|volume| !volume.writable).count(), 0);
}

#[test]
fn rules_of_the_product_are_enforced() {
    let plane = Plane::start();
    let signer = plane.signer();
    let create = |body: Value| plane.post(&signer, "/volumes", &body).error().0;
    let with = |key: &str, value: Value| {
        let mut body = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50 });
        body[key] = value;
        create(body)
    };
    assert_eq!(with("sizeInGBs", 49.into()), 400);
    assert_eq!(with("sizeInGBs", 32_769.into()), 400);
    assert_eq!(with("sizeInGBs", u64::MAX.into()), 400);
    assert_eq!(with("vpusPerGB", 15.into()), 400);
    assert_eq!(with("vpusPerGB", 130.into()), 400);
    assert_eq!(with("autotunePolicies", json!([{ "autotuneType": "PERFORMANCE_BASED", "maxVpusPerGB": 10 }])), 400);
    assert_eq!(with("availabilityDomain", "Else:EU-NOWHERE-1-AD-1".into()), 400);
    assert_eq!(with("sourceDetails", json!({ "type": "volume", "id": "ocid1.volume.oc1..x" })), 404);
    assert!(plane.home.service.list().unwrap().is_empty(), "nothing was made");
}

#[test]
fn policies_are_part_of_the_creation() {
    let plane = Plane::start();
    let signer = plane.signer();
    let policies = json!([{ "autotuneType": "PERFORMANCE_BASED", "maxVpusPerGB": 120 }]);
    let body =
        json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50, "displayName": "a", "autotunePolicies": policies });
    let created = plane.post(&signer, "/volumes", &body).body;
    assert_eq!(created["autotunePolicies"], policies);
    let autotune = plane.home.service.volume("a").unwrap().autotune.unwrap();
    assert_eq!((autotune.default, autotune.max), (Some(10), Some(120)));
    let path = format!("/volumes/{}", created["id"].as_str().unwrap());
    plane.until(&signer, &path, "AVAILABLE");
    let source = json!({ "type": "volume", "id": created["id"] });
    let body = json!({ "sourceDetails": source, "displayName": "b", "autotunePolicies": [{ "autotuneType": "DETACHED_VOLUME" }] });
    assert_eq!(plane.post(&signer, "/volumes", &body).status, 200);
    assert!(plane.home.service.volume("b").unwrap().autotune.unwrap().detached_after_ns.is_some());
}

#[test]
fn collections_around_volumes_are_listed() {
    let plane = Plane::start();
    let signer = plane.signer();
    let compartment = "compartmentId=ocid1.tenancy.oc1..plimsoll";
    let get = |path: &str| {
        let reply = plane.get(&signer, path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    };
    let shapes = get(&format!("/shapes?{compartment}&limit=1000"));
    let flexible = |shape: &&Value| shape["shape"] == "VM.Standard.E4.Flex" && shape["isFlexible"] == true;
    assert!(shapes.as_array().unwrap().iter().find(flexible).is_some(), "{shapes}");
    for collection in ["images", "vcns", "subnets", "blockVolumeReplicas", "compartments"] {
        assert_eq!(get(&format!("/{collection}?{compartment}")), json!([]), "{collection}");
    }
    assert_eq!(get("/regions"), json!([{ "key": "ZRH", "name": "eu-zurich-1" }]));
    let subscription =
        json!({ "regionKey": "ZRH", "regionName": "eu-zurich-1", "status": "READY", "isHomeRegion": true });
    assert_eq!(get("/tenancies/ocid1.tenancy.oc1..plimsoll/regionSubscriptions"), json!([subscription]));
    assert_eq!(get("/tenancies/ocid1.tenancy.oc1..plimsoll")["homeRegionKey"], "ZRH");
    assert_eq!(get("/compartments/ocid1.tenancy.oc1..plimsoll")["lifecycleState"], "ACTIVE");
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let action = plane.post(&signer, &format!("/instances/{instance}?action=RESET"), &json!({}));
    assert_eq!(action.error(), (409, "Conflict"), "{action:?}");
}

#[test]
fn options_of_lists_that_the_cli_sends_select_or_are_refused() {
    let plane = Plane::start();
    let signer = plane.signer();
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let [small, large] = ["small", "large"].map(|name| plane.volume(&signer, name, 50, 10));
    let get = |path: &str| {
        let reply = plane.get(&signer, path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body.as_array().unwrap().iter().map(|view| view["id"].clone()).collect::<Vec<Value>>()
    };
    let tenancy = "compartmentId=ocid1.tenancy.oc1..plimsoll";
    let in_compartment = format!("compartmentId={COMPARTMENT}");
    for path in [
        "images?operatingSystem=Oracle%20Linux&operatingSystemVersion=9&shape=VM.Standard.E4.Flex&lifecycleState=AVAILABLE",
        "vcns?displayName=vcn&lifecycleState=AVAILABLE&sortBy=DISPLAYNAME&sortOrder=DESC",
        "subnets?vcnId=ocid1.vcn.oc1..v&displayName=subnet&sortBy=TIMECREATED&sortOrder=ASC",
        "blockVolumeReplicas?volumeGroupReplicaId=ocid1.volumegroupreplica.oc1..r",
        "instances?capacityReservationId=ocid1.capacityreservation.oc1..r",
        "instances?computeClusterId=ocid1.computecluster.oc1..r",
        "workRequests?resourceId=ocid1.volume.oc1..nothing",
    ] {
        assert_eq!(get(&format!("/{path}&{tenancy}")), Vec::<Value>::new(), "{path}");
    }
    assert!(
        !get(&format!("/shapes?imageId=ocid1.image.oc1..i&availabilityDomain=Plms:EU-ZURICH-1-AD-1&{tenancy}"))
            .is_empty()
    );
    let volumes = |options: &str| get(&format!("/volumes?{in_compartment}&{options}"));
    assert_eq!(volumes("sortBy=DISPLAYNAME"), [large.as_str(), &small]);
    assert_eq!(volumes("sortBy=DISPLAYNAME&sortOrder=DESC"), [small.as_str(), &large]);
    assert_eq!(volumes("sortBy=TIMECREATED&sortOrder=ASC"), [small.as_str(), &large]);
    assert_eq!(volumes("displayName=small&lifecycleState=AVAILABLE"), [small.as_str()]);
    assert_eq!(volumes("clusterPlacementGroupId=ocid1.clusterplacementgroup.oc1..g"), Vec::<Value>::new());
    for options in ["sortBy=SIZE", "sortBy=NAME", "sortOrder=UP", "accessLevel=ANY", "colour=red"] {
        let refused = plane.get(&signer, &format!("/volumes?{in_compartment}&{options}"));
        assert_eq!(refused.error(), (400, "InvalidParameter"), "{options}");
    }
    let devices = plane.get(&signer, &format!("/instances/{instance}/devices?name=/dev/oracleoci/oraclevdc"));
    assert_eq!(devices.body, json!([{ "name": "/dev/oracleoci/oraclevdc", "isAvailable": true }]));
    let attach = json!({ "instanceId": instance, "volumeId": small, "type": "iscsi" });
    let attachment = plane.post(&signer, "/volumeAttachments", &attach).body["id"].as_str().unwrap().to_owned();
    plane.until(&signer, &format!("/volumeAttachments/{attachment}"), "ATTACHED");
    assert_eq!(plane.delete(&signer, &format!("/volumeAttachments/{attachment}")).status, 204);
    assert_eq!(get(&format!("/workRequests?resourceId={attachment}&{in_compartment}")).len(), 1);
}

#[test]
fn compartments_are_those_of_the_objects() {
    let plane = Plane::start();
    let signer = plane.signer();
    let volume = plane.volume(&signer, "data", 50, 10);
    let other = "ocid1.compartment.oc1..d";
    let source = json!({ "type": "volumeIds", "volumeIds": [volume] });
    let group = plane.post(&signer, "/volumeGroups", &json!({ "compartmentId": other, "sourceDetails": source }));
    assert_eq!(group.status, 200, "{group:?}");
    let tenancy = "ocid1.tenancy.oc1..plimsoll";
    let list = |options: &str| plane.get(&signer, &format!("/compartments?{options}"));
    let names = |options: &str| {
        let reply = list(options);
        let views = reply.body.as_array().unwrap_or_else(|| panic!("{options}: {reply:?}"));
        views.iter().map(|view| view["name"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let both = ["compartment-c", "compartment-d"];
    assert_eq!(names(&format!("compartmentId={tenancy}&sortBy=NAME")), both);
    let options = "compartmentIdInSubtree=true&accessLevel=ACCESSIBLE&sortBy=NAME&lifecycleState=ACTIVE";
    assert_eq!(names(&format!("compartmentId={tenancy}&{options}")), both);
    assert_eq!(names(&format!("compartmentId=ocid1.tenancy.oc1..mine&{options}")), both);
    assert_eq!(names(&format!("compartmentId={tenancy}&name=compartment-d")), both[1..]);
    assert!(names(&format!("compartmentId={tenancy}&lifecycleState=DELETED")).is_empty());
    assert!(names(&format!("compartmentId={other}")).is_empty());
    for refused in [
        format!("compartmentId={other}&compartmentIdInSubtree=true"),
        format!("compartmentId={tenancy}&accessLevel=NONE"),
        format!("compartmentId={tenancy}&sortBy=DISPLAYNAME"),
    ] {
        assert_eq!(list(&refused).error(), (400, "InvalidParameter"), "{refused}");
    }
    assert_eq!(plane.get(&signer, &format!("/compartments/{other}")).body["name"], "compartment-d");
    assert_eq!(plane.get(&signer, &format!("/compartments/{tenancy}")).body["name"], "plimsoll");
}

#[test]
fn replicas_are_none_or_refused_with_the_reason() {
    let plane = Plane::start();
    let signer = plane.signer();
    let volume = plane.volume(&signer, "data", 50, 10);
    let create = json!({ "compartmentId": COMPARTMENT, "sizeInGBs": 50, "displayName": "new" });
    let source = json!({ "type": "volumeIds", "volumeIds": [volume] });
    let create_group = json!({ "compartmentId": COMPARTMENT, "sourceDetails": source, "volumeGroupReplicas": [] });
    let group = plane.post(&signer, "/volumeGroups", &create_group).body["id"].as_str().unwrap().to_owned();
    let (of_volume, of_group) = (format!("/volumes/{volume}"), format!("/volumeGroups/{group}"));
    let replica = json!([{ "displayName": "replica", "availabilityDomain": "Plms:EU-FRANKFURT-1-AD-1" }]);
    for (method, path, body, key) in [
        ("POST", "/volumes", &create, "blockVolumeReplicas"),
        ("PUT", &of_volume, &json!({ "displayName": "renamed" }), "blockVolumeReplicas"),
        ("PUT", &of_group, &json!({ "displayName": "renamed" }), "volumeGroupReplicas"),
        ("POST", "/volumeGroups", &create_group, "volumeGroupReplicas"),
    ] {
        let send = |replicas: &Value| {
            let mut body = body.clone();
            body[key] = replicas.clone();
            plane.ask(&signer, method, path, &body.to_string(), &[])
        };
        let refused = send(&replica);
        assert_eq!(refused.error(), (400, "InvalidParameter"), "{method} {path}");
        assert!(refused.text.contains("not emulated"), "{refused:?}");
        if path != "/volumeGroups" {
            assert_eq!(send(&json!([])).status, 200, "{method} {path}");
        }
    }
    assert_eq!(plane.get(&signer, &of_volume).body["displayName"], "renamed");
}

#[test]
fn metrics_of_volumes_are_summarized_or_refused_with_the_reason() {
    let plane = Plane::start();
    let signer = plane.signer();
    let volume = plane.volume(&signer, "data", 50, 10);
    let path = "/20180401/metrics/actions/summarizeMetricsData?compartmentId=ocid1.tenancy.oc1..plimsoll";
    let ask = |body: &Value| {
        let ask = Ask { method: "POST", target: path, body: &body.to_string(), headers: &[] };
        plane.send(&signer.signed(&ask, plane.port, &date(0)))
    };
    let query = format!("VolumeReadOps[1m]{{resourceId = \"{volume}\"}}.sum()");
    let reply = ask(&json!({ "namespace": "oci_blockstore", "query": query }));
    // The first minute is not over.
    assert_eq!((reply.status, &reply.body), (200, &json!([])), "{reply:?}");
    let other = ask(&json!({ "namespace": "oci_computeagent", "query": query }));
    assert!(other.status == 400 && other.text.contains("oci_blockstore"), "{other:?}");
    let backwards = json!({
        "namespace": "oci_blockstore",
        "query": query,
        "startTime": "2026-11-26T12:00:00Z",
        "endTime": "2026-11-26T11:00:00Z",
    });
    assert_eq!(ask(&backwards).status, 400);
}

#[test]
fn metrics_are_listed_by_compartment_and_dimension() {
    let plane = Plane::start();
    let signer = plane.signer();
    let volumes = ["a", "b"].map(|name| plane.volume(&signer, name, 50, 10));
    let other = "ocid1.compartment.oc1..d";
    let moved = plane.post(
        &signer,
        &format!("/volumes/{}/actions/changeCompartment", volumes[1]),
        &json!({ "compartmentId": other }),
    );
    assert_eq!(moved.status, 204, "{moved:?}");
    let list = |query: &str, body: &Value| {
        let target = format!("/20180401/metrics/actions/listMetrics?compartmentId={query}");
        let ask = Ask { method: "POST", target: &target, body: &body.to_string(), headers: &[] };
        plane.send(&signer.signed(&ask, plane.port, &date(0)))
    };
    let resources = |query: &str, body: &Value| {
        let reply = list(query, body);
        assert_eq!(reply.status, 200, "{query} {body}: {reply:?}");
        let metrics = reply.body.as_array().unwrap();
        metrics
            .iter()
            .map(|metric| metric["dimensions"]["resourceId"].as_str().unwrap().to_owned())
            .collect::<Vec<String>>()
    };
    let root = "ocid1.tenancy.oc1..plimsoll";
    let all = format!("{root}&compartmentIdInSubtree=true");
    let reads = json!({ "name": "VolumeReadOps" });
    assert_eq!(resources(COMPARTMENT, &reads), volumes[..1]);
    assert_eq!(resources(other, &reads), volumes[1..]);
    assert!(resources(root, &reads).is_empty());
    assert_eq!(resources(&all, &json!({})).len(), 8);
    assert_eq!(
        resources(&all, &json!({ "dimensionFilters": { "resourceId": volumes[0] } })),
        vec![volumes[0].clone(); 4]
    );
    assert!(resources(&all, &json!({ "dimensionFilters": { "attachmentId": "x" } })).is_empty());
    assert!(resources(&all, &json!({ "namespace": "oci_computeagent" })).is_empty());
    assert!(resources(&all, &json!({ "resourceGroup": "x" })).is_empty());
    let names =
        list(&format!("{COMPARTMENT}&limit=3"), &json!({ "groupBy": ["name"], "sortBy": "NAME", "sortOrder": "DESC" }));
    let [first, second] = ["VolumeWriteThroughput", "VolumeWriteOps"];
    assert_eq!(names.body[0], json!({ "name": first, "compartmentId": COMPARTMENT }));
    assert_eq!(names.body[1]["name"], second);
    let next = names.header("opc-next-page").unwrap();
    let rest = list(&format!("{COMPARTMENT}&page={next}"), &json!({ "groupBy": ["name"], "sortOrder": "DESC" }));
    assert_eq!(rest.body, json!([{ "name": "VolumeReadOps", "compartmentId": COMPARTMENT }]));
    for (query, body) in [
        (format!("{COMPARTMENT}&compartmentIdInSubtree=true"), json!({})),
        (all, json!({ "sortBy": "SIZE" })),
        (COMPARTMENT.to_owned(), json!({ "groupBy": ["dimensions"] })),
    ] {
        assert_eq!(list(&query, &body).error(), (400, "InvalidParameter"), "{query} {body}");
    }
}
