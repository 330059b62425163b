//! Everybody who is compared: compiled, loaded, or not here for a reason.

use crate::compiler::Compiler;
use crate::counts::{self, Counted};
use crate::library::{Gate, Library};
use crate::ready::Found;
use crate::rust;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Onces of C++: the source in peers/, what they are called, what they are linked with.
const ONCES: [(&str, &str, &[&str]); 5] = [
    ("std", "std::call_once", &[]),
    ("pthread", "pthread_once", &[]),
    (
        "absl",
        "absl::call_once",
        &[
            "-labsl_base",
            "-labsl_spinlock_wait",
            "-labsl_raw_logging_internal",
        ],
    ),
    ("boost", "boost::call_once", &["-lboost_thread"]),
    ("pybind11", "pybind11 gil_safe_call_once_and_store", &[]),
];

/// As in a program: for the same thread-local storage a shared object would otherwise call a function.
const SHARED: [&str; 8] = [
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-falign-functions=64",
    "-falign-loops=64",
    "-w",
    "-Wl,-z,now",
];

/// The run: what there is, and how much of it is measured.
pub struct Bench {
    pub compiler: Compiler,
    /// False where only what does not vary is wanted.
    pub takes_times: bool,
    is_bench: bool,
    missing: Vec<(&'static str, String)>,
}

impl Bench {
    pub fn new(is_bench: bool, takes_times: bool) -> Result<Bench, String> {
        let mut bench = Bench {
            compiler: Compiler::new("speed")?,
            takes_times,
            is_bench,
            missing: Vec::new(),
        };
        for name in ["ready", "crowd", "queue", "slots", "footprint"] {
            bench.build(name, &[])?;
        }
        for (source, _, flags) in ONCES {
            let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
            let flags = if source == "pybind11" {
                bench.python_flags()
            } else {
                Ok(flags)
            };
            if let Err(why) = flags.and_then(|flags| bench.build(source, &flags)) {
                bench.missing.push((source, why));
            }
        }
        Ok(bench)
    }

    /// Compiles peers/NAME.cpp; if that fails, gives the first thing that the compiler says.
    fn build(&self, name: &str, flags: &[String]) -> Result<(), String> {
        let source = format!("benches/peers/{name}.cpp");
        let mut all: Vec<String> = SHARED.iter().map(|&flag| flag.to_owned()).collect();
        all.extend_from_slice(flags);
        all.extend(self.compiler.linked(&["lazyonce"]));
        let built = self
            .compiler
            .compile(Path::new(&source), &format!("{name}.so"), &all);
        built.map(drop).map_err(|said| {
            let first = said
                .lines()
                .find_map(|line| Some(line.split_once("error: ")?.1));
            let linker = said
                .lines()
                .find_map(|line| Some(line.split_once("cannot find ")?.1));
            first.or(linker).unwrap_or(&said).to_owned()
        })
    }

    pub fn library(&self, name: &str) -> Result<Library, String> {
        Library::open(&self.compiler.directory, name)
    }

    pub fn library_file(&self) -> PathBuf {
        let link = self.compiler.directory.join("liblazyonce.so");
        link.canonicalize().unwrap_or(link)
    }

    pub fn rounds(&self, rounds: usize) -> usize {
        if self.is_bench { rounds } else { 1 }
    }

    pub fn count(&self, loops: &[Counted]) -> Result<Vec<f64>, String> {
        counts::count(&self.compiler.directory, loops)
    }

    /// The loops on onces that are ready, first ours.
    pub fn ready_loops(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut add =
            |source: &'static str, name: &str, library: Result<Library, String>| match library {
                Err(why) => found.push((name.to_owned(), Err(why))),
                Ok(library) => {
                    let each = library.loops.into_iter().enumerate();
                    found.extend(
                        each.map(|(place, each)| (each.name.to_owned(), Ok((source, place, each)))),
                    );
                }
            };
        add("ready", "lazyonce", self.library("ready"));
        for (source, name, _) in ONCES {
            add(source, name, self.once(source));
        }
        add("rust", "Rust", Ok(rust::library()));
        found
    }

    /// The gates of everybody, and who has none.
    pub fn gates(&self) -> (Vec<&'static Gate>, Vec<(String, String)>) {
        let (mut gates, mut missing) = (Vec::new(), Vec::new());
        gates.extend(
            self.library("ready")
                .map(|library| library.gates)
                .unwrap_or_default(),
        );
        for (source, name, _) in ONCES {
            match self.once(source) {
                Ok(library) if library.gates.is_empty() => {
                    missing.push((name.to_owned(), "its waiters are threads of an interpreter; see the rows under a host's lock".to_owned()));
                }
                Ok(library) => gates.extend(library.gates),
                Err(why) => missing.push((name.to_owned(), why)),
            }
        }
        gates.extend(rust::library().gates);
        (gates, missing)
    }

    fn once(&self, source: &str) -> Result<Library, String> {
        match self.missing.iter().find(|(name, _)| *name == source) {
            Some((_, why)) => Err(why.clone()),
            None => self.library(source),
        }
    }

    pub fn python(&self) -> String {
        std::env::var("PYTHON").unwrap_or("python3".to_owned())
    }

    /// What compiles and links an interpreter into a shared object, with pybind11.
    fn python_flags(&self) -> Result<Vec<String>, String> {
        const ASK: &str = "
import pybind11, sys, sysconfig as s
v = s.get_config_var
if not v('Py_ENABLE_SHARED'): sys.exit('this Python has no shared library')
print('-I' + pybind11.get_include(), '-I' + v('INCLUDEPY'), '-DPYTHON_HOME=\"%s\"' % sys.base_prefix,
      '-L' + v('LIBDIR'), '-Wl,-rpath,' + v('LIBDIR'), '-lpython' + v('LDVERSION'), sep='\\n')";
        let output = Command::new(self.python())
            .args(["-c", ASK])
            .output()
            .map_err(|error| format!("{}: {error}", self.python()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(str::to_owned)
                .collect());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(said
            .trim()
            .lines()
            .last()
            .unwrap_or("python3 failed")
            .to_owned())
    }
}
