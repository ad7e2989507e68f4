//! Records with what the core was built: the ledger keeps it with every event.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!(
        "cargo:rustc-env=PERCUSS_RUSTC={}",
        said_by(&rustc, &["--version"])
    );
    let commit = said_by(
        "git",
        &[
            "describe",
            "--always",
            "--dirty",
            "--abbrev=40",
            "--exclude=*",
        ],
    );
    println!("cargo:rustc-env=PERCUSS_COMMIT={commit}");
    // A commit moves HEAD's log; outside a checkout there is no such file and nothing to watch.
    let head = said_by("git", &["rev-parse", "--git-path", "logs/HEAD"]);
    if std::path::Path::new(&head).exists() {
        println!("cargo:rerun-if-changed={head}");
    }
    for (name, from) in [("PERCUSS_TARGET", "TARGET"), ("PERCUSS_PROFILE", "PROFILE")] {
        let value = std::env::var(from).unwrap_or_else(|_| "unknown".into());
        println!("cargo:rustc-env={name}={value}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}

/// What a command prints, or `unknown` where it cannot be asked (no git, not a checkout).
fn said_by(program: &str, arguments: &[&str]) -> String {
    Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .filter(|out| out.status.success())
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .map_or_else(|| "unknown".into(), |text| text.trim().to_owned())
}
