//! The metadata that the agent of an instance reads.

use serde_json::json;

use crate::fixture::{Plane, Reply};

fn get(plane: &Plane, path: &str, authorization: &str) -> Reply {
    let request = format!("GET {path} HTTP/1.1\r\nhost: 169.254.169.254\r\nauthorization: {authorization}\r\n\r\n");
    Plane::send_to(plane.metadata, request.as_bytes())
}

#[test]
fn agent_reads_portals_of_attached_volumes() {
    let plane = Plane::start();
    let signer = plane.signer();
    let attachments = || get(&plane, "/opc/v2/volumeAttachments/", "Bearer Oracle");
    assert_eq!((attachments().status, attachments().body), (200, json!([])), "there is no such instance yet");
    let instance = plane.instance(&signer, "vm", "VM.Standard.E4.Flex:16ocpu");
    let id = plane.volume(&signer, "data", 100, 30);
    let body = json!({ "type": "iscsi", "instanceId": instance, "volumeId": id, "isAgentAutoIscsiLoginEnabled": true });
    let attached = plane.post(&signer, "/volumeAttachments", &body).body;
    let read = attachments().body;
    assert_eq!(read[0]["iqn"], attached["iqn"]);
    assert_eq!(
        (&read[0]["ipv4"], read[0]["multipathDevices"].as_array().map(Vec::len)),
        (&"169.254.2.2".into(), Some(4))
    );
    let path = format!("/volumeAttachments/{}", attached["id"].as_str().unwrap());
    let put = |id: &str, state: &str| {
        let body = json!({ "iscsiLoginState": state }).to_string();
        let request = format!(
            "PUT /opc/v2/volumeAttachments/{id} HTTP/1.1\r\nhost: 169.254.169.254\r\nauthorization: Bearer Oracle\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Plane::send_to(plane.metadata, request.as_bytes()).status
    };
    let id = attached["id"].as_str().unwrap();
    assert_eq!((put(id, "LOGIN_SUCCEEDED"), put("other", "LOGIN_SUCCEEDED"), put(id, "ELSE")), (200, 404, 400));
    assert_eq!(attachments().body[0]["iscsiLoginState"], "LOGIN_SUCCEEDED");
    assert_eq!(plane.delete(&signer, &path).status, 204);
    assert_eq!(attachments().body, json!([]));
    assert_eq!(get(&plane, "/opc/v2/instance/shape", "Bearer Oracle").text, "VM.Standard.E4.Flex");
    assert_eq!(get(&plane, "/opc/v2/instance/", "Bearer Oracle").body["id"], instance);
    assert_eq!(get(&plane, "/opc/v2/volumeAttachments/", "Bearer else").status, 403);
    assert_eq!(get(&plane, "/opc/v2/else", "Bearer Oracle").status, 404);
}
