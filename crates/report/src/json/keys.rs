//! Keys of clients of the control planes. Names of the keys are those of the clouds.

view! {
    /// A registered key of an OCI user.
    struct OciKeyResult from id: &str {
        /// Its identifier in signatures: tenancy, user and fingerprint, separated by slashes.
        #[serde(rename = "keyId")]
        key_id: String = id.to_owned(),
    }

    /// A new configuration of the OCI command line: the values of its variables.
    struct OciConfigResult from written: [&str; 4] {
        /// Path of the configuration file.
        #[serde(rename = "OCI_CLI_CONFIG_FILE")]
        config: String = written[0].to_owned(),
        /// Path of the file with the endpoint.
        #[serde(rename = "OCI_CLI_RC_FILE")]
        rc: String = written[1].to_owned(),
        /// Fingerprint of its key.
        fingerprint: String = written[2].to_owned(),
        /// URL of the control plane.
        endpoint: String = written[3].to_owned(),
    }

    /// A new access key of EC2.
    struct Ec2KeyResult from key: (&str, &str, &str) {
        /// Access key ID.
        #[serde(rename = "AccessKeyId")]
        access_key_id: String = key.0.to_owned(),
        /// Secret access key.
        #[serde(rename = "SecretAccessKey")]
        secret_access_key: String = key.1.to_owned(),
        /// URL of the control plane.
        endpoint: String = key.2.to_owned(),
    }
}

/// Identifiers of the registered keys of OCI users.
pub(super) type OciKeyIds = Vec<String>;
