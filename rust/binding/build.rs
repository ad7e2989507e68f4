//! Records with what the core was built: the ledger keeps it with every event.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .map_or_else(|| "rustc unknown".into(), |text| text.trim().to_owned());
    println!("cargo:rustc-env=PERCUSS_RUSTC={version}");
    for (name, from) in [("PERCUSS_TARGET", "TARGET"), ("PERCUSS_PROFILE", "PROFILE")] {
        let value = std::env::var(from).unwrap_or_else(|_| "unknown".into());
        println!("cargo:rustc-env={name}={value}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
