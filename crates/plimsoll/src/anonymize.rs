//! `plimsoll anonymize`: inputs without names, and whether they still say the same of storage.

use std::io::{Read, Write};
use std::path::Path;

use anyhow::Context;
use plimsoll_ingest::{Anonymizer, Ingest, Outcome, Reading};

use crate::args::AnonymizeArgs;
use crate::folder::Folder;
use crate::output;
use crate::trouble::Trouble;

/// Takes the names out of files.
pub fn run(args: &AnonymizeArgs) -> Result<(), Trouble> {
    if args.out.is_none() && args.files.len() > 1 {
        return Err(Trouble::usage("several files: name a folder for them with --out"));
    }
    let mut anonymizer = Anonymizer::new();
    for path in &args.files {
        let refused = |refusal| Trouble::Failed(anyhow::anyhow!("{}: {refusal}", path.display()));
        anonymizer.learn(&read(path)?).map_err(refused)?;
    }
    let folder = args.out.as_deref().map(Folder::new).transpose()?;
    let mut differing = 0;
    for (index, path) in args.files.iter().enumerate() {
        let before = read(path)?;
        let refused = |refusal| Trouble::Failed(anyhow::anyhow!("{}: {refusal}", path.display()));
        let after = anonymizer.file(&before).map_err(refused)?;
        let same = compared(&before, after.text.as_bytes());
        if let Some(folder) = &folder {
            folder.write(&format!("input{}.{}", index + 1, after.ending), after.text.as_bytes())?;
        } else {
            output::print(after.text.as_bytes())?;
        }
        differing += usize::from(!same.is_kept);
        // With standard error gone there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "{}: {}", path.display(), same.said);
    }
    let _ = writeln!(
        std::io::stderr(),
        "Look at what comes out before you give it away: lists of words are never complete."
    );
    if differing > 0 {
        let text = format!("{differing} of {} files say something else of storage now", args.files.len());
        return Err(Trouble::Failed(anyhow::anyhow!("{text}: please report it, with the kind of file")));
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Trouble> {
    let cannot = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).with_context(cannot)?;
    file.take(Anonymizer::LARGEST as u64 + 1).read_to_end(&mut bytes).with_context(cannot)?;
    Ok(bytes)
}

struct Compared {
    is_kept: bool,
    said: String,
}

/// What a file said of storage and what it says now.
fn compared(before: &[u8], after: &[u8]) -> Compared {
    let (Some(before), Some(after)) = (reading(before), reading(after)) else {
        return Compared { is_kept: true, said: "names are out; it is of no kind that is read for demand".to_owned() };
    };
    let figures = |reading: &Reading| -> Vec<_> {
        reading.figures.iter().map(|figure| (figure.class, figure.measure, figure.value.to_bits())).collect()
    };
    let is_kept = figures(&before) == figures(&after);
    let said = if is_kept {
        format!("names are out, all {} figures of storage are kept", before.figures.len())
    } else {
        format!("names are out, but {} figures of storage became others", before.figures.len())
    };
    Compared { is_kept, said }
}

fn reading(bytes: &[u8]) -> Option<Box<Reading>> {
    let mut ingest = Ingest::new("input");
    ingest.feed(bytes);
    match ingest.finish().into_iter().next()? {
        Outcome::Read(reading) => Some(reading),
        Outcome::Refused { .. } => None,
    }
}
