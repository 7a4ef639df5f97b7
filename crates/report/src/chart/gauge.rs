//! A bar for a share in a table cell.

use maud::{Markup, html};

use super::px;

const WIDTH: f64 = 160.0;

/// Draws a share from 0 to 1. Hidden from screen readers, as the cell also has the number.
pub(crate) fn gauge(share: f64) -> Markup {
    let end = px(4.0 + share.clamp(0.0, 1.0) * (WIDTH - 8.0));
    html! {
        svg class="strip c0" viewBox="0 0 160 16" aria-hidden="true" xmlns="http://www.w3.org/2000/svg" {
            rect class="hollow" x="4" y="3" width=(px(WIDTH - 8.0)) height="10" {}
            rect class="solid" x="4" y="3" width=(px(end - 4.0)) height="10" {}
        }
    }
}
