//! The servers that are compared, each started for one measurement and ended after it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::offered::{Observation, SIZE, connect_remote, observe};
use crate::{BLOCK, Case, Like, is_realtime, own, throttle};

/// A way to make storage slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Plimsoll,
    /// Its filters `rate` and `delay`, over memory.
    Nbdkit,
    /// A throttle group, or the latency of its null device.
    Qemu,
    /// The block layer's own limits, on a loop device.
    Kernel,
}

impl Server {
    pub const ALL: [Self; 4] = [Self::Plimsoll, Self::Nbdkit, Self::Qemu, Self::Kernel];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Plimsoll => "plimsoll",
            Self::Nbdkit => "nbdkit",
            Self::Qemu => "qemu-storage-daemon",
            Self::Kernel => "kernel, blk-throttle",
        }
    }

    /// Starts it, measures it and ends it; or says why it cannot be like that.
    pub fn measure(self, case: &Case) -> Result<Observation, String> {
        let socket = std::env::temp_dir().join(format!("plimsoll-accuracy-{}.sock", std::process::id()));
        let command = match self {
            Self::Plimsoll => plimsoll(case, &socket),
            Self::Nbdkit => nbdkit(case, &socket)?,
            Self::Qemu => qemu(case, &socket),
            Self::Kernel => return throttle::measure(case),
        };
        let _running = Running::start(command, socket.clone())?;
        Ok(observe(&mut connect_remote(&socket, case.depth)?, case))
    }
}

/// A server that ends with this.
pub struct Running {
    child: Child,
    socket: PathBuf,
}

impl Running {
    /// Starts it with the priority that was asked for.
    pub fn start(command: Command, socket: PathBuf) -> Result<Self, String> {
        let _ = std::fs::remove_file(&socket);
        let mut started = if is_realtime() {
            let mut first = Command::new("chrt");
            first.args(["-f", "1"]).arg(command.get_program()).args(command.get_args());
            first
        } else {
            command
        };
        let program = started.get_program().to_string_lossy().into_owned();
        let child = started.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self { child: child.map_err(|error| format!("{program} cannot be started: {error}"))?, socket })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn plimsoll(case: &Case, socket: &Path) -> Command {
    let model = match case.like {
        Like::Iops(iops) => format!("limit({iops})"),
        // The usual burst of a limit in bytes is 1 MiB; a cap that allows none is what is asked for here.
        Like::BytesPerSecond(bytes) => format!("limit({}MB/s, burst {}KiB)", bytes as f64 / 1e6, BLOCK >> 10),
        Like::Delay(delay) => format!("link({}ns)", delay.as_nanos()),
    };
    own::build_command(&plimsoll_model::parse(&model).unwrap(), SIZE.get(), socket)
}

fn nbdkit(case: &Case, socket: &Path) -> Result<Command, String> {
    let mut command = Command::new("nbdkit");
    let mut with = |filter: &str, parameter: &str| {
        command.args(["-f", "-U"]).arg(socket).arg(format!("--filter={filter}"));
        command.args(["memory", "1G", parameter]);
    };
    match case.like {
        Like::Iops(_) => return Err("limits bytes only".into()),
        Like::BytesPerSecond(bytes) => with("rate", &format!("rate={}", bytes * 8)),
        Like::Delay(delay) if delay.as_nanos() < 1_000_000 => return Err("delays by whole milliseconds only".into()),
        Like::Delay(delay) => with("delay", &format!("rdelay={}ms", delay.as_nanos() / 1_000_000)),
    }
    Ok(command)
}

fn qemu(case: &Case, socket: &Path) -> Command {
    let mut command = Command::new("qemu-storage-daemon");
    let mut disk = format!("driver=null-co,node-name=disk,size={},read-zeroes=on", SIZE.get());
    let limit = match case.like {
        Like::Iops(iops) => Some(format!("x-iops-total={iops}")),
        Like::BytesPerSecond(bytes) => Some(format!("x-bps-total={bytes}")),
        Like::Delay(delay) => {
            disk += &format!(",latency-ns={}", delay.as_nanos());
            None
        }
    };
    command.args(["--blockdev", &disk]);
    if let Some(limit) = &limit {
        command.args(["--object", &format!("throttle-group,id=limits,{limit}")]);
        command.args(["--blockdev", "driver=throttle,node-name=limited,throttle-group=limits,file=disk"]);
    }
    let node = if limit.is_some() { "limited" } else { "disk" };
    command.args(["--nbd-server", &format!("addr.type=unix,addr.path={}", socket.display())]);
    command.args(["--export", &format!("type=nbd,id=export,node-name={node},name=data")]);
    command
}
