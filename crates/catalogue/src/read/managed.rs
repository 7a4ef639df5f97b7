//! The table `[managed]` of a managed database.

use super::PartReader;
use super::section::Section;
use crate::managed::{DatabaseEngine, ManagedDatabase};
use crate::product::ProductKind;

impl PartReader<'_> {
    pub(super) fn managed(&mut self, head: &Section, kind: ProductKind) -> Option<ManagedDatabase> {
        let section = head.section("managed", "[managed]", &mut self.to);
        if section.is_some() != (kind == ProductKind::Managed) {
            let what = if section.is_some() { "[managed] in a product of another kind" } else { "no [managed]" };
            self.to.at(head.at, what, "[managed] in a file of kind \"managed\", and only there");
        }
        let section = section?;
        let engines = section.texts("engines", &mut self.to);
        if engines.is_empty() {
            let names = DatabaseEngine::ALL.map(DatabaseEngine::name);
            self.to.at(section.at, "[managed] has no engines", crate::nearest::one_of(&names));
        }
        let engines = engines.into_iter();
        let engines =
            engines.filter_map(|text| self.word(text, "engines", &DatabaseEngine::ALL, DatabaseEngine::name)).collect();
        let provides = section.required("provides", &mut self.to);
        let leaves = section.required("leaves", &mut self.to);
        let cite = self.cites.cite(&section, &mut self.to);
        section.finish(&mut self.to);
        Some(ManagedDatabase { engines, provides: provides?.text.into(), leaves: leaves?.text.into(), cite })
    }
}
