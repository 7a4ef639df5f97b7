//! Keys of clients of the control planes. Names of the keys are those of the clouds.

view! {
    /// A registered key of an OCI user.
    struct OciKeyResult from id: &str {
        /// Its identifier in signatures: tenancy, user and fingerprint, separated by slashes.
        #[serde(rename = "keyId")]
        key_id: String = id.to_owned(),
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
