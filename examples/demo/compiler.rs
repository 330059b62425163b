//! Compiles C and C++ programs of this package against the library that cargo just built.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The compilers, the library, and a directory for the programs that goes with this value.
pub struct Compiler {
    c: cc::Tool,
    cpp: cc::Tool,
    pub directory: PathBuf,
}

impl Compiler {
    /// `purpose` is a part of the directory's name.
    pub fn new(purpose: &str) -> Result<Compiler, String> {
        let caller = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = caller.ancestors().nth(2).unwrap_or(Path::new("."));
        // Cargo always writes the library to deps/ for an example or a bench; the name above it may be older.
        let library = [
            target.join("deps/liblazyonce.so"),
            target.join("liblazyonce.so"),
        ];
        let library = library
            .iter()
            .find(|path| path.exists())
            .ok_or("no liblazyonce.so beside this program")?;
        // Beside the caller, because programs may certainly be run from there.
        let directory = caller.with_file_name(format!("{purpose}-programs-{}", std::process::id()));
        let compiler = Compiler {
            c: tool(false)?,
            cpp: tool(true)?,
            directory,
        };
        fs::create_dir_all(&compiler.directory).map_err(|error| error.to_string())?;
        for name in ["liblazyonce.so", "liblazyonce.so.0"] {
            symlink(library, compiler.directory.join(name)).map_err(|error| error.to_string())?;
        }
        Ok(compiler)
    }

    pub fn version(&self) -> String {
        let output = self.c.to_command().arg("--version").output();
        let text = output
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default();
        text.lines().next().unwrap_or("unknown compiler").to_owned()
    }

    /// What links a program with the libraries of the directory.
    pub fn linked(&self, libraries: &[&str]) -> Vec<String> {
        let directory = self.directory.display();
        // The older kind of path comes before LD_LIBRARY_PATH, in which cargo names a directory that may hold an older library.
        let mut flags = vec![
            format!("-L{directory}"),
            format!("-Wl,--disable-new-dtags,-rpath,{directory}"),
        ];
        flags.extend(libraries.iter().map(|library| format!("-l{library}")));
        flags
    }

    /// Compiles a source, whose path begins in the package, and gives the path of the program.
    pub fn compile(
        &self,
        source: &Path,
        program: &str,
        flags: &[String],
    ) -> Result<PathBuf, String> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let is_cpp = source
            .extension()
            .is_some_and(|extension| extension == "cpp");
        let tool = if is_cpp { &self.cpp } else { &self.c };
        let executable = self.directory.join(program);
        let mut command = tool.to_command();
        command
            .args([
                if is_cpp { "-std=c++17" } else { "-std=c11" },
                "-D_GNU_SOURCE",
                "-Wall",
                "-Wextra",
                "-pthread",
            ])
            .arg("-I")
            .arg(package.join("include"))
            .arg(package.join(source))
            .arg("-o")
            .arg(&executable)
            .args(flags);
        let output = command
            .output()
            .map_err(|error| format!("cannot start the compiler ({command:?}): {error}"))?;
        let messages = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{program} does not compile:\n{messages}"));
        }
        eprint!("{messages}");
        Ok(executable)
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn tool(cpp: bool) -> Result<cc::Tool, String> {
    let target = format!(
        "{}-unknown-linux-{}",
        std::env::consts::ARCH,
        if cfg!(target_env = "musl") {
            "musl"
        } else {
            "gnu"
        }
    );
    let mut build = cc::Build::new();
    build
        .cpp(cpp)
        .target(&target)
        .host(&target)
        .opt_level(2)
        .debug(false)
        .cargo_metadata(false);
    build
        .try_get_compiler()
        .map_err(|error| format!("no {} compiler: {error}", if cpp { "C++" } else { "C" }))
}
