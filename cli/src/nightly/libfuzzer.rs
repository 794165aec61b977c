//! libFuzzer as a process: how its targets are built, and what it says while it runs.

use super::record::Point;
use anyhow::{Context as _, Result, bail};
use pagefence_harness::targets::Target;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Fuzz targets that are built.
#[derive(Debug)]
pub struct Fuzzers {
    folder: PathBuf,
}

/// What a target works on.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Its inputs. The first folder takes what is new.
    pub folders: &'a [PathBuf],
    /// Takes the inputs that crash.
    pub crashes: &'a Path,
    /// Findings that are no crash.
    pub pass: &'a Path,
}

/// What a run of libFuzzer came to.
#[derive(Debug, Default)]
pub struct Ran {
    /// How it came on.
    pub curve: Vec<Point>,
    /// Whether it stopped at a crash.
    pub crashed: bool,
    /// The last lines that it said, for when it died of something else.
    pub last_words: String,
}

/// Without a sanitizer, on stable Rust, and without the tracing of comparisons: the inputs are choices, and no comparison of theirs
/// leads anywhere. That doubles the rate.
const BUILD: [&str; 6] = ["fuzz", "build", "-O", "-s", "none", "--no-trace-compares"];
/// Rare features are not worth more than others here, and weighing them costs a third of the rate.
const OPTIONS: [&str; 3] = ["-entropic=0", "-timeout=60", "-rss_limit_mb=2048"];
/// How libFuzzer ends at a crash.
const CRASH: i32 = 77;
/// It is to end by itself; after so long it is told to.
const GRACE: Duration = Duration::from_secs(30);
/// How often somebody looks whether it has.
const LOOK: Duration = Duration::from_millis(50);

impl Fuzzers {
    /// Builds the targets of a checkout.
    ///
    /// # Errors
    /// When there is no checkout, cargo-fuzz is missing, or they do not build: in a line that says what to do.
    pub fn build(checkout: &Path) -> Result<Self> {
        let shown = checkout.display();
        if !checkout.join("fuzz/Cargo.toml").is_file() {
            bail!(
                "{shown}: is no checkout of pagefence (no fuzz/Cargo.toml): name one with --checkout, or --skip fuzz"
            );
        }
        let cargo = |words: &[&str]| Command::new("cargo").args(words).current_dir(checkout).output();
        if !cargo(&["fuzz", "--version"]).is_ok_and(|output| output.status.success()) {
            bail!("cargo-fuzz is missing: cargo install cargo-fuzz --locked, or --skip fuzz");
        }
        let built = cargo(&BUILD).context("cargo fuzz build")?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr);
            let error = said.lines().find(|line| line.starts_with("error")).unwrap_or("without a word").to_owned();
            bail!("the fuzz targets do not build: {error}");
        }
        let rustc = Command::new("rustc").arg("-vV").output().context("rustc -vV")?;
        let said = String::from_utf8_lossy(&rustc.stdout).into_owned();
        let host = said.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
        let folder = checkout.join("fuzz/target").join(host).join("release");
        // Child processes are started elsewhere.
        Ok(Self { folder: folder.canonicalize().with_context(|| folder.display().to_string())? })
    }

    /// Runs a target for `time`, until it crashes or `stop` is set.
    pub fn run(&self, target: Target, places: Places<'_>, time: Duration, seed: u64, stop: &AtomicBool) -> Result<Ran> {
        let Places { folders, crashes, pass } = places;
        let mut prefix = OsString::from("-artifact_prefix=");
        prefix.push(crashes.join(""));
        // Zero would mean one that nobody knows.
        let seed = (seed % u64::from(u32::MAX)) as u32 + 1;
        let mut command = self.command(target, pass);
        command.args(OPTIONS).arg(prefix).arg(format!("-seed={seed}"));
        command.arg(format!("-max_total_time={}", time.as_secs().max(1))).args(folders);
        watch(command.spawn().with_context(|| format!("{target}"))?, time + GRACE, stop)
    }

    /// Puts into `to` as few of the inputs in `from` as cover the same.
    pub fn minimise(&self, target: Target, to: &Path, from: Places<'_>, stop: &AtomicBool) -> Result<()> {
        let mut command = self.command(target, from.pass);
        command.args(OPTIONS).arg("-merge=1").arg(to).args(from.folders);
        let ran = watch(command.spawn().with_context(|| format!("{target}"))?, Duration::from_secs(600), stop)?;
        if ran.crashed { bail!("{target}: could not merge its corpus: {}", ran.last_words) } else { Ok(()) }
    }

    fn command(&self, target: Target, pass: &Path) -> Command {
        let mut command = Command::new(self.folder.join(target.name()));
        command.env("PAGEFENCE_PASS", pass).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

/// Listens to libFuzzer until it ends; it is made to after `limit`, and when `stop` is set.
fn watch(mut child: Child, limit: Duration, stop: &AtomicBool) -> Result<Ran> {
    let began = Instant::now();
    let errors = child.stderr.take();
    let ran = thread::scope(|scope| -> Result<Ran> {
        let listener =
            scope.spawn(move || errors.map(|errors| listen(BufReader::new(errors), began)).unwrap_or_default());
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if stop.load(Ordering::Relaxed) || began.elapsed() > limit {
                child.kill()?;
            }
            thread::sleep(LOOK);
        };
        let mut ran = listener.join().unwrap_or_default();
        ran.crashed = status.code() == Some(CRASH);
        let ended = status.success() || ran.crashed || stop.load(Ordering::Relaxed);
        if ended { Ok(ran) } else { bail!("libFuzzer ended with {status}: {}", ran.last_words) }
    });
    // Whatever went wrong, no process stays behind.
    _ = child.kill();
    _ = child.wait();
    ran
}

fn listen(mut errors: impl BufRead, began: Instant) -> Ran {
    let mut ran = Ran::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        // What it prints of an input may be no text.
        if errors.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line);
            match point(&text, began.elapsed().as_secs_f64()) {
                Some(point) => keep(&mut ran.curve, point),
                None if !text.trim().is_empty() => ran.last_words = text.trim().to_owned(),
                None => {}
            }
        } else {
            return ran;
        }
    }
}

/// Points closer together than this are one.
const STEP: f64 = 0.25;

fn keep(curve: &mut Vec<Point>, point: Point) {
    // The last one moves on until it is a step away from the one before it.
    if let [.., before, last] = curve.as_mut_slice()
        && point.seconds - before.seconds < STEP
    {
        *last = point;
    } else {
        curve.push(point);
    }
}

/// `#15401 NEW cov: 4970 ft: 17612 corp: 1705/61Kb lim: 4096 exec/s: 1400 rss: 44Mb L: 41/111 MS: 1 Custom-`
fn point(line: &str, seconds: f64) -> Option<Point> {
    let executions = line.strip_prefix('#')?.split_whitespace().next()?.parse().ok()?;
    let after = |name: &str| {
        let rest = line.split_once(name)?.1.trim_start();
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    Some(Point {
        seconds,
        executions,
        edges: after(" cov:")?,
        features: after(" ft:")?,
        corpus: after(" corp:").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_says_becomes_a_curve() {
        let said = "INFO: Seed: 1\n\
            #2\tINITED cov: 10 ft: 20 corp: 1/1b exec/s: 0 rss: 30Mb\n\
            #15401\tDONE   cov: 4970 ft: 17612 corp: 1705/61Kb lim: 4096 exec/s: 1400 rss: 44Mb\n\
            Done 15401 runs in 11 second(s)\n";
        let ran = listen(said.as_bytes(), Instant::now());
        let points: Vec<_> = ran.curve.iter().map(|p| (p.executions, p.edges, p.features, p.corpus)).collect();
        assert_eq!(points, [(2, 10, 20, 1), (15401, 4970, 17612, 1705)]);
        assert_eq!(ran.last_words, "Done 15401 runs in 11 second(s)");
        assert_eq!(point("#nothing", 0.0), None);
    }

    #[test]
    fn a_curve_has_no_more_points_than_can_be_seen() {
        let mut curve = Vec::new();
        (0..1000_u64)
            .for_each(|at| keep(&mut curve, Point { seconds: at as f64 / 100.0, executions: at, ..Point::default() }));
        assert!(curve.len() <= 43, "{}", curve.len());
        assert_eq!((curve[0].executions, curve.last().unwrap().executions), (0, 999));
    }
}
