//! Two panels beside each other as SVG. Its colours stand out from a light and from a dark page, and
//! its ground is the page's.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::statistics::grouped;

const HEIGHT: u32 = 320;
const SIZE: (u32, u32) = (960, HEIGHT + 40);
const TEXT: RGBColor = RGBColor(128, 128, 128);
const LINE: RGBColor = RGBColor(46, 134, 222);
const FONT: (&str, u32) = ("sans-serif", 14);
const TITLE: (&str, u32) = ("sans-serif", 17);
const SMALL: (&str, u32) = ("sans-serif", 11);
const MARGIN: u32 = 12;
/// Half of the last label.
const RIGHT: u32 = 32;
const LEFT: u32 = 64;
const BELOW: u32 = 44;

/// One line beside an axis that grows by a factor.
pub(crate) struct Panel {
    title: &'static str,
    x: &'static str,
    factor: u64,
    pub(crate) points: Vec<(u64, u64)>,
}

impl Panel {
    pub(crate) fn new(title: &'static str, x: &'static str, factor: u64) -> Self {
        Self {
            title,
            x,
            factor,
            points: Vec::new(),
        }
    }
}

/// The picture as text, with two lines below it.
pub(crate) fn draw(panels: &[Panel; 2], below: &str) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let (panels_area, line) = root.split_vertically(HEIGHT);
        let small = SMALL.into_font().color(&TEXT);
        for (text, y) in halves(below).into_iter().zip([4, 20]) {
            let place = (LEFT.cast_signed(), y);
            line.draw(&Text::new(text, place, small.clone())).unwrap();
        }
        for (area, panel) in panels_area.split_evenly((1, 2)).iter().zip(panels) {
            panel.draw(area);
        }
        root.present().unwrap();
    }
    svg
}

/// A text for two lines, divided after the part that reaches its middle.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.len() / 2;
    let end = text.match_indices("; ").map(|(at, mark)| at + mark.len());
    let end = end.filter(|end| *end >= middle).min();
    let (first, second) = text.split_at(end.unwrap_or(text.len()));
    [first, second]
}

impl Panel {
    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) {
        let first = self.points.iter().map(|(x, _)| *x).min().unwrap();
        let last = self.points.iter().map(|(x, _)| *x).max().unwrap();
        let top = self.points.iter().map(|(_, y)| *y).max().unwrap();
        let base = f64::from(u32::try_from(self.factor).unwrap());
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, TITLE.into_font().color(&TEXT))
            .margin(MARGIN)
            .margin_right(RIGHT)
            .x_label_area_size(BELOW)
            .y_label_area_size(LEFT)
            .build_cartesian_2d((first..last).log_scale().base(base), 0..top + top / 10 + 1)
            .unwrap();
        let font = FONT.into_font().color(&TEXT);
        chart
            .configure_mesh()
            .x_desc(self.x)
            .axis_desc_style(font.clone())
            .label_style(font)
            .axis_style(TEXT)
            .bold_line_style(TEXT.mix(0.25))
            .light_line_style(TRANSPARENT)
            .x_labels(self.points.len() * 2)
            .y_labels(6)
            .x_label_formatter(&|x| grouped(*x))
            .y_label_formatter(&|y| grouped(*y))
            .draw()
            .unwrap();
        let line = self.points.iter().copied();
        chart
            .draw_series(LineSeries::new(line.clone(), LINE.stroke_width(2)))
            .unwrap();
        chart
            .draw_series(line.map(|point| Circle::new(point, 4, LINE.filled())))
            .unwrap();
    }
}
