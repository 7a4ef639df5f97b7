//! What is known by name and not read, with the command that makes something that is.

use memchr::memmem;

use crate::builder::Builder;
use crate::format::{Form, Format, Resemblance, Takes};
use crate::kind::Kind;
use crate::refusal::Refusal;

const SA: Kind = Kind { id: "sa", name: "sysstat data file (binary)" };
const SADF_XML: Kind = Kind { id: "sadf-xml", name: "sadf output as XML or SVG" };
const OTHER_IOSTAT: Kind = Kind { id: "iostat-other", name: "iostat or vmstat of another system" };

/// Binary files of sar: `/var/log/sa/sa15`.
pub(crate) const BINARY: Form = Form {
    kind: SA,
    takes: Takes::Bytes,
    resembles: |head| match head {
        // The magic number of all versions since 2003, in both byte orders.
        [0x96, 0xd5, ..] | [0xd5, 0x96, ..] => Resemblance::Is { marks: 9 },
        _ => Resemblance::None,
    },
    open: |_| {
        let what =
            "it is binary, and differs by version; make text of it on its host: LC_ALL=C sar -bd -f FILE > sar.txt";
        Box::new(Refused { kind: SA, what })
    },
};

/// `sadf -x` and `sadf -g`.
pub(crate) const XML: Form = Form {
    kind: SADF_XML,
    takes: Takes::Text,
    resembles: |head| {
        let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
        let sysstat = has("<sysstat") || has("DTD sysstat") || has("sysstat");
        if has("<?xml") && sysstat && (has("<host ") || has("<svg")) {
            Resemblance::Is { marks: 6 }
        } else {
            Resemblance::None
        }
    },
    open: |_| {
        let what =
            "XML and SVG are not read; take: sadf -d FILE -- -b -d > sadf.txt, or sadf -j FILE -- -b -d > sadf.json";
        Box::new(Refused { kind: SADF_XML, what })
    },
};

/// iostat and vmstat of Solaris, AIX, BSD, macOS and HP-UX.
pub(crate) const FOREIGN: Form = Form {
    kind: OTHER_IOSTAT,
    takes: Takes::Text,
    resembles: |head| {
        let text = String::from_utf8_lossy(head);
        if text.lines().take(200).any(is_foreign) { Resemblance::Is { marks: 6 } } else { Resemblance::None }
    },
    open: |_| {
        let what = "only iostat, sar and vmstat of Linux are read; of Solaris, AIX, BSD, macOS and HP-UX give nmon, or \
                    reports of the database itself";
        Box::new(Refused { kind: OTHER_IOSTAT, what })
    },
};

/// Headings that only other systems print.
fn is_foreign(line: &str) -> bool {
    let line = line.trim();
    let words = || line.split_whitespace();
    let has_all = |names: &[&str]| names.iter().all(|name| words().any(|word| word == *name));
    line.starts_with("extended device statistics")
        || has_all(&["kr/s", "kw/s"])
        || has_all(&["Kb_read", "Kb_wrtn"])
        || (line.starts_with("System configuration: lcpu") && line.contains('='))
        || has_all(&["KB/t", "tps", "MB/s"])
        || has_all(&["bps", "sps", "msps"])
        || has_all(&["kthr", "memory", "page"])
}

struct Refused {
    kind: Kind,
    what: &'static str,
}

impl Format for Refused {
    fn feed(&mut self, _: &[u8], _: &mut Builder) -> Result<(), Refusal> {
        Err(Refusal::Unusable { kind: self.kind, origin: None, what: self.what.to_owned() })
    }

    fn end(&mut self, _: &mut Builder) -> Result<(), Refusal> {
        Err(Refusal::Unusable { kind: self.kind, origin: None, what: self.what.to_owned() })
    }
}
