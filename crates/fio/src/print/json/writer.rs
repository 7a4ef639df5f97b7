//! JSON writer with fio's spacing; preserves the order of keys.

/// A document in progress.
pub(in crate::print) struct Writer {
    text: String,
    depth: usize,
    /// True directly after an opening bracket.
    fresh: bool,
}

impl Writer {
    /// A document with a single object and a newline.
    pub(in crate::print) fn document(body: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self { text: String::new(), depth: 0, fresh: true };
        writer.enclosed(['{', '}'], body);
        writer.text + "\n"
    }

    pub(in crate::print) fn object(&mut self, key: &str, body: impl FnOnce(&mut Self)) {
        self.key(key);
        self.enclosed(['{', '}'], body);
    }

    /// A named list of objects.
    pub(in crate::print) fn objects<T>(&mut self, key: &str, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.key(key);
        self.enclosed(['[', ']'], |out| {
            for item in items {
                out.next();
                out.enclosed(['{', '}'], |out| each(out, item));
            }
        });
    }

    /// A named list of whole numbers.
    pub(in crate::print) fn wholes(&mut self, key: &str, numbers: &[u64]) {
        self.key(key);
        self.enclosed(['[', ']'], |out| {
            for number in numbers {
                out.next();
                out.text.push_str(&number.to_string());
            }
        });
    }

    pub(in crate::print) fn integer(&mut self, key: &str, number: u64) {
        self.key(key);
        self.text.push_str(&number.to_string());
    }

    /// A number with six decimals; 0 if not finite.
    pub(in crate::print) fn real(&mut self, key: &str, number: f64) {
        self.key(key);
        self.text.push_str(&format!("{:.6}", if number.is_finite() { number } else { 0.0 }));
    }

    pub(in crate::print) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.quoted(text);
    }

    pub(in crate::print) fn texts(&mut self, key: &str, pairs: &[(String, String)]) {
        self.object(key, |out| pairs.iter().for_each(|(name, value)| out.text(name, value)));
    }

    fn key(&mut self, key: &str) {
        self.next();
        self.quoted(key);
        self.text.push_str(" : ");
    }

    fn next(&mut self) {
        if !self.fresh {
            self.text.push(',');
        }
        self.fresh = false;
        self.line();
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', self.depth * 2));
    }

    fn enclosed(&mut self, [open, close]: [char; 2], body: impl FnOnce(&mut Self)) {
        self.text.push(open);
        self.depth += 1;
        self.fresh = true;
        body(self);
        self.depth -= 1;
        self.fresh = false;
        self.line();
        self.text.push(close);
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for letter in text.chars() {
            match letter {
                '"' | '\\' => self.text.extend(['\\', letter]),
                control if control.is_control() => self.text.push_str(&format!("\\u{:04x}", control as u32)),
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::Writer;

    #[test]
    fn spacing_matches_fio() {
        let text = Writer::document(|out| {
            out.text("a \"b\"", "c\\\t");
            out.object("inner", |out| {
                out.integer("n", 7);
                out.real("r", 0.5);
                out.real("none", f64::NAN);
            });
            out.wholes("list", &[1, 2]);
            out.objects("jobs", &["x"], |out, name| out.text("jobname", name));
        });
        let expected = "{\n  \"a \\\"b\\\"\" : \"c\\\\\\u0009\",\n  \"inner\" : {\n    \"n\" : 7,\n    \"r\" : 0.500000,\n    \
                        \"none\" : 0.000000\n  },\n  \"list\" : [\n    1,\n    2\n  ],\n  \"jobs\" : [\n    {\n      \
                        \"jobname\" : \"x\"\n    }\n  ]\n}\n";
        assert_eq!(text, expected);
    }
}
