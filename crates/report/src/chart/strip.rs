//! A value with its interval on a common scale, small enough for a table's cell.

use maud::{Markup, html};
use plimsoll_record::Estimate;

use super::px;
use crate::number;

const WIDTH: f64 = 160.0;

/// The estimate between zero and `most`. The numbers stand beside it in the table, so it is hidden from readers.
pub(crate) fn strip(estimate: Option<&Estimate>, most: f64, class: &str) -> Markup {
    let x = |value: f64| px(4.0 + (value / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0) * (WIDTH - 8.0));
    html! {
        svg class={ "strip " (class) } viewBox="0 0 160 16" aria-hidden="true" xmlns="http://www.w3.org/2000/svg" {
            line class="grid" x1="4" x2="156" y1="8" y2="8" {}
            @if let Some(estimate) = estimate {
                @if let Some((low, high)) = number::interval(estimate) {
                    line class="whisker" x1=(x(low)) x2=(x(high)) y1="8" y2="8" {}
                }
                circle class="solid" cx=(x(estimate.value)) cy="8" r="3" {}
            }
        }
    }
}

/// How much of something is used, 0 to 1: full up to there, hollow beyond. The number stands beside it in the table, so
/// it is hidden from readers.
pub(crate) fn gauge(used: f64) -> Markup {
    let end = px(4.0 + used.clamp(0.0, 1.0) * (WIDTH - 8.0));
    html! {
        svg class="strip c0" viewBox="0 0 160 16" aria-hidden="true" xmlns="http://www.w3.org/2000/svg" {
            rect class="hollow" x="4" y="3" width=(px(WIDTH - 8.0)) height="10" {}
            rect class="solid" x="4" y="3" width=(px(end - 4.0)) height="10" {}
        }
    }
}
