//! What the programs of a row run in.

use crate::compiler::Compiler;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone)]
pub enum Host {
    /// Nothing: they are programs of their own.
    None,
    /// Nothing, and a mutex of theirs stands for an interpreter's lock.
    Mutex,
    /// A CPython with a GIL, which loads them.
    Python(PathBuf),
}

/// Prints its path if it can load what is built here and has a GIL that can be found.
const IS_USABLE: &str = "\
import ctypes, decimal, sys
ctypes.CDLL(sys.argv[1])
ctypes.CDLL(None).PyGILState_Ensure
if getattr(sys, '_is_gil_enabled', lambda: True)(): print(sys.executable)";
const RUN: &str = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).main())";

impl Host {
    /// The CPython that `python3` is, where it is usable.
    pub fn find(compiler: &Compiler) -> Host {
        let library = compiler.directory.join("liblazyonce.so");
        let output = python("python3".as_ref(), IS_USABLE, &library)
            .stdin(Stdio::null())
            .output();
        let path = output
            .ok()
            .filter(|output| output.status.success())
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        match path {
            Some(path) if !path.is_empty() => Host::Python(path.into()),
            _ => Host::Mutex,
        }
    }

    pub fn flags(&self) -> &[&str] {
        match self {
            Host::None => &[],
            Host::Mutex => &["-DHOST=\"host_mutex.h\""],
            Host::Python(_) => &["-DHOST=\"host_python.h\"", "-shared", "-fPIC"],
        }
    }

    pub fn command(&self, program: &Path) -> Command {
        match self {
            Host::None | Host::Mutex => Command::new(program),
            Host::Python(path) => python(path, RUN, program),
        }
    }
}

/// Neither the environment nor the user's own packages take part, and nothing is written beside the modules.
fn python(path: &Path, script: &str, library: &Path) -> Command {
    let mut command = Command::new(path);
    command.args(["-IB", "-c", script]).arg(library);
    command
}
