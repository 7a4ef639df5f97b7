//! Embedded product files. A test compares the list with the folder.

/// Path relative to the project, and content. Links in this crate lead to the folders of the project: a package has their
/// files.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../", $path)))
    };
}

/// Requirement files.
pub(crate) const REQUIREMENTS: &[(&str, &str)] = &[
    file!("requirements/cockroachdb-4vcpu.toml"),
    file!("requirements/consul.toml"),
    file!("requirements/etcd.toml"),
    file!("requirements/etcd-heavy.toml"),
    file!("requirements/gitaly.toml"),
    file!("requirements/openshift.toml"),
    file!("requirements/openshift-heavy.toml"),
    file!("requirements/vault.toml"),
    file!("requirements/vault-large.toml"),
];

/// Product files.
pub(crate) const FILES: &[(&str, &str)] = &[
    file!("catalogue/aws/aurora.toml"),
    file!("catalogue/aws/fsx-ontap.toml"),
    file!("catalogue/aws/gp2.toml"),
    file!("catalogue/aws/gp3.toml"),
    file!("catalogue/aws/instances.toml"),
    file!("catalogue/aws/io1.toml"),
    file!("catalogue/aws/io2.toml"),
    file!("catalogue/aws/rds-mysql.toml"),
    file!("catalogue/aws/rds-oracle.toml"),
    file!("catalogue/aws/rds-postgres.toml"),
    file!("catalogue/aws/rds-sqlserver.toml"),
    file!("catalogue/aws/sc1.toml"),
    file!("catalogue/aws/st1.toml"),
    file!("catalogue/aws/standard.toml"),
    file!("catalogue/azure/2014.toml"),
    file!("catalogue/azure/machines.toml"),
    file!("catalogue/azure/mysql-flexible.toml"),
    file!("catalogue/azure/postgres-flexible.toml"),
    file!("catalogue/azure/premium-ssd-v2.toml"),
    file!("catalogue/azure/premium-ssd.toml"),
    file!("catalogue/azure/sql.toml"),
    file!("catalogue/azure/standard-hdd.toml"),
    file!("catalogue/azure/standard-ssd.toml"),
    file!("catalogue/azure/ultra.toml"),
    file!("catalogue/gcp/alloydb.toml"),
    file!("catalogue/gcp/cloud-sql.toml"),
    file!("catalogue/gcp/hyperdisk-balanced-ha.toml"),
    file!("catalogue/gcp/hyperdisk-balanced.toml"),
    file!("catalogue/gcp/hyperdisk-extreme.toml"),
    file!("catalogue/gcp/hyperdisk-ml.toml"),
    file!("catalogue/gcp/hyperdisk-throughput.toml"),
    file!("catalogue/gcp/machines.toml"),
    file!("catalogue/gcp/pd-balanced.toml"),
    file!("catalogue/gcp/pd-extreme.toml"),
    file!("catalogue/gcp/pd-ssd.toml"),
    file!("catalogue/gcp/pd-standard.toml"),
    file!("catalogue/generic/hdd-10000.toml"),
    file!("catalogue/generic/hdd-15000.toml"),
    file!("catalogue/generic/hdd-7200.toml"),
    file!("catalogue/generic/machine.toml"),
    file!("catalogue/generic/nvme-qlc.toml"),
    file!("catalogue/generic/nvme-tlc.toml"),
    file!("catalogue/generic/sata-ssd.toml"),
    file!("catalogue/netapp/aff-a800.toml"),
    file!("catalogue/netapp/aff-a900.toml"),
    file!("catalogue/netapp/aff-c250.toml"),
    file!("catalogue/netapp/aff-c400.toml"),
    file!("catalogue/netapp/aff-c800.toml"),
    file!("catalogue/netapp/hdd-array.toml"),
    file!("catalogue/oci/base-database.toml"),
    file!("catalogue/oci/block-volume.toml"),
    file!("catalogue/oci/boot-volume.toml"),
    file!("catalogue/oci/exadata.toml"),
    file!("catalogue/oci/machines.toml"),
    file!("catalogue/sakura/intel-320-120.toml"),
    file!("catalogue/sakura/intel-320-600.toml"),
    file!("catalogue/sakura/intel-330-180.toml"),
    file!("catalogue/sakura/intel-520-240.toml"),
    file!("catalogue/sakura/intel-710-100.toml"),
    file!("catalogue/sakura/intel-910-400.toml"),
    file!("catalogue/sakura/intel-dc-s3500-240.toml"),
    file!("catalogue/sakura/intel-dc-s3500-480.toml"),
    file!("catalogue/sakura/iodrive-320.toml"),
    file!("catalogue/sakura/iodrive-duo-640.toml"),
    file!("catalogue/sakura/iodrive2-365.toml"),
    file!("catalogue/sakura/sas-hdd.toml"),
    file!("catalogue/sakura/sata-hdd.toml"),
    file!("catalogue/sakura/server.toml"),
];

/// Tables and shared texts that lie beside them.
pub(crate) const TABLES: &[(&str, &str)] = &[
    file!("catalogue/aws/instances.csv"),
    file!("catalogue/aws/rds.shared"),
    file!("catalogue/azure/machines.csv"),
    file!("catalogue/gcp/machines.csv"),
];

/// The text of the table or shared text `csv` in the folder of `file`.
pub(crate) fn beside(file: &str, csv: &str) -> Option<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = format!("{folder}/{csv}");
    TABLES.iter().find(|(existing, _)| *existing == path).map(|(_, text)| (*text).to_owned())
}
