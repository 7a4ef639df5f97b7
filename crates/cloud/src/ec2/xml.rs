//! XML of replies: elements with text or with elements.

use hyper::StatusCode;

use crate::web::Reply;

const NAMESPACE: &str = "http://ec2.amazonaws.com/doc/2016-11-15/";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    name: &'static str,
    content: XmlContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum XmlContent {
    Text(String),
    Elements(Vec<Element>),
}

impl Element {
    pub fn new(name: &'static str, elements: Vec<Self>) -> Self {
        Self { name, content: XmlContent::Elements(elements) }
    }

    pub fn text(name: &'static str, text: impl std::fmt::Display) -> Self {
        Self { name, content: XmlContent::Text(format!("{text}")) }
    }

    pub fn set(name: &'static str, items: Vec<Self>) -> Self {
        Self::new(name, items)
    }

    pub fn item(elements: Vec<Self>) -> Self {
        Self::new("item", elements)
    }

    fn write(&self, to: &mut String) {
        let name = self.name;
        to.push_str(&format!("<{name}>"));
        self.write_content(to);
        to.push_str(&format!("</{name}>"));
    }

    fn write_content(&self, to: &mut String) {
        match &self.content {
            XmlContent::Text(text) => escape(text, to),
            XmlContent::Elements(elements) => {
                for element in elements {
                    element.write(to);
                }
            }
        }
    }

    /// A reply with this element as its root.
    pub fn reply(&self, status: StatusCode) -> Reply {
        let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        self.write(&mut text);
        Reply { content_type: "text/xml;charset=UTF-8", body: text.into_bytes(), ..Reply::empty(status) }
    }
}

fn escape(text: &str, to: &mut String) {
    for letter in text.chars() {
        match letter {
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '&' => to.push_str("&amp;"),
            '"' => to.push_str("&quot;"),
            // Control characters are not allowed in XML 1.0.
            control if control.is_control() && !"\t\n\r".contains(control) => to.push('\u{fffd}'),
            other => to.push(other),
        }
    }
}

/// The reply to an action.
pub(super) fn response(action: &str, request_id: &str, elements: &[Element]) -> Reply {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{action}Response xmlns=\"{NAMESPACE}\"><requestId>{request_id}</requestId>"
    );
    for element in elements {
        element.write(&mut text);
    }
    text.push_str(&format!("</{action}Response>"));
    Reply { content_type: "text/xml;charset=UTF-8", body: text.into_bytes(), ..Reply::empty(StatusCode::OK) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let reply = response("A", "1", &[Element::text("b", "<&\u{1}\">")]);
        let text = String::from_utf8(reply.body).unwrap();
        assert!(text.ends_with("<requestId>1</requestId><b>&lt;&amp;\u{fffd}&quot;&gt;</b></AResponse>"), "{text}");
    }
}
