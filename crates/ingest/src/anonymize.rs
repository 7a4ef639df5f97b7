//! Inputs without names: what somebody may give away of a system without saying whose it is.
//!
//! Numbers stay, and so do the words that the programs themselves print, and where all of it stands. Everything else is
//! somebody's: a name gets a stand-in, the same one wherever it is met, a statement becomes its length, and text that
//! has no place in a table goes. What is not known to be harmless is taken for a name: a list says what stays, none says
//! what goes. Knows no path: files come in as bytes, and go out as text.

mod columns;
mod delimited;
mod names;
mod plain;
mod ruled;
mod vocabulary;
mod words;

use memchr::memmem;

use self::names::Names;
use self::words::{Unknown, clean};
use crate::decode::Decoder;
use crate::html::{Place, rewrite};
use crate::refusal::Refusal;
use crate::unpack::{Archive, Gunzip, PIECE};
use plimsoll_units::Bytes;

/// Takes the names out of files; remembers what stands for which.
pub struct Anonymizer {
    names: Names,
}

/// A file without names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anonymous {
    /// All of it.
    pub text: String,
    /// How its name should end: `html` or `txt`.
    pub ending: &'static str,
}

impl Default for Anonymizer {
    fn default() -> Self {
        Self::new()
    }
}

impl Anonymizer {
    /// Bytes of a file, unpacked; larger ones are refused.
    pub const LARGEST: usize = 256 << 20;

    /// Knows no name yet.
    pub fn new() -> Self {
        Self { names: Names::new() }
    }

    /// Looks for the names of a file, so that they are known in those that come before it.
    pub fn learn(&mut self, file: &[u8]) -> Result<(), Refusal> {
        self.once(&text_of(file)?);
        Ok(())
    }

    /// A file without its names: packed ones come out unpacked.
    pub fn file(&mut self, file: &[u8]) -> Result<Anonymous, Refusal> {
        let text = text_of(file)?;
        // Names stand in headings before the table that says what they are of: the second time they are known.
        self.once(&text);
        Ok(self.once(&text))
    }

    fn once(&mut self, text: &str) -> Anonymous {
        if is_html(text) {
            return Anonymous { text: html(text, &mut self.names), ending: "html" };
        }
        let mut out = String::with_capacity(text.len());
        let mut ruled = ruled::Pages::default();
        let mut plain = plain::Listing::default();
        let has_rulers = is_ruled(text);
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            let cleaned =
                if has_rulers { ruled.line(content, &mut self.names) } else { plain.line(content, &mut self.names) };
            out.push_str(cleaned.trim_end());
            out.push_str(&line[content.len()..]);
        }
        Anonymous { text: out, ending: "txt" }
    }
}

fn html(document: &str, names: &mut Names) -> String {
    let mut out = String::with_capacity(document.len());
    rewrite(document.as_bytes(), &mut out, &mut |place, text| match place {
        Place::Title => clean(text, Unknown::Drop, names),
        Place::Cell(columns, index) => columns::of(columns, index).clean(text, names),
    });
    out
}

fn head(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(crate::format::Form::HEAD)]
}

fn is_html(text: &str) -> bool {
    let head = head(text).to_ascii_lowercase();
    ["<html", "<table", "<h1"].iter().any(|mark| memmem::find(&head, mark.as_bytes()).is_some())
}

/// True for Oracle's reports as text.
fn is_ruled(text: &str) -> bool {
    let marks = ["WORKLOAD REPOSITORY", "STATSPACK", "DB/Inst:", "~~BEGIN-"];
    marks.iter().any(|mark| memmem::find(head(text), mark.as_bytes()).is_some())
}

/// The text of a file, unpacked and in UTF-8.
fn text_of(file: &[u8]) -> Result<String, Refusal> {
    if file.first_chunk::<4>().is_some_and(|magic| Archive::MAGICS.contains(magic)) {
        return Err(Refusal::Archive { what: "give the files that are in it: unpack it first" });
    }
    let (mut gunzip, mut decoder) = (Gunzip::default(), Decoder::default());
    let (mut unpacked, mut text) = (Vec::new(), Vec::new());
    for piece in file.chunks(PIECE) {
        unpacked.clear();
        gunzip.push(piece, &mut unpacked)?;
        decoder.push(&unpacked, &mut text);
        if text.len() > Anonymizer::LARGEST {
            return Err(Refusal::TooLarge { limit: Bytes::new(Anonymizer::LARGEST as u64) });
        }
    }
    unpacked.clear();
    gunzip.end(&mut unpacked);
    decoder.push(&unpacked, &mut text);
    decoder.end(&mut text);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Refusal::Empty);
    }
    // A binary file has no words to tell names by.
    if text[..text.len().min(crate::format::Form::HEAD)].contains(&0) {
        return Err(Refusal::Unknown { nearest: None });
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
