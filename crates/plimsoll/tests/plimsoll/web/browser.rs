//! Chromium over the `DevTools` protocol on a pipe: messages are JSON and end in NUL.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Without a window, network or profile of the user. The shell moves the pipes to the descriptors of the protocol.
const COMMAND: &str = "exec /usr/bin/chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
                       --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage \
                       --user-data-dir=\"$0\" --remote-debugging-pipe about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";
const TIMEOUT: Duration = Duration::from_secs(180);

/// A page in a browser of its own.
pub struct Browser {
    child: Child,
    input: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    next: RefCell<u64>,
    session: String,
    profile: PathBuf,
    /// Texts of errors and of exceptions in the console of the page.
    errors: RefCell<Vec<String>>,
    waiting: RefCell<VecDeque<Value>>,
}

/// True if a browser is in `PATH`; states why the test is skipped otherwise.
pub fn is_installed() -> bool {
    let version = Command::new("chromium").arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let starts = version.is_ok_and(|output| output.status.success());
    if !starts {
        eprintln!("skipped: no chromium in PATH");
    }
    starts
}

impl Browser {
    pub fn start(name: &str) -> Self {
        let profile =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("chromium-{name}-{}", std::process::id()));
        let mut child = Command::new("sh")
            .args(["-c", COMMAND])
            .arg(&profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let messages = read_messages(output);
        let mut browser = Self {
            child,
            input: RefCell::new(input),
            messages,
            next: RefCell::new(0),
            session: String::new(),
            profile,
            errors: RefCell::default(),
            waiting: RefCell::default(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned).expect("a session");
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "DOM.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Calls a method, and returns its result.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "parameters are literals of JSON")]
    pub fn call(&self, method: &str, params: Value) -> Value {
        self.answer(method, &params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method, and returns its result or its error.
    #[track_caller]
    fn answer(&self, method: &str, params: &Value) -> Result<Value, Value> {
        *self.next.borrow_mut() += 1;
        let id = *self.next.borrow();
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut input = self.input.borrow_mut();
        input.write_all(format!("{message}\0").as_bytes()).expect("Chromium reads");
        drop(input);
        let end = Instant::now() + TIMEOUT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap_or_else(|_| panic!("{method}: no answer"));
            if message["id"] == json!(id) {
                let error = &message["error"];
                return if error.is_null() { Ok(message["result"].clone()) } else { Err(error.clone()) };
            }
            self.note(message);
        }
    }

    fn note(&self, event: Value) {
        let text = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => event["params"]["exceptionDetails"].to_string(),
            Some("Runtime.consoleAPICalled") if event["params"]["type"] == "error" => {
                event["params"]["args"].to_string()
            }
            Some("Log.entryAdded") if event["params"]["entry"]["level"] == "error" => {
                event["params"]["entry"].to_string()
            }
            Some("Page.javascriptDialogOpening") => return self.waiting.borrow_mut().push_back(event),
            _ => return,
        };
        self.errors.borrow_mut().push(text);
    }

    /// Opens a URL, and waits until its scripts ran.
    pub fn open(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        let path = url.split('#').next().unwrap_or(url).to_owned();
        let ready = format!("document.readyState === 'complete' && location.href.startsWith({})", json!(path));
        if url.contains("/enter#") {
            self.wait("document.readyState === 'complete' && location.pathname === '/'");
        } else {
            self.wait(&ready);
        }
    }

    /// Value of an expression; promises are awaited.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    pub fn text(&self, selector: &str) -> String {
        let value = self.eval(&format!("document.querySelector({})?.textContent ?? ''", json!(selector)));
        value.as_str().unwrap_or_default().trim().to_owned()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait(&self, condition: &str) {
        let page_text = || self.eval("document.body.innerText.slice(0, 1500)");
        assert!(self.is_true_within(condition, TIMEOUT), "not true in time: {condition}; the page: {}", page_text());
    }

    /// True as soon as an expression is true; false if it is not within a time.
    pub fn is_true_within(&self, condition: &str, time: Duration) -> bool {
        let end = Instant::now() + time;
        // The document may be replaced meanwhile, which is an error.
        let params = json!({ "expression": condition, "returnByValue": true });
        let is_true = |found: Result<Value, Value>| found.is_ok_and(|found| found["result"]["value"] == json!(true));
        while !is_true(self.answer("Runtime.evaluate", &params)) {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    /// Types into a field, as its own events do.
    pub fn set(&self, selector: &str, value: &str) {
        self.eval(&format!(
            "(() => {{ const field = document.querySelector({}); field.value = {};
               for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, {{ bubbles: true }})); }})()",
            json!(selector),
            json!(value)
        ));
    }

    /// Clicks after the answer, as a click may leave the page.
    pub fn click(&self, selector: &str) {
        self.eval(&format!("void setTimeout(() => document.querySelector({}).click())", json!(selector)));
    }

    /// Presses the pointer on a slider at a share of its length, moves it in steps, and releases it if `release`.
    pub fn drag(&self, selector: &str, from: f64, to: f64, steps: u32, mut during: impl FnMut()) {
        self.eval(&format!("document.querySelector({}).scrollIntoView({{ block: 'center' }})", json!(selector)));
        let rect = self.eval(&format!(
            "(() => {{ const r = document.querySelector({}).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})()",
            json!(selector)
        ));
        let [x, y, width, height] = [0, 1, 2, 3].map(|index| rect[index].as_f64().expect("a number"));
        // The thumb is about 16 pixels wide and stays inside the track.
        let at = |share: f64| x + 8.0 + share * (width - 16.0);
        let mouse = |kind: &str, share: f64| {
            let params = json!({ "type": kind, "x": at(share), "y": y + height / 2.0, "button": "left", "buttons": 1, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        };
        mouse("mousePressed", from);
        for step in 1..=steps {
            mouse("mouseMoved", from + (to - from) * f64::from(step) / f64::from(steps));
        }
        during();
        mouse("mouseReleased", to);
    }

    pub fn choose_file(&self, selector: &str, path: &str) {
        // Chromium reads no file through `..`.
        let path = std::fs::canonicalize(path).expect("the file exists");
        let document = self.call("DOM.getDocument", json!({}));
        let node =
            self.call("DOM.querySelector", json!({ "nodeId": document["root"]["nodeId"], "selector": selector }));
        self.call("DOM.setFileInputFiles", json!({ "nodeId": node["nodeId"], "files": [path] }));
    }

    /// Width in CSS pixels, and the colour scheme.
    pub fn look(&self, width: u32, height: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Picture of the whole page as PNG in base64.
    pub fn picture(&self) -> String {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        shot["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Errors of the page so far; forgets them.
    pub fn errors(&self) -> Vec<String> {
        // An answer follows all earlier events.
        self.eval("0");
        std::mem::take(&mut self.errors.borrow_mut())
    }
}

fn read_messages(output: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut message = Vec::new();
        while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            message.pop();
            if serde_json::from_slice(&message).is_ok_and(|message: Value| sender.send(message).is_err()) {
                break;
            }
            message.clear();
        }
    });
    receiver
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.input.borrow_mut().write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let end = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
