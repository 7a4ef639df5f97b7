//! Every form that is known: one line each.

use crate::format::Form;
use crate::{atop, awr, bench, clouds, diskstats, host, miner, nmon, prometheus, table_series};

/// Every form that is known. Among those that look alike, the one with more marks is taken, then the first.
pub const FORMS: &[Form] = &[
    awr::HTML,
    awr::TEXT,
    awr::STATSPACK,
    diskstats::FORM,
    prometheus::TEXT,
    prometheus::ANSWER,
    clouds::CLOUDWATCH,
    clouds::OCI,
    clouds::AZURE,
    miner::FORM,
    bench::BONNIE,
    bench::CRYSTALDISKMARK,
    bench::DISKSPD_TEXT,
    bench::DISKSPD_XML,
    bench::HAMMERDB,
    bench::ORION,
    bench::ORION_MATRIX,
    bench::PGBENCH,
    bench::SLOB,
    bench::SYSBENCH,
    bench::TIOTEST,
    host::IOSTAT,
    host::JSON,
    host::SAR,
    host::SADF,
    host::VMSTAT,
    host::BINARY,
    host::XML,
    host::FOREIGN,
    nmon::FORM,
    atop::LABELLED,
    atop::PAGE,
    table_series::SNAPSHOTS,
    table_series::FORM,
];
