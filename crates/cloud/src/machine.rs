//! Names of machines of the catalogue.

/// The machine of the catalogue for a shape or type as its vendor names it.
pub fn name_machine(shape: &str) -> String {
    match shape {
        shape if shape.contains('/') || shape.contains('(') => shape.to_owned(),
        shape if shape.starts_with("Standard_") => format!("azure/{shape}"),
        // Google's types have hyphens before the size, AWS's a dot: n2-standard-4, u-6tb1.metal.
        shape if shape.contains('-') && !shape.contains('.') => format!("gcp/{shape}"),
        shape if shape.starts_with("VM.") || shape.starts_with("BM.") => format!("oci/{shape}"),
        shape => format!("aws/{shape}"),
    }
}

#[cfg(test)]
mod tests {
    use super::name_machine;

    #[test]
    fn vendor_is_recognised_by_the_form_of_the_name() {
        for (shape, machine) in [
            ("VM.Standard.E4.Flex:16ocpu", "oci/VM.Standard.E4.Flex:16ocpu"),
            ("Standard_E8s_v5", "azure/Standard_E8s_v5"),
            ("n2-standard-4", "gcp/n2-standard-4"),
            ("u-6tb1.metal", "aws/u-6tb1.metal"),
            ("oci/BM.Standard2.52", "oci/BM.Standard2.52"),
        ] {
            assert_eq!(name_machine(shape), machine);
        }
    }
}
