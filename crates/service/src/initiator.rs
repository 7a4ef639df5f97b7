//! The initiator's side of volumes over iSCSI: settings, and the commands that attach a volume on any machine with
//! open-iscsi.

use std::fmt::Write;
use std::path::Path;

use crate::api::IscsiTarget;

/// The commands, as a shell script in which everything else is a comment.
pub fn script(name: &str, target: &IscsiTarget, mountpoint: Option<&Path>) -> String {
    let IscsiTarget { iqn, portals, .. } = target;
    let paths = if portals.len() == 1 { "1 path".to_owned() } else { format!("{} paths", portals.len()) };
    let mut text = format!("# {name} over iSCSI: {iqn}, {paths}\n\n# connect\n");
    let mut add = |line: &str| writeln!(text, "{line}").expect("writing to a string does not fail");
    for portal in portals {
        add(&format!("sudo iscsiadm -m node -o new -T {iqn} -p {portal}"));
    }
    for (key, value) in initiator_settings(target, "SECRET") {
        add(&format!("sudo iscsiadm -m node -o update -T {iqn} -n {key} -v {value}"));
    }
    if portals.len() > 1 {
        add("sudo mkdir -p /etc/multipath/conf.d");
        add("sudo tee /etc/multipath/conf.d/plimsoll.conf > /dev/null <<'END'");
        add(&multipath_section(target));
        add("END");
        add("sudo systemctl enable --now multipathd && sudo multipathd reconfigure");
    }
    for portal in portals {
        add(&format!("sudo iscsiadm -m node -T {iqn} -p {portal} -l"));
    }
    let device = device_path(target);
    let point = mountpoint.map_or_else(|| format!("/mnt/{name}"), |point| point.display().to_string());
    add(&format!("\n# device\n#   {device}"));
    add(&format!(
        "# line of /etc/fstab, once it has a filesystem\n#   {device} {point} auto defaults,_netdev,nofail 0 2"
    ));
    add("\n# disconnect\n#   sudo umount DIRECTORY");
    if portals.len() > 1 {
        add(&format!("#   sudo multipath -f {device}"));
    }
    add(&format!("#   sudo iscsiadm -m node -T {iqn} -u\n#   sudo iscsiadm -m node -o delete -T {iqn}"));
    text
}

/// Settings of the initiator for the target, with the secret of its user: those of OCI's agent where there are several
/// paths, with one exception.
pub fn initiator_settings(target: &IscsiTarget, secret: &str) -> Vec<(&'static str, String)> {
    let mut settings = vec![("node.startup", "automatic".to_owned())];
    if target.portals.len() > 1 {
        settings.extend([
            ("node.session.initial_login_retry_max", "2".to_owned()),
            ("node.conn[0].timeo.login_timeout", "10".to_owned()),
            ("node.conn[0].timeo.logout_timeout", "3".to_owned()),
            // OCI's agent sets -1: requests of a cut path wait for it without limit. So they go over the others.
            ("node.session.timeo.replacement_timeout", "15".to_owned()),
        ]);
    }
    settings.push(("node.session.queue_depth", target.queue_depth.to_string()));
    if let Some(user) = &target.chap_user {
        settings.extend([
            ("node.session.auth.authmethod", "CHAP".to_owned()),
            ("node.session.auth.username", user.clone()),
            ("node.session.auth.password", secret.to_owned()),
        ]);
    }
    settings
}

/// The section of multipath.conf: all paths at once, or the group of the controller that owns the unit.
pub fn multipath_section(target: &IscsiTarget) -> String {
    let policy = match target.optimized {
        None => "path_grouping_policy multibus\n        path_selector \"queue-length 0\"\n        prio const",
        Some(_) => {
            "path_grouping_policy group_by_prio\n        path_selector \"service-time 0\"\n        prio alua\n        \
             hardware_handler \"1 alua\""
        }
    };
    format!(
        "defaults {{
    user_friendly_names yes
    find_multipaths yes
    polling_interval 30
}}
devices {{
    device {{
        vendor \"{}\"
        product \"{}\"
        {policy}
        path_checker tur
        no_path_retry queue
        failback immediate
        rr_min_io_rq 1
        fast_io_fail_tmo off
        features \"2 queue_mode bio\"
    }}
}}",
        target.vendor, target.product
    )
}

/// The path of the device, which does not depend on the order of logins.
fn device_path(target: &IscsiTarget) -> String {
    let wwid = &target.wwid;
    if target.portals.len() > 1 {
        format!("/dev/disk/by-id/dm-uuid-mpath-{wwid}")
    } else {
        format!("/dev/disk/by-id/scsi-{wwid}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(portals: usize) -> IscsiTarget {
        IscsiTarget {
            iqn: "iqn.2015-12.com.oracleiaas:1".into(),
            portals: (2..2 + portals).map(|last| format!("169.254.2.{last}:3260")).collect(),
            queue_depth: 128,
            wwid: "360a".into(),
            vendor: "ORACLE".into(),
            product: "BlockVolume".into(),
            ..IscsiTarget::default()
        }
    }

    fn lines(text: &str) -> Vec<&str> {
        text.lines().filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn single_path_is_connected_with_three_commands() {
        let text = script("data", &target(1), Some(Path::new("/data")));
        assert_eq!(
            lines(&text)[..6],
            [
                "# data over iSCSI: iqn.2015-12.com.oracleiaas:1, 1 path",
                "# connect",
                "sudo iscsiadm -m node -o new -T iqn.2015-12.com.oracleiaas:1 -p 169.254.2.2:3260",
                "sudo iscsiadm -m node -o update -T iqn.2015-12.com.oracleiaas:1 -n node.startup -v automatic",
                "sudo iscsiadm -m node -o update -T iqn.2015-12.com.oracleiaas:1 -n node.session.queue_depth -v 128",
                "sudo iscsiadm -m node -T iqn.2015-12.com.oracleiaas:1 -p 169.254.2.2:3260 -l",
            ]
        );
        assert!(text.contains("#   /dev/disk/by-id/scsi-360a /data auto defaults,_netdev,nofail 0 2\n"), "{text}");
        assert!(!text.contains("multipath"), "{text}");
    }

    #[test]
    fn several_paths_are_used_at_once() {
        let text = script("data", &target(5), None);
        assert_eq!((text.matches("-o new").count(), text.matches(" -l\n").count()), (5, 5));
        let section = [
            "vendor \"ORACLE\"",
            "path_grouping_policy multibus",
            "path_selector \"queue-length 0\"",
            "no_path_retry queue",
            "find_multipaths yes",
        ];
        for part in section.iter().chain(&["replacement_timeout -v 15", "/dev/disk/by-id/dm-uuid-mpath-360a /mnt/data"])
        {
            assert!(text.contains(part), "no {part} in {text}");
        }
        let is_comment = |line: &&str| line.starts_with('#') || line.starts_with("sudo ");
        let outside = text.split_once("<<'END'\n").unwrap();
        assert!(
            lines(outside.0).iter().all(is_comment)
                && lines(outside.1.split_once("END\n").unwrap().1).iter().all(is_comment)
        );
    }

    #[test]
    fn asymmetric_paths_are_grouped_by_priority() {
        let array = IscsiTarget { optimized: Some(vec!["169.254.2.2:3260".into()]), ..target(2) };
        let text = script("data", &array, None);
        assert!(text.contains("group_by_prio") && text.contains("prio alua"), "{text}");
    }

    #[test]
    fn authentication_needs_the_secret() {
        let text = script("data", &IscsiTarget { chap_user: Some("db1".into()), ..target(1) }, None);
        assert!(text.contains("auth.username -v db1\n") && text.contains("auth.password -v SECRET\n"), "{text}");
    }
}
