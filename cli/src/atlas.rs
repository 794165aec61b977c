//! The rejection atlas, as a table and as a heat map.

use crate::view;
use pagefence::cell::Producer;
use pagefence::report::{Cell, HeatMap, Square, Table, Tone};
use pagefence_harness::atlas::{Atlas, Reached, Stage};

/// One line a producer, one column a stage.
pub fn table(profile: &str, atlas: &Atlas) -> Table {
    let head = std::iter::once("producer").chain(Stage::ALL.map(Stage::name));
    let mut table = Table::new(profile, head);
    for producer in Producer::ALL {
        let cells = Stage::ALL.map(|stage| {
            let reached = atlas.cell(*producer, stage);
            Cell::new(text(reached), tone(reached))
        });
        table.push(std::iter::once(Cell::from(producer.name())).chain(cells));
    }
    table
}

/// The same in colours: the more walks, the stronger.
pub fn heat_map(profile: &str, atlas: &Atlas) -> HeatMap {
    let cells = || Producer::ALL.iter().flat_map(|producer| Stage::ALL.map(|stage| atlas.cell(*producer, stage)));
    let most = cells().flatten().map(|cell| cell.walks).max().unwrap_or(0);
    let row = |producer: &Producer| {
        let square = |stage: Stage| square(*producer, stage, atlas.cell(*producer, stage), most);
        (producer.name().to_owned(), Stage::ALL.map(square).into())
    };
    HeatMap {
        caption: format!(
            "rejection atlas, {profile}: walks in which a rejected request came there, and the worst that befell it"
        ),
        head: Stage::ALL.map(|stage| stage.name().to_owned()).into(),
        rows: Producer::ALL.iter().map(row).collect(),
    }
}

fn square(producer: Producer, stage: Stage, reached: Option<Reached>, most: u64) -> Square {
    let (producer, stage) = (producer.name(), stage.name());
    let title = match reached {
        None => format!("{producer} never reached {stage}"),
        Some(Reached { walks, violated, .. }) => {
            format!("{producer} at {stage}: {walks} walks, harmed in {violated} of them")
        }
    };
    let heat = reached.map_or(0.0, |cell| HeatMap::heat(cell.walks, most));
    Square { text: text(reached), title, heat, tone: tone(reached) }
}

fn text(reached: Option<Reached>) -> String {
    match reached {
        None => ".".to_owned(),
        Some(Reached { walks, worst: None, .. }) => walks.to_string(),
        Some(Reached { walks, worst: Some(worst), .. }) => format!("{walks} {worst}"),
    }
}

fn tone(reached: Option<Reached>) -> Tone {
    match reached {
        None => Tone::Dim,
        Some(Reached { worst: None, .. }) => Tone::Good,
        Some(Reached { worst: Some(worst), .. }) => view::tone(worst),
    }
}
