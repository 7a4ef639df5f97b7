//! Timelines: all seconds and changes are drawn, and text is escaped.

use plimsoll_report::{Mark, Panel, PanelScale, Timeline, Track, timeline};

fn sample() -> Timeline {
    let rate = (0..60).map(|second| (f64::from(second), if second < 20 { 500.0 } else { 3_000.0 })).collect();
    let late = (0..60).map(|second| (f64::from(second), if second == 30 { f64::NAN } else { 2e6 })).collect();
    Timeline {
        title: "A volume whose level follows <its> load".into(),
        source: "emulated: oci:100GB".into(),
        panels: vec![
            Panel {
                name: "completed, IOPS".into(),
                scale: PanelScale::Rate,
                tracks: vec![Track { name: String::new(), points: rate }],
                limits: vec![(3_500.0, "20 VPU".into())],
            },
            Panel {
                name: "response time".into(),
                scale: PanelScale::Time,
                tracks: vec![Track { name: "p99".into(), points: late }],
                limits: Vec::new(),
            },
        ],
        marks: vec![Mark { at: 20.0, label: "10 VPU".into() }, Mark { at: 20.5, label: "20 VPU".into() }],
        ticks: Vec::new(),
    }
}

#[test]
fn changes_are_marked_and_named_where_there_is_room() {
    let picture = timeline(&sample());
    assert_eq!(picture.matches("class=\"objective\"").count(), 3, "each change has its line, and the limit");
    assert_eq!(picture.matches("class=\"verdict\"").count(), 2, "the label of the second change has no room");
    assert!(
        picture.contains("20.5 s: 20 VPU") || picture.contains("20.5\u{a0}s: 20 VPU"),
        "all changes are named in the description"
    );
    assert!(picture.contains("&lt;its&gt;") && !picture.contains("<its>"));
}

#[test]
fn line_is_broken_at_unknown_values() {
    let picture = timeline(&sample());
    let paths: Vec<&str> = picture.split("class=\"path trace\" d=\"").skip(1).collect();
    let moves = |path: &str| path.split('"').next().unwrap_or_default().matches('M').count();
    assert_eq!(paths.iter().map(|path| moves(path)).collect::<Vec<_>>(), [1, 2]);
    assert!(!picture.contains("NaN"));
}

#[test]
fn empty_timeline_has_a_picture() {
    let panel = Panel { name: "IOPS".into(), scale: PanelScale::Rate, tracks: Vec::new(), limits: Vec::new() };
    let empty = Timeline { panels: vec![panel], marks: Vec::new(), ..sample() };
    assert!(timeline(&empty).ends_with("</svg>"));
}
