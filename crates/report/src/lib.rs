//! Results as text, HTML, Markdown, CSV, SVG and JSON.
//!
//! A builder in [`pages`] turns a result into a [`Page`], which is data; [`page_text`], [`page_html`],
//! [`page_markdown`]
//! and [`page_csv`] render any page. The JSON of curves and suites is defined in `plimsoll-record`.
//!
//! Pure: takes results and returns strings and bytes.

mod bar_chart;
mod chart;
mod csv;
mod exposition;
mod findings;
mod html;
mod json;
mod junit;
mod kubernetes;
mod latency;
mod markdown;
mod money;
mod number;
mod page;
pub mod pages;
mod pick;
mod product_file;
mod progress;
mod scale;
mod sessions;
mod statements;
mod suite;
mod svg;
mod terraform;
mod text;
mod timeline;
pub mod words;

pub use bar_chart::{BarChart, bar_chart};
pub use chart::typeset;
pub use csv::page_csv;
pub use exposition::{Exposition, OtlpTimes, WATCH_RULES, run_metrics, watch_metrics};
pub use html::{PAGE_SCRIPT, PAGE_STYLES, PLOT_SCRIPT, ZOOM_SCRIPT, page_fragment, page_html};
pub use json::{
    changes_json, checked_products_json, close_schema, comparison_json, demand_json, diagnoses_json, doctor_json,
    ec2_key_json, explanation_json, find_schema, fit_json, history_json, matches_json, nbd_check_json, oci_config_json,
    oci_key_json, oci_keys_json, presets_json, prices_json, product_json, products_json, quotes_json, requirement_json,
    requirements_json, runs_json, schema_names, settings_json, sizing_json, suite_json, to_json, trial_json,
    watch_json,
};
pub use junit::{JudgedGate, Shortfall, count_outcomes, junit, junit_of_error};
pub use kubernetes::{
    ClaimJob, KUBERNETES_HEAD, KubernetesClass, claim_job, claim_job_name, kubernetes, kubernetes_class,
    kubernetes_gaps, kubernetes_of_quotes,
};
pub use markdown::page_markdown;
pub use page::{
    Block, Cell, Chart, Column, ColumnKind, Emphasis, Fact, Headline, IntervalPlace, Item, Link, Page, PageSection,
    Plot, PlotPoint, Shares, SummaryOrder, Table, TableLayout, TableRows, Visibility,
};
pub use product_file::{FittedSource, product_file};
pub use progress::{Progress, progress_line};
pub use svg::{svg, timeline};
pub use terraform::{
    TerraformChange, VolumeChange, terraform, terraform_change, terraform_gaps, terraform_label, terraform_variables,
};
pub use text::{Charset, Color, TextStyle, pad_end, page_summary, page_text, wrap};
pub use timeline::{Mark, Panel, PanelScale, Timeline, Track};
