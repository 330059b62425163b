//! Writes include/lazyonce.h, names the shared library for the dynamic linker, and refuses a build that cannot unwind.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SONAME: &str = "liblazyonce.so.0";
/// In the order in which the header shows them.
const CHAPTERS: [&str; 12] = [
    "src/abi.rs",
    "src/ffi/card.rs",
    "src/ffi/once.rs",
    "src/ffi/request.rs",
    "src/ffi/life.rs",
    "src/ffi/permit.rs",
    "src/ffi/host.rs",
    "src/ffi/slot.rs",
    "src/ffi/state.rs",
    "src/ffi/cuda.rs",
    "src/ffi/error.rs",
    "src/ffi/trace.rs",
];
const PARTS: [&str; 4] = [
    "cmake/cbindgen.toml",
    "cmake/header/card.h",
    "cmake/header/basics.h",
    "cmake/header/inline.h",
];
const HEADER: &str = "include/lazyonce.h";

fn main() {
    println!("cargo::rerun-if-changed=cmake/build.rs");
    // Also the header itself: otherwise nobody notices that it was deleted or edited by hand.
    for path in CHAPTERS.iter().chain(&PARTS).chain([&HEADER]) {
        println!("cargo::rerun-if-changed={path}");
    }
    refuse_abort();
    if env::var_os("CARGO_CFG_LOOM").is_some() {
        return;
    }
    link();
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    // A packaged source carries its header, and must not be changed by building it.
    if !root.join("Cargo.toml.orig").exists() {
        write_header(&root);
    }
}

/// Callbacks may throw; with `panic = "abort"` in RUSTFLAGS that would end the process. The profile's setting does not
/// reach a build script: `src/ffi/mod.rs` refuses that one.
fn refuse_abort() {
    if env::var("CARGO_CFG_PANIC").is_ok_and(|strategy| strategy == "abort") {
        println!("cargo::error=lazyonce runs callbacks that may throw: build it with panic=unwind");
    }
}

fn link() {
    // The name that programs record and the loader looks for.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
    // The fork handlers and the destructor of the pthread key are in this code; it must outlive every dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // A stranger's function of one of our names must not answer the library's own calls.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
    println!(
        "cargo::rustc-cdylib-link-arg=-Wl,--defsym=DW.ref.rust_eh_personality=lazyonce_personality"
    );
    // OUT_DIR is <profile>/build/<package>/out: a program that is linked in <profile> must also start there.
    let out = PathBuf::from(variable("OUT_DIR"));
    if let Some(profile) = out.ancestors().nth(3) {
        let name = profile.join(SONAME);
        if fs::symlink_metadata(&name).is_err() {
            // Without the link everything else still works, and another build may have made it meanwhile.
            let _ = std::os::unix::fs::symlink("liblazyonce.so", name);
        }
    }
}

fn write_header(root: &Path) {
    let text = match header(root) {
        Ok(text) => text,
        Err(problem) => return println!("cargo::error=cannot generate {HEADER}: {problem}"),
    };
    let path = root.join(HEADER);
    if fs::read_to_string(&path).is_ok_and(|present| present == text) {
        return;
    }
    match fs::write(&path, text) {
        Err(problem) if !is_read_only(&problem) => {
            println!("cargo::error=cannot write {HEADER}: {problem}")
        }
        _ => (),
    }
}

fn is_read_only(problem: &io::Error) -> bool {
    matches!(
        problem.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

fn header(root: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let part = |path: &str| fs::read_to_string(root.join(path));
    let mut config = cbindgen::Config::from_file(root.join(PARTS[0]))?;
    config.header = Some(part(PARTS[1])?.trim_end().to_owned());
    config.after_includes = Some(format!("\n{}", with_version(&part(PARTS[2])?).trim_end()));
    let builder = CHAPTERS.iter().fold(
        cbindgen::Builder::new().with_config(config),
        |builder, chapter| builder.with_src(root.join(chapter)),
    );
    let mut generated = Vec::new();
    builder.generate()?.write(&mut generated);
    let generated = String::from_utf8(generated)?;
    // cbindgen puts its own trailer behind the include guard, where a second include would read it again.
    let end = generated.rfind("#endif").ok_or("no include guard")?;
    let (body, guard) = generated.split_at(end);
    Ok(format!(
        "{}{}\n\n{guard}",
        for_people(body),
        part(PARTS[3])?.trim_end()
    ))
}

/// A comment of one line in one line, and a parameter's type by the name that programs use.
fn for_people(generated: &str) -> String {
    let mut text = String::with_capacity(generated.len());
    let mut lines = generated.lines();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let mut ahead = lines.clone();
        let (sentence, end) = (
            ahead.next().unwrap_or_default(),
            ahead.next().unwrap_or_default(),
        );
        let sentence = sentence.trim_start().strip_prefix("* ");
        match sentence {
            Some(sentence) if line.trim() == "/**" && end.trim() == "*/" => {
                text.push_str(&format!("{indent}/** {sentence} */\n"));
                lines = ahead;
            }
            _ if line.starts_with("LAZY_API ") => {
                text.push_str(&(line.replace("struct ", "") + "\n"))
            }
            _ => text.push_str(&(line.to_owned() + "\n")),
        }
    }
    text
}

fn with_version(text: &str) -> String {
    ["MAJOR", "MINOR", "PATCH"]
        .iter()
        .fold(text.to_owned(), |text, component| {
            text.replace(
                &format!("@{component}@"),
                &variable(&format!("CARGO_PKG_VERSION_{component}")),
            )
        })
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: cargo runs this program"))
}
