//! Comparisons of kept runs.

use std::path::{Path, PathBuf};

use plimsoll_analyse::{Comparison, LineHistory, compare_sides};
use plimsoll_record::Curve;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::runs::{RunFile, RunStore};

/// A side of a comparison: runs with their names.
#[derive(Clone, Debug, Default)]
pub struct ComparedSide {
    /// Paths as given, or names of kept runs.
    pub names: Vec<String>,
    /// The runs, in the order of the names.
    pub curves: Vec<Curve>,
}

/// Two sides, before and after, and their comparison.
#[derive(Debug)]
pub struct ComparedRuns {
    pub sides: [ComparedSide; 2],
    pub comparison: Comparison,
}

impl ComparedRuns {
    /// The names of the runs of each side.
    pub fn names(&self) -> [&[String]; 2] {
        self.sides.each_ref().map(|side| &side.names[..])
    }

    /// The runs of both sides.
    pub fn curves(&self) -> Vec<Curve> {
        self.sides.iter().flat_map(|side| side.curves.iter().cloned()).collect()
    }
}

impl ComparedSide {
    /// True if a measurement is on this side. A simulation has no start, and may be compared with itself.
    fn contains(&self, name: &str, curve: &Curve) -> bool {
        let mut runs = self.names.iter().zip(&self.curves);
        curve.started.is_some() && runs.any(|(own, loaded)| own == name && loaded == curve)
    }
}

impl RunStore {
    /// Compares runs of two sides by their names.
    ///
    /// # Errors
    /// An unknown run, or one that is named twice.
    pub fn compare(&self, before: &[PathBuf], after: &[PathBuf]) -> Result<ComparedRuns, MeasureError> {
        let sides = [self.load_side(before)?, self.load_side(after)?];
        let mut after = sides[1].names.iter().zip(&sides[1].curves);
        if let Some((name, _)) = after.find(|(name, curve)| sides[0].contains(name, curve)) {
            return Err(InvalidRequest::BothSides(name.clone()).into());
        }
        Ok(self.compare_loaded(sides))
    }

    /// Compares two kept runs.
    ///
    /// # Errors
    /// A file is no curve.
    pub fn compare_files(&self, before: &RunFile, after: &RunFile) -> Result<ComparedRuns, MeasureError> {
        let side = |file: &RunFile| -> Result<ComparedSide, MeasureError> {
            Ok(ComparedSide { names: vec![crate::name_run(&file.0)], curves: vec![self.load(&file.0)?] })
        };
        Ok(self.compare_loaded([side(before)?, side(after)?]))
    }

    fn compare_loaded(&self, sides: [ComparedSide; 2]) -> ComparedRuns {
        let comparison = compare_sides(&sides[0].curves, &sides[1].curves, self.larger_history(&sides));
        ComparedRuns { sides, comparison }
    }

    fn load_side(&self, names: &[PathBuf]) -> Result<ComparedSide, MeasureError> {
        let repeated = names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name));
        if let Some(name) = repeated {
            return Err(InvalidRequest::NamedTwice(name.display().to_string()).into());
        }
        let load = |name: &PathBuf| self.load_named(Path::new(name));
        let (names, curves) = names.iter().map(load).collect::<Result<_, _>>()?;
        Ok(ComparedSide { names, curves })
    }

    /// The larger scatter of earlier runs of both subjects.
    fn larger_history(&self, [before, after]: &[ComparedSide; 2]) -> Option<LineHistory> {
        let objective = before.curves.first()?.load_line?.objective();
        let compared: Vec<&Curve> = before.curves.iter().chain(&after.curves).collect();
        let both = [before, after].map(|side| self.history(&side.curves[0], objective, &compared));
        both.into_iter().flatten().max_by(|a, b| a.deviation.total_cmp(&b.deviation))
    }
}
