//! Model of a product file: stages as text, with embedded expressions.

use super::PartReader;
use super::section::{Section, SpannedText};
use crate::expression::Type;
use crate::model_fit::ModelFit;
use crate::product::{ModelText, TemplatePiece};

impl PartReader<'_> {
    pub(super) fn model(&mut self, head: &Section) -> Option<ModelText> {
        let section = head.section("model", "[model]", &mut self.to)?;
        let stages = section.required("stages", &mut self.to);
        let turn = section.text("pieces", &mut self.to);
        let cite = self.cites.cite(&section, &mut self.to);
        let doubts = section.texts("doubts", &mut self.to).into_iter().map(|doubt| doubt.text.to_owned()).collect();
        let fit = self.fit(&section);
        section.finish(&mut self.to);
        let stages = stages?;
        let turn = match turn {
            Some(size) => Some(self.pieces(size, "pieces")?),
            None => None,
        };
        Some(ModelText { pieces: self.pieces(stages, "stages")?, turn, fit, doubts, cite, at: stages.at })
    }

    /// The loads that the model was fitted to.
    fn fit(&mut self, model: &Section) -> Option<ModelFit> {
        let section = model.section("fit", "[model.fit]", &mut self.to)?;
        let error_share = section.number("error", &mut self.to);
        let [block_bytes, in_flight, reads] =
            ["block_bytes", "in_flight", "reads"].map(|key| section.pair(key, &mut self.to));
        let fit = error_share.zip(block_bytes).zip(in_flight.zip(reads));
        if fit.is_none() {
            self.to.at(section.at, "[model.fit] is incomplete", "error, block_bytes, in_flight and reads");
        }
        section.finish(&mut self.to);
        let ((error_share, block_bytes), (in_flight, reads)) = fit?;
        Some(ModelFit { error_share, block_bytes, in_flight, reads })
    }

    /// Splits `window({queue}: ...)` into texts and expressions.
    pub(super) fn pieces(&mut self, stages: SpannedText, key: &'static str) -> Option<Vec<TemplatePiece>> {
        let mut pieces = Vec::new();
        let mut rest = stages.text;
        while let Some((before, after)) = rest.split_once('{') {
            let begin = stages.text.len() - after.len();
            let Some((inside, after)) = after.split_once('}') else {
                self.to.at(stages.at + begin, format!("{key}: {{ is not closed"), "{arithmetic}");
                return None;
            };
            pieces.push(TemplatePiece::Text(on_one_line(before)));
            let text = SpannedText { text: inside, at: stages.at };
            pieces.push(TemplatePiece::Hole(self.parsed(text, begin, key, Type::Any)?));
            rest = after;
        }
        pieces.push(TemplatePiece::Text(on_one_line(rest)));
        Some(pieces)
    }
}

/// Joins the lines of a long model.
fn on_one_line(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }) {
        if letter != ' ' || !line.ends_with(' ') {
            line.push(letter);
        }
    }
    line
}
