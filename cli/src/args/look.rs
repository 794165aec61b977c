//! `replay`, `minimize`, `profiles`, `atlas`, `audit`, `gate`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The finding.
    pub file: PathBuf,
    /// Run it under another profile.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub profile: Option<String>,
    /// Turn a switch on or off; may be repeated.
    #[arg(long = "set", value_name = "SWITCH=on|off")]
    pub settings: Vec<String>,
    /// Draw it into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct MinimizeArgs {
    /// The finding.
    pub file: PathBuf,
    /// Where to put the smaller one [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProfilesArgs {
    /// Say what each switch does and where that is known from.
    #[arg(long)]
    pub long: bool,
}

#[derive(Debug, Args)]
pub struct AtlasArgs {
    /// Only these profiles: shipped ones or TOML files; may be repeated.
    #[arg(long = "profile", value_name = "NAME|FILE.toml")]
    pub profiles: Vec<String>,
    /// Random walks for each producer in each scope that plants a rejection.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub walks: u64,
    /// The seed of the walks.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Traces: JSON lines in pagefence's schema, or of a recorder that it knows; gzipped or not.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Skip and count bad lines instead of stopping at the first.
    #[arg(long)]
    pub lenient: bool,
    /// Draw a summary and the timelines into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct GateArgs {
    /// Start-up logs or metrics pages: files, or http:// addresses.
    #[arg(required = true, value_name = "FILE|URL")]
    pub sources: Vec<String>,
    /// The context length that the service promises [default: what each node says].
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u64>,
}
