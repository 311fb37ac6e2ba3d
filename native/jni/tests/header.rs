//! `include/dwell.h` is what cbindgen makes of `src/capi.rs`. With `DWELL_WRITE_HEADER` set in the environment, the test writes it.

use std::{env, fs, path::Path};

use dwell::boundary::version::ABI_VERSION;

#[test]
fn committed_header_is_current() {
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_directory.join("cbindgen.toml")).unwrap();
    let mut header = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(crate_directory.join("src/capi.rs"))
        .generate()
        .unwrap()
        .write(&mut header);
    let header = String::from_utf8(header).unwrap();
    let path = crate_directory.join("include/dwell.h");
    if env::var_os("DWELL_WRITE_HEADER").is_some() {
        fs::write(&path, &header).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == header,
        "include/dwell.h is not current: run DWELL_WRITE_HEADER=1 cargo test -p dwell-jni --test header"
    );
    assert!(header.contains(&format!("#define DWELL_ABI_VERSION {}", ABI_VERSION)));
}
