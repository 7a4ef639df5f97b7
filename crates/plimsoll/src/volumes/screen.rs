//! A full-screen terminal with single keys, whose previous content returns at the end.

use std::io::{IsTerminal, Stdin, Stdout, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// The full-screen terminal; restored on drop.
pub struct Screen {
    input: Stdin,
    output: Stdout,
    original: Termios,
}

impl Screen {
    /// Switches to the full screen; `None` if standard input or output is not a terminal.
    pub fn enter() -> Option<Self> {
        let (input, output) = (std::io::stdin(), std::io::stdout());
        if !input.is_terminal() || !output.is_terminal() {
            return None;
        }
        let original = tcgetattr(&input).ok()?;
        let mut raw = original.clone();
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        tcsetattr(&input, OptionalActions::Now, &raw).ok()?;
        let screen = Self { input, output, original };
        screen.write(ENTER);
        Some(screen)
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(&self.output).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    /// Shows the lines of a text that fit, from the top.
    pub fn show(&self, text: &str) {
        let (_, rows) = self.size();
        let lines: Vec<String> = text.lines().take(rows - 1).map(|line| format!("{line}\x1b[K\r\n")).collect();
        self.write(&format!("\x1b[H{}\x1b[J", lines.concat()));
    }

    /// True if `q` or Escape is pressed or the terminal is closed within this time.
    pub fn quits_within(&self, time: Duration, interrupted: impl Fn() -> bool) -> bool {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if interrupted() {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            let mut waited = [PollFd::new(&self.input, PollFlags::IN)];
            let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            let mut key = [0];
            match poll(&mut waited, Some(&timeout)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => match rustix::io::read(&self.input, &mut key) {
                    Ok(1) if !matches!(key[0], b'q' | b'Q' | 0x1b) => {}
                    _ => return true,
                },
                Err(_) => return true,
            }
        }
    }

    fn write(&self, text: &str) {
        let mut out = self.output.lock();
        // The terminal may be closed.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.write(LEAVE);
        let _ = tcsetattr(&self.input, OptionalActions::Now, &self.original);
    }
}
