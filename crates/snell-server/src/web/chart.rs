//! Small SVG charts. Each has a table with the same data for people who cannot see it.
//!
//! Time runs from left to right. Labels are ages, because the server does not know the reader's time zone.

use maud::{Markup, html};

/// The size of a chart and its margins. On a narrow screen a chart has half its size with larger labels, so the margins
/// have room for both.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 112.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;

/// The area of the values.
const PLOT_WIDTH: f64 = WIDTH - LEFT - 4.0;
const PLOT_HEIGHT: f64 = HEIGHT - TOP - BOTTOM;

/// A chart without its values.
pub(super) struct SvgChart<'a> {
    /// The prefix of its element ids.
    pub(super) id: &'a str,
    /// The title.
    pub(super) title: &'a str,
    /// A description in a sentence, with the extremes.
    pub(super) summary: String,
    /// The labels of the time axis, at positions from 0 (left) to 1.
    pub(super) axis_labels: &'a [(f64, &'a str)],
    /// Formats a value.
    pub(super) format_value: fn(f64) -> String,
}

/// A line with one value per slot of time; `None` is a gap.
pub(super) struct ChartLine<'a> {
    /// The CSS class.
    pub(super) class: &'a str,
    pub(super) values: Vec<Option<f64>>,
}

/// A bar in one slot of time: stacked parts, each with its CSS class and value.
pub(super) type ChartBar<'a> = Vec<(&'a str, f64)>;

impl SvgChart<'_> {
    /// Renders lines. `about` returns the tooltip of a slot.
    pub(super) fn render_lines(&self, lines: &[ChartLine<'_>], about: impl Fn(usize) -> String) -> Markup {
        let slots = lines.first().map_or(0, |line| line.values.len());
        let values = lines.iter().flat_map(|line| line.values.iter().flatten().copied());
        let top = round_up_scale(values.fold(0.0, f64::max));
        let place = |slot: usize, value: f64| (scale_x(slot, slots) + bucket_width(slots) / 2.0, scale_y(value, top));
        self.render_svg(
            top,
            &html! {
                @for line in lines {
                    @for part in split_runs(&line.values) {
                        @let points = part.iter().map(|(slot, value)| place(*slot, *value));
                        @let points: Vec<_> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                        polyline class=(line.class) points=(points.join(" ")) {}
                        @for (slot, value) in &part {
                            @let (x, y) = place(*slot, *value);
                            circle class=(line.class) cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2.5" {
                                title { (about(*slot)) }
                            }
                        }
                    }
                }
            },
        )
    }

    /// Renders bars. `about` returns the tooltip of a slot.
    pub(super) fn render_bars(&self, bars: &[ChartBar<'_>], about: impl Fn(usize) -> String) -> Markup {
        let height = |bar: &ChartBar<'_>| bar.iter().map(|(_, value)| value).sum::<f64>();
        let top = round_up_scale(bars.iter().map(height).fold(0.0, f64::max));
        self.render_svg(
            top,
            &html! {
                @for (slot, bar) in bars.iter().enumerate().filter(|(_, bar)| height(bar) > 0.0) {
                    g {
                        title { (about(slot)) }
                        @for (class, from, to) in stack_bar(bar) {
                            rect class=(class) x=(format!("{:.1}", scale_x(slot, bars.len()) + 1.0))
                                width=(format!("{:.1}", (bucket_width(bars.len()) - 2.0).max(1.0)))
                                y=(format!("{:.1}", scale_y(to, top)))
                                height=(format!("{:.1}", scale_y(from, top) - scale_y(to, top))) {}
                        }
                    }
                }
            },
        )
    }

    fn render_svg(&self, top: f64, what: &Markup) -> Markup {
        let (title, desc) = (format!("{}-title", self.id), format!("{}-desc", self.id));
        html! {
            svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-labelledby={ (title) " " (desc) } {
                title id=(title) { (self.title) }
                desc id=(desc) { (self.summary) }
                @for part in [0.0, 0.5, 1.0] {
                    @let y = format!("{:.1}", scale_y(part, 1.0));
                    line.grid x1=(LEFT) x2=(WIDTH - 4.0) y1=(y) y2=(y) {}
                    text x=(LEFT - 6.0) y=(y) text-anchor="end" { ((self.format_value)(part * top)) }
                }
                @for (place, label) in self.axis_labels {
                    @let anchor = if *place == 0.0 { "start" } else if *place == 1.0 { "end" } else { "middle" };
                    text x=(format!("{:.1}", LEFT + place * PLOT_WIDTH)) y=(HEIGHT - 13.0) text-anchor=(anchor) { (label) }
                }
                (what)
            }
        }
    }
}

fn bucket_width(slots: usize) -> f64 {
    PLOT_WIDTH / slots.max(1) as f64
}

fn scale_x(slot: usize, slots: usize) -> f64 {
    LEFT + slot as f64 * bucket_width(slots)
}

fn scale_y(value: f64, top: f64) -> f64 {
    TOP + PLOT_HEIGHT * (1.0 - value / top)
}

/// The smallest of 1, 2, 5, 10, 20 … that is not less than the value.
fn round_up_scale(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10.0_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value * 0.999).unwrap_or(value)
}

/// Runs of adjacent slots with values.
fn split_runs(values: &[Option<f64>]) -> Vec<Vec<(usize, f64)>> {
    let mut parts: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut goes_on = false;
    for (slot, value) in values.iter().enumerate() {
        match (value, parts.last_mut()) {
            (Some(value), Some(part)) if goes_on => part.push((slot, *value)),
            (Some(value), _) => parts.push(vec![(slot, *value)]),
            (None, _) => {}
        }
        goes_on = value.is_some();
    }
    parts
}

/// The parts of a bar with their start and end.
fn stack_bar<'a>(bar: &ChartBar<'a>) -> Vec<(&'a str, f64, f64)> {
    let mut reached = 0.0;
    let stack = |(class, value): &(&'a str, f64)| {
        let from = reached;
        reached += value;
        (*class, from, reached)
    };
    bar.iter().filter(|(_, value)| *value > 0.0).map(stack).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHART: SvgChart<'static> = SvgChart {
        id: "test",
        title: "A test",
        summary: String::new(),
        axis_labels: &[(0.0, "then"), (0.5, "between"), (1.0, "now")],
        format_value: |value| value.to_string(),
    };

    #[test]
    fn a_scale_ends_at_a_round_number() {
        let cases = [
            (0.0, 1.0),
            (-3.0, 1.0),
            (0.7, 1.0),
            (1.0, 1.0),
            (1.1, 2.0),
            (3.0, 5.0),
            (7.0, 10.0),
            (1234.0, 2000.0),
            (0.03, 0.05),
        ];
        for (value, top) in cases {
            assert!((round_up_scale(value) / top - 1.0).abs() < 1e-9, "{value}: {}", round_up_scale(value));
        }
    }

    #[test]
    fn a_line_has_gaps_where_values_are_missing() {
        let values = [None, Some(1.0), Some(2.0), None, Some(3.0)];
        assert_eq!(split_runs(&values), [vec![(1, 1.0), (2, 2.0)], vec![(4, 3.0)]]);
        let line = ChartLine { class: "p50", values: values.to_vec() };
        let drawn = CHART.render_lines(&[line], |slot| format!("slot {slot}")).0;
        assert_eq!((drawn.matches("<polyline").count(), drawn.matches("<circle").count()), (2, 3));
        assert!(drawn.contains("<title>slot 4</title>") && drawn.contains("role=\"img\""), "{drawn}");
    }

    #[test]
    fn parts_of_a_bar_are_stacked() {
        let bar = vec![("deny", 2.0), ("ask", 0.0), ("allow", 3.0)];
        assert_eq!(stack_bar(&bar), [("deny", 0.0, 2.0), ("allow", 2.0, 5.0)]);
        let drawn = CHART.render_bars(&[vec![], bar], |slot| format!("slot {slot}")).0;
        assert_eq!(drawn.matches("<rect").count(), 2);
        assert!(!drawn.contains("slot 0") && !drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }

    #[test]
    fn a_chart_without_values_is_empty() {
        for drawn in [CHART.render_lines(&[], |_| String::new()).0, CHART.render_bars(&[], |_| String::new()).0] {
            assert!(drawn.contains("between") && !drawn.contains("NaN"), "{drawn}");
        }
    }
}
