//! Writes the constants that the classes of `dwell.jni` define as Rust modules, one for each class. Java says what each number means.

use std::{env, fmt::Write, fs, path::Path};

const CLASSES: &str = "../../jvm/src/main/java/dwell/jni";

/// Class, module, and the type of its constants of Java's type int.
const MODULES: [(&str, &str, &str); 10] = [
    ("NativeBridge", "bridge", "i32"),
    ("NativeException", "exception", "i32"),
    ("ResultHeader", "header", "usize"),
    ("CdLayout", "cd", "usize"),
    ("MarginLayout", "margins", "usize"),
    ("SgdLayout", "sgd", "usize"),
    ("NetworkLayout", "network", "usize"),
    ("PassLayout", "pass", "usize"),
    ("LdaLayout", "lda", "usize"),
    ("SumsLayout", "sums", "usize"),
];

fn main() {
    let mut text = String::new();
    for (class, module, int) in MODULES {
        let path = format!("{CLASSES}/{class}.java");
        println!("cargo::rerun-if-changed={path}");
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let _ = writeln!(
            text,
            "/// The constants of `dwell.jni.{class}`.\npub mod {module} {{"
        );
        for line in source.lines() {
            if let Some(constant) = constant(line, int) {
                let _ = writeln!(text, "    {constant}");
            }
        }
        text.push_str("}\n");
    }
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("constants.rs"), text).expect("OUT_DIR can be written");
}

/// The Rust definition of a constant that a line of Java defines.
fn constant(line: &str, int: &str) -> Option<String> {
    let (left, value) = line
        .trim()
        .strip_prefix("public static final ")?
        .split_once(" = ")?;
    let (of, name) = left.split_once(' ')?;
    let of = match of {
        "int" => int,
        "long" => "i64",
        _ => return None,
    };
    let value = (value.replace("Integer.MAX_VALUE", "i32::MAX as usize"))
        .replace("ResultHeader.", "super::header::");
    Some(format!(
        "/// `{name}`\n    pub const {name}: {of} = {value}"
    ))
}
