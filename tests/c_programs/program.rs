//! The programs and what their first comment lines ask for.
//!
//! | line | meaning |
//! |---|---|
//! | `// flags: ...` | further compiler flags, after all others |
//! | `// unit: file.cpp ...` | compile that file with these flags after all others, and link it in |
//! | `// needs: hooks` | link against the library built with the `test-hooks` feature |
//! | `// preload: file.c` | build that file as a shared object and start the program with it in `LD_PRELOAD` |
//! | `// shared: file.c` | build that file as a shared object, whose path the program finds in `LAZYONCE_TEST_SHARED` |
//! | `// static-shared: file.c` | the same with the static library in it, as an extension brings it along |
//! | `// library: NAME file.c ...` | build that file, with these flags, as a shared object of that name, where the program finds it by the name; the folder is in `LAZYONCE_TEST_LIBRARIES` |
//! | `// expect: hang` | documents what is not promised: passes if after 5 s every thread sleeps in a futex |
//! | `// not-under: tsan valgrind asan: reason` | the tools under which the program means nothing |

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How a program must end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Done,
    Hang,
}

/// One program of `c-tests/` or `c-tests/gpu/`.
pub struct Program {
    pub name: String,
    pub source: PathBuf,
    pub flags: Vec<String>,
    /// Further files, each with its own flags.
    pub units: Vec<(PathBuf, Vec<String>)>,
    pub hooks: bool,
    pub preload: Option<PathBuf>,
    pub shared: Option<PathBuf>,
    /// The static library is in it.
    pub has_static: bool,
    pub libraries: Vec<Library>,
    pub expect: Expect,
    not_under: Vec<(String, String)>,
}

/// C++ by its file name.
pub fn is_cpp(source: &Path) -> bool {
    source
        .extension()
        .is_some_and(|extension| extension == "cpp")
}

/// A shared object that a program finds by its name, perhaps behind a folder's.
pub struct Library {
    pub name: String,
    pub source: PathBuf,
    pub flags: Vec<String>,
}

impl Program {
    /// Why the program means nothing under these tools, if it says so.
    pub fn left_out_under(&self, tools: &[&str]) -> Option<String> {
        let hit = self
            .not_under
            .iter()
            .find(|(tool, _)| tools.contains(&tool.as_str()))?;
        Some(format!("not under {}: {}", hit.0, hit.1))
    }
}

/// Every file that defines `main`, sorted by name; two files of one stem are told apart by `_c` and `_cpp`.
pub fn all(sources: &Path) -> Vec<Program> {
    let mut stems: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let files = [sources.to_path_buf(), sources.join("gpu")]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("c-tests/ can be listed"));
    for entry in files.flatten() {
        let path = entry.path();
        let extension = path.extension().unwrap_or_default();
        if extension == "c" || extension == "cpp" {
            let stem = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            stems.entry(stem).or_default().push(path);
        }
    }
    let mut programs = Vec::new();
    for (stem, mut paths) in stems {
        paths.sort();
        let both = paths.len() > 1;
        for path in paths {
            let text = fs::read_to_string(&path).expect("a source file can be read");
            if text.contains("int main(") {
                let suffix = path
                    .extension()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let name = if both {
                    format!("{stem}_{suffix}")
                } else {
                    stem.clone()
                };
                programs.push(parse(name, path, &text));
            }
        }
    }
    programs
}

fn parse(name: String, source: PathBuf, text: &str) -> Program {
    let folder = source.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut program = Program {
        name,
        source,
        flags: Vec::new(),
        units: Vec::new(),
        hooks: false,
        preload: None,
        shared: None,
        has_static: false,
        libraries: Vec::new(),
        expect: Expect::Done,
        not_under: Vec::new(),
    };
    for line in text.lines().map_while(|line| line.strip_prefix("//")) {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key.trim() {
            "flags" => program
                .flags
                .extend(value.split_whitespace().map(String::from)),
            "unit" => {
                let mut words = value.split_whitespace().map(String::from);
                let file = words.next().expect("unit: FILE FLAGS");
                program.units.push((folder.join(file), words.collect()));
            }
            "needs" => {
                assert!(value == "hooks", "{}: unknown need {value}", program.name);
                program.hooks = true;
            }
            "preload" => program.preload = Some(folder.join(value)),
            "shared" => program.shared = Some(folder.join(value)),
            "static-shared" => {
                program.shared = Some(folder.join(value));
                program.has_static = true;
            }
            "library" => {
                let mut words = value.split_whitespace().map(String::from);
                let mut word = || words.next().expect("library: NAME FILE FLAGS");
                program.libraries.push(Library {
                    name: word(),
                    source: folder.join(word()),
                    flags: words.collect(),
                });
            }
            "expect" => {
                assert!(
                    value == "hang",
                    "{}: unknown expectation {value}",
                    program.name
                );
                program.expect = Expect::Hang;
            }
            "not-under" => {
                let (tools, reason) = value.split_once(':').expect("not-under: TOOLS: a reason");
                let reason = reason.trim().to_owned();
                program.not_under.extend(
                    tools
                        .split_whitespace()
                        .map(|tool| (tool.to_owned(), reason.clone())),
                );
            }
            _ => {}
        }
    }
    program
}
