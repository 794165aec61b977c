//! Line charts, for what grows while a run goes on.

use plotters::prelude::*;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::ops::Range;

/// Some lines over one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub caption: String,
    /// What the horizontal axis counts, with its unit.
    pub x: String,
    /// What the vertical one counts.
    pub y: String,
    /// The lines.
    pub lines: Vec<ChartLine>,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartLine {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// In units of the picture, which is scaled to the page.
const SIZE: (u32, u32) = (560, 300);
/// Seen on light and dark ground alike; text takes the colour of the page's.
const COLOURS: [RGBColor; 6] = [
    RGBColor(76, 126, 240),
    RGBColor(224, 138, 30),
    RGBColor(146, 92, 216),
    RGBColor(48, 164, 100),
    RGBColor(204, 78, 150),
    RGBColor(110, 134, 150),
];
const GREY: RGBColor = RGBColor(128, 138, 150);

impl Chart {
    /// The colour of a line, as HTML writes it.
    #[must_use]
    pub fn colour(line: usize) -> String {
        let RGBColor(r, g, b) = COLOURS[line % COLOURS.len()];
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// The chart as SVG; nothing when no line has a point.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let (across, up) = self.ranges()?;
        let mut svg = String::new();
        // Into a string nothing fails.
        self.draw(&mut svg, across, up).ok()?;
        // Within a page it needs no name space, which looks like an address to load.
        Some(svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
    }

    fn ranges(&self) -> Option<(Range<f64>, Range<f64>)> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        points().next()?;
        let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(1.0, f64::max);
        Some((0.0..most(|point| point.0), 0.0..most(|point| point.1) * 1.05))
    }

    fn draw(&self, svg: &mut String, across: Range<f64>, up: Range<f64>) -> Result<(), Box<dyn Error>> {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(18)
            .x_label_area_size(38)
            .y_label_area_size(66)
            .build_cartesian_2d(across, up)?;
        let text = ("sans-serif", 12).into_font().color(&GREY);
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GREY.mix(0.2))
            .axis_style(GREY.mix(0.6))
            .label_style(text)
            .x_labels(8)
            .y_labels(6)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let style = colour.stroke_width(2);
            chart.draw_series(LineSeries::new(line.points.iter().copied(), style))?;
        }
        Ok(area.present()?)
    }
}

/// `1500000` is `1.5M`.
fn short(number: f64) -> String {
    let (scaled, unit) = match number {
        n if n >= 1e9 => (n / 1e9, "G"),
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e4 => (n / 1e3, "k"),
        n => (n, ""),
    };
    let text = format!("{scaled:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: &[&[(f64, f64)]]) -> Chart {
        let line = |points: &&[(f64, f64)]| ChartLine { name: "script".to_owned(), points: points.to_vec() };
        Chart { x: "seconds".to_owned(), lines: lines.iter().map(line).collect(), ..Chart::default() }
    }

    #[test]
    fn each_line_is_drawn_in_its_colour() {
        let svg = chart(&[&[(0.0, 1.0), (5.0, 9.0)], &[(0.0, 2.0), (4.0, 3.0)]]).svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("seconds"));
        let drawn = |line| svg.to_lowercase().matches(&format!("stroke=\"{}\"", Chart::colour(line))).count();
        assert_eq!((drawn(0), drawn(1), drawn(2)), (1, 1, 0), "{svg}");
    }

    #[test]
    fn without_points_there_is_no_chart() {
        assert_eq!(chart(&[]).svg(), None);
        assert_eq!(chart(&[&[]]).svg(), None);
    }

    #[test]
    fn numbers_on_an_axis_are_short() {
        let texts = [0.0, 0.5, 9999.0, 12_500.0, 3e6, 2.5e9].map(short);
        assert_eq!(texts, ["0", "0.5", "9999", "12.5k", "3M", "2.5G"]);
    }
}
