//! Plots of the last days as SVG. Colours come from the style sheet, by the values that stand here.

use plotters::prelude::*;

use crate::http::pages::words::Words;

const SIZE: (u32, u32) = (560, 200);
/// What the style sheet draws in the colour of secondary text, of the first line, of a part of it, and of what
/// failed; these two parts are dashed.
const TEXT: RGBColor = RGBColor(1, 1, 1);
pub(super) const FIRST: RGBColor = RGBColor(2, 2, 2);
pub(super) const SECOND: RGBColor = RGBColor(5, 5, 5);
pub(super) const FAILED: RGBColor = RGBColor(3, 3, 3);
const GRID: RGBColor = RGBColor(4, 4, 4);
const FONT: (&str, u32) = ("sans-serif", 13);

/// A line over days.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) values: Vec<u64>,
    pub(super) colour: RGBColor,
}

impl Line {
    /// The colour as SVG names it, by which the style sheet draws the line and its sample alike.
    pub(super) fn stroke(&self) -> String {
        let RGBColor(red, green, blue) = self.colour;
        format!("#{red:02X}{green:02X}{blue:02X}")
    }
}

/// The lines over the days whose names are given; empty when they cannot be drawn.
pub(super) fn draw(days: &[String], lines: &[Line], w: Words) -> String {
    let mut svg = String::new();
    let drawn = try_draw(&mut svg, days, lines, w);
    if drawn.is_err() {
        return String::new();
    }
    svg
}

fn try_draw(
    svg: &mut String,
    days: &[String],
    lines: &[Line],
    w: Words,
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let values = lines.iter().flat_map(|line| line.values.iter().copied());
    let top = values.max().unwrap_or_default().max(4);
    let top = top.saturating_add(top / 10);
    let last = days.len().saturating_sub(1).max(1);
    let font = FONT.into_font().color(&TEXT);
    let mut chart = ChartBuilder::on(&root)
        .margin(4)
        .x_label_area_size(22)
        .y_label_area_size(64)
        .build_cartesian_2d(0..last, 0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(GRID)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(font)
        .x_labels(6)
        .y_labels(4)
        .x_label_formatter(&|day| days.get(*day).cloned().unwrap_or_default())
        .y_label_formatter(&|value| w.number(value))
        .draw()?;
    for line in lines {
        let points = line.values.iter().copied().enumerate();
        chart.draw_series(LineSeries::new(points, line.colour.stroke_width(2)))?;
    }
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FAILED, FIRST, Line, Words, draw};
    use crate::language::Language;

    /// Where the points of the line in this colour stand.
    fn points(svg: &str, line: &Line) -> Vec<(i32, i32)> {
        let is_of = |element: &&str| element.contains(&format!("stroke=\"{}\"", line.stroke()));
        let found: Vec<_> = svg.split("<polyline").skip(1).filter(is_of).collect();
        assert_eq!(found.len(), 1, "{svg}");
        let points = found[0].split("points=\"").nth(1).unwrap();
        let points = points.split('"').next().unwrap().split_whitespace();
        let number = |text: &str| text.parse().unwrap();
        points
            .map(|point| point.split_once(',').unwrap())
            .map(|(x, y)| (number(x), number(y)))
            .collect()
    }

    #[test]
    fn a_line_has_a_point_for_each_day_as_high_as_its_value() {
        let days = ["11-20", "11-21", "11-22"].map(ToOwned::to_owned);
        let line = |name, values: [u64; 3], colour| Line {
            name,
            values: values.to_vec(),
            colour,
        };
        let lines = [
            line("sent", [0, 1_500, 3_000], FIRST),
            line("given up", [0, 0, 1_500], FAILED),
        ];
        for (language, label) in [
            (Language::English, "3,000"),
            (Language::Portuguese, "3.000"),
        ] {
            let svg = draw(&days, &lines, Words(language));
            let [sent, given_up] = [0, 1].map(|index| points(&svg, &lines[index]));
            let days_at =
                |points: &[(i32, i32)]| points.iter().map(|(x, _)| *x).collect::<Vec<_>>();
            assert_eq!(days_at(&sent).len(), 3, "{svg}");
            assert!(days_at(&sent).is_sorted_by(|one, next| one < next), "{svg}");
            assert_eq!(days_at(&sent), days_at(&given_up), "{svg}");
            let heights =
                |points: &[(i32, i32)]| points.iter().map(|(_, y)| *y).collect::<Vec<_>>();
            let (zero, half, all) = (heights(&sent)[0], heights(&sent)[1], heights(&sent)[2]);
            // The picture's rows are counted from above.
            assert!(all < half && half < zero, "{svg}");
            assert!(((zero - half) - (half - all)).abs() <= 1, "{svg}");
            assert_eq!(heights(&given_up), [zero, zero, half], "{svg}");
            assert!(svg.contains(label) && svg.contains("11-21"), "{svg}");
        }
    }

    #[test]
    fn days_without_anything_are_drawn_at_the_bottom() {
        let lines = [Line {
            name: "sent",
            values: vec![0],
            colour: FIRST,
        }];
        let svg = draw(&["11-20".to_owned()], &lines, Words(Language::English));
        assert_eq!(points(&svg, &lines[0]).len(), 1, "{svg}");
        assert!(draw(&[], &[], Words(Language::English)).starts_with("<svg"));
    }
}
