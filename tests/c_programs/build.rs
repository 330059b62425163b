//! Finds the library and compiles programs against it.

use crate::program::{Program, is_cpp};
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folders and flags of this run.
pub struct Builder {
    /// The package: `include/` and `c-tests/` are in it.
    package: PathBuf,
    /// `target/`.
    target: PathBuf,
    /// `target/<profile>/`.
    profile: PathBuf,
    /// `target/<profile>/c-tests/<flavour>/`.
    out: PathBuf,
    cflags: Vec<String>,
    /// The command put before each program.
    pub runner: Vec<String>,
    library: OnceLock<Result<PathBuf, String>>,
    hooks: OnceLock<Result<PathBuf, String>>,
}

impl Builder {
    pub fn from_environment() -> Self {
        let words = |key: &str| -> Vec<String> {
            env::var(key)
                .unwrap_or_default()
                .split_whitespace()
                .map(String::from)
                .collect()
        };
        let executable = env::current_exe().expect("the test has a path");
        let profile = executable
            .ancestors()
            .nth(2)
            .expect("the test lies in target/<profile>/deps")
            .to_path_buf();
        let cflags = words("LAZYONCE_TEST_CFLAGS");
        let flavour: String = cflags
            .concat()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .collect();
        let out = profile.join("c-tests").join(if flavour.is_empty() {
            "plain"
        } else {
            &flavour
        });
        fs::create_dir_all(&out).expect("target/ can be written");
        Self {
            package: PathBuf::from(env!("CARGO_MANIFEST_DIR")),
            target: profile
                .parent()
                .expect("target/ is above the profile")
                .to_path_buf(),
            profile,
            out,
            cflags,
            runner: words("LAZYONCE_TEST_RUNNER"),
            library: OnceLock::new(),
            hooks: OnceLock::new(),
        }
    }

    pub fn sources(&self) -> PathBuf {
        self.package.join("c-tests").join("")
    }

    /// The sanitizers and the runner in use, by the names that `not-under` knows.
    pub fn tools(&self) -> Vec<&'static str> {
        let flags = self.cflags.concat();
        let runner = self.runner.concat();
        [
            ("tsan", flags.contains("fsanitize=thread")),
            ("asan", flags.contains("fsanitize=address")),
            ("valgrind", runner.contains("valgrind")),
        ]
        .into_iter()
        .filter_map(|(tool, used)| used.then_some(tool))
        .collect()
    }

    /// Whether programs run slower than they are meant to.
    pub fn is_slow(&self) -> bool {
        !(self.cflags.is_empty() && self.runner.is_empty())
    }

    /// Compiles a program and gives the path of its executable.
    pub fn compile(&self, program: &Program) -> Result<PathBuf, String> {
        let library = if program.hooks {
            self.library_with_hooks()?
        } else {
            self.library()?
        };
        let executable = self.out.join(&program.name);
        let units = self.compile_units(program)?;
        let mut compile = self.compiler(program)?;
        compile
            .args(&program.flags)
            .arg(&program.source)
            .args(units)
            .arg("-o")
            .arg(&executable)
            .arg("-L")
            .arg(&library)
            .arg(format!("-Wl,-rpath,{}", library.display()))
            .args(["-llazyonce", "-ldl"]);
        if let Some(folder) = self.compile_libraries(program)? {
            // The old tag holds for what other libraries load, too.
            compile.arg(format!(
                "-Wl,--disable-new-dtags,-rpath,{}",
                folder.display()
            ));
        }
        succeed(compile).map(|_| executable)
    }

    /// The folder of what a program finds by name, if there is any.
    pub fn libraries(&self, program: &Program) -> Option<PathBuf> {
        let folder = self.out.join(format!("{}.libraries", program.name));
        (!program.libraries.is_empty()).then_some(folder)
    }

    /// Builds what a program finds by name; the folder, if there is any.
    fn compile_libraries(&self, program: &Program) -> Result<Option<PathBuf>, String> {
        let Some(folder) = self.libraries(program) else {
            return Ok(None);
        };
        for library in &program.libraries {
            let file = folder.join(&library.name);
            let parent = file.parent().expect("a file is in a folder");
            fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", file.display()))?;
            let soname = file.file_name().expect("it has a name").to_string_lossy();
            let mut flags = self.cflags.clone();
            flags.push(format!("-Wl,-soname,{soname}"));
            flags.extend(library.flags.iter().cloned());
            self.object_at(&file, &library.source, &flags)?;
        }
        Ok(Some(folder))
    }

    /// The further files of a program, as objects.
    fn compile_units(&self, program: &Program) -> Result<Vec<PathBuf>, String> {
        let compile = |(number, (source, flags)): (usize, &(PathBuf, Vec<String>))| {
            let object = self.out.join(format!("{}.{number}.o", program.name));
            let mut compile = self.compiler(program)?;
            compile
                .args(flags)
                .arg("-c")
                .arg(source)
                .arg("-o")
                .arg(&object);
            succeed(compile).map(|_| object)
        };
        program.units.iter().enumerate().map(compile).collect()
    }

    /// The compiler with the flags that every program has.
    fn compiler(&self, program: &Program) -> Result<Command, String> {
        let standard = if is_cpp(&program.source) {
            "-std=c++17"
        } else {
            "-std=c11"
        };
        let mut compile = compiler(is_cpp(&program.source))?;
        compile
            .args([
                "-g", standard, "-Wall", "-Wextra", "-Werror", "-pthread", "-I",
            ])
            .arg(self.package.join("include"))
            .arg("-I")
            .arg(self.sources())
            .args(&self.cflags);
        Ok(compile)
    }

    /// Builds the shared object that a program is started with.
    pub fn compile_preload(&self, program: &Program) -> Result<Option<PathBuf>, String> {
        let object = |source: &PathBuf| self.object(program, "preload", source, &[]);
        program.preload.as_ref().map(object).transpose()
    }

    /// Builds the shared object that a program loads.
    pub fn compile_shared(&self, program: &Program) -> Result<Option<PathBuf>, String> {
        let mut flags = self.cflags.clone();
        if program.has_static {
            // Without the second flag its calls would be the program's library's, where that is loaded first.
            let library = self.newest("liblazyonce.a")?;
            flags.extend(["-Wl,-z,nodelete", "-Wl,-Bsymbolic-functions"].map(String::from));
            flags.extend([library.display().to_string(), "-lgcc_s".into()]);
        }
        let object = |source: &PathBuf| self.object(program, "shared", source, &flags);
        program.shared.as_ref().map(object).transpose()
    }

    fn object(
        &self,
        program: &Program,
        role: &str,
        source: &Path,
        flags: &[String],
    ) -> Result<PathBuf, String> {
        let object = self.out.join(format!("{}.{role}.so", program.name));
        self.object_at(&object, source, flags).map(|()| object)
    }

    fn object_at(&self, object: &Path, source: &Path, flags: &[String]) -> Result<(), String> {
        let cpp = is_cpp(source);
        let mut compile = compiler(cpp)?;
        compile
            .args(cpp.then_some("-std=c++17"))
            .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(self.package.join("include"))
            .arg("-o")
            .arg(object)
            .arg(source)
            .args(flags);
        succeed(compile).map(|_| ())
    }

    /// A file that cargo built in this profile.
    fn newest(&self, name: &str) -> Result<PathBuf, String> {
        [
            self.profile.join(name),
            self.profile.join("deps").join(name),
        ]
        .into_iter()
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .max()
        .map(|newest| newest.1)
        .ok_or_else(|| format!("no {name} in {}", self.profile.display()))
    }

    /// A folder with the library of this profile under its link name and its SONAME.
    fn library(&self) -> Result<PathBuf, String> {
        let find = || self.linked("lib", &self.newest("liblazyonce.so")?);
        self.library.get_or_init(find).clone()
    }

    /// The same for the library with test hooks, which is built by the first program that needs it.
    fn library_with_hooks(&self) -> Result<PathBuf, String> {
        let build = || {
            let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo
                .current_dir(&self.package)
                .args([
                    "build",
                    "--offline",
                    "--quiet",
                    "--lib",
                    "--profile",
                    "hooks",
                    "--features",
                    "test-hooks",
                ])
                .arg("--target-dir")
                .arg(&self.target);
            succeed(cargo)?;
            self.linked("lib-hooks", &self.target.join("hooks/liblazyonce.so"))
        };
        self.hooks.get_or_init(build).clone()
    }

    fn linked(&self, folder: &str, library: &Path) -> Result<PathBuf, String> {
        let folder = self.out.join(folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for name in ["liblazyonce.so", "liblazyonce.so.0"] {
            let link = folder.join(name);
            let _ = fs::remove_file(&link);
            symlink(library, &link).map_err(|error| format!("{}: {error}", link.display()))?;
        }
        Ok(folder)
    }
}

/// The `cc` crate's compiler, which asks the environment as build scripts do.
fn compiler(cpp: bool) -> Result<Command, String> {
    let triple = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    cc::Build::new()
        .target(&triple)
        .host(&triple)
        .opt_level(2)
        .cpp(cpp)
        .cargo_metadata(false)
        .try_get_compiler()
        .map(|tool| tool.to_command())
        .map_err(|error| error.to_string())
}

fn succeed(mut command: Command) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let words: Vec<_> = command
        .get_args()
        .map(|word| word.to_string_lossy())
        .collect();
    let program = command.get_program().to_string_lossy();
    Err(format!(
        "{program} {}\n{}",
        words.join(" "),
        String::from_utf8_lossy(&output.stderr)
    ))
}
