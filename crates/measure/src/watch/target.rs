//! Names of watched sources.

/// The target without a password, for pages and labels.
pub fn name_target(target: &str) -> String {
    match target.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
            // Options behind a question mark may contain a password.
            let path = rest[end..].split('?').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::name_target;

    #[test]
    fn names_have_no_passwords() {
        let names = [
            ("postgres://me:secret@db1:5432/shop?sslmode=require", "postgres://db1:5432/shop"),
            ("postgres:///shop?host=/tmp&password=secret", "postgres:///shop"),
            ("postgres://me:a@b@db1", "postgres://db1"),
            ("host", "host"),
            ("./iostat.txt", "./iostat.txt"),
        ];
        for (target, expected) in names {
            assert_eq!(name_target(target), expected);
        }
    }
}
