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
