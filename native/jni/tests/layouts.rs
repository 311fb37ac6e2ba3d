//! Java and Rust share constants: every constant of one side exists on the other, under the same name and with the same value. The test
//! reads both sides as sources, so it fails if a slot moves or is added on one side only.

use std::{collections::BTreeMap, env, fs, path::Path};

/// Constants by name, as a source defines them.
type Constants = BTreeMap<String, i64>;

const JAVA: &str = "../../jvm/src/main/java/dwell/jni";

fn source(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Name and expression of each integer defined in one line: the prefix, then `NAME = EXPRESSION;` or `NAME: TYPE = EXPRESSION;`.
fn definitions(text: &str, prefix: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix(prefix))
        .filter_map(|definition| {
            let (left, expression) = definition.strip_suffix(';')?.split_once(" = ")?;
            let (name, integer) = match left.split_once(": ") {
                Some((name, of)) => (name, ["usize", "i64", "i32", "jint"].contains(&of)),
                None => (left, true),
            };
            integer.then(|| (name.to_owned(), expression.to_owned()))
        })
        .collect()
}

/// Evaluates arithmetic on integers and constants. `ResultHeader.` and `header::` stand for the constants of `header`.
fn value(expression: &str, own: &Constants, header: &Constants) -> i64 {
    let text = expression
        .replace("Integer.MAX_VALUE", "2147483647")
        .replace("i32::MAX as usize", "2147483647")
        .replace("ResultHeader.", "header::");
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' || c == ':' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if c != ' ' {
            tokens.push(c.to_string());
        }
    }
    let mut parser = Parser {
        tokens: tokens.into_iter().peekable(),
        own,
        header,
    };
    let value = parser.sum();
    assert_eq!(parser.tokens.next(), None, "{expression}");
    value
}

/// A parser of expressions, by recursive descent.
struct Parser<'a, I: Iterator<Item = String>> {
    tokens: std::iter::Peekable<I>,
    own: &'a Constants,
    header: &'a Constants,
}

impl<I: Iterator<Item = String>> Parser<'_, I> {
    fn sum(&mut self) -> i64 {
        let mut value = self.product();
        while let Some(sign) = self.tokens.next_if(|token| token == "+" || token == "-") {
            let next = self.product();
            value += if sign == "+" { next } else { -next };
        }
        value
    }

    fn product(&mut self) -> i64 {
        let mut value = self.factor();
        while let Some(sign) = self.tokens.next_if(|token| token == "*" || token == "/") {
            let next = self.factor();
            value = if sign == "*" {
                value * next
            } else {
                value / next
            };
        }
        value
    }

    fn factor(&mut self) -> i64 {
        let token = self.tokens.next().expect("a number or a name");
        if token == "(" {
            let value = self.sum();
            assert_eq!(self.tokens.next().as_deref(), Some(")"));
            return value;
        }
        if token == "-" {
            return -self.factor();
        }
        if let Ok(number) = token.parse() {
            return number;
        }
        let found = match token.strip_prefix("header::") {
            Some(name) => self.header.get(name),
            None => self.own.get(&token),
        };
        *found.unwrap_or_else(|| panic!("{token} is neither a number nor a constant above"))
    }
}

fn constants(text: &str, prefixes: &[&str], header: &Constants) -> Constants {
    let mut all = Constants::new();
    for prefix in prefixes {
        for (name, expression) in definitions(text, prefix) {
            let value = value(&expression, &all, header);
            assert_eq!(all.insert(name.clone(), value), None, "{name}");
        }
    }
    all
}

fn java(class: &str, header: &Constants) -> Constants {
    let text = source(&format!("{JAVA}/{class}.java"));
    let prefixes = ["public static final int ", "public static final long "];
    constants(&text, &prefixes, header)
}

fn rust(file: &str, header: &Constants) -> Constants {
    constants(&source(&format!("src/{file}")), &["pub const "], header)
}

fn header_of_java() -> Constants {
    java("ResultHeader", &Constants::new())
}

fn header_of_rust() -> Constants {
    rust("boundary/header.rs", &Constants::new())
}

/// The constants of `NativeBridge` whose names begin with one of these, without the prefix.
fn bridge(prefix: &str) -> Constants {
    let all = java("NativeBridge", &Constants::new());
    let named = |name: &str, prefix: &str| name.strip_prefix(prefix).map(str::to_owned);
    all.iter()
        .filter_map(|(name, &value)| Some((named(name, prefix)?, value)))
        .collect()
}

/// The constants of a family: those of its layout class, and its version and flags in `NativeBridge`.
fn family(class: &str, prefix: &str, others: &[&str]) -> Constants {
    let header = header_of_java();
    let mut all = java(class, &header);
    // Another name for a common slot is no slot of its own.
    all.retain(|name, value| header.get(name) != Some(&*value));
    let flags = bridge(prefix);
    let of_others = |name: &String| others.iter().any(|other| name.starts_with(other));
    for (name, value) in flags.into_iter().filter(|(name, _)| !of_others(name)) {
        assert_eq!(all.insert(name.clone(), value), None, "{name}");
    }
    all
}

#[test]
fn headers() {
    let (mut java, rust) = (header_of_java(), header_of_rust());
    assert_eq!(rust["BYTES"], 512);
    // Rust does not know the slots of the caller, and they do not overlap with its own.
    let callers: Vec<i64> = java
        .extract_if(.., |name, _| !rust.contains_key(name))
        .map(|(_, slot)| slot)
        .collect();
    assert!(
        callers
            .iter()
            .all(|slot| (rust["FIRST_FREE"]..rust["SLOTS"]).contains(slot)),
        "{callers:?}"
    );
    assert_eq!(java, rust);
}

#[test]
fn coordinate_descent() {
    let java = family(
        "CdLayout",
        "",
        &[
            "MARGIN_",
            "SGD_",
            "PASS_",
            "LDA_",
            "ABI_VERSION",
            "OK",
            "STATE_LOST",
        ],
    );
    assert_eq!(java["CONTROL_STAMP"], 9);
    assert_eq!(java, rust("cd/layout.rs", &header_of_rust()));
}

#[test]
fn margins() {
    let java = family("MarginLayout", "MARGIN_", &[]);
    assert_eq!(java, rust("cd/margins/layout.rs", &header_of_rust()));
}

#[test]
fn model_averaging() {
    let java = family("SgdLayout", "SGD_", &[]);
    assert_eq!(java["OBJECTIVES"], 14);
    assert_eq!(java, rust("rows/layout.rs", &header_of_rust()));
}

#[test]
fn passes() {
    let java = family("PassLayout", "PASS_", &[]);
    assert_eq!(java["LOSSES"], 16);
    assert_eq!(java, rust("pass/layout.rs", &header_of_rust()));
}

#[test]
fn sums_of_features() {
    let java = java("SumsLayout", &Constants::new());
    assert_eq!(java["SUMS"], 7);
    let rust = rust("../../solvers/src/facts/sums.rs", &Constants::new());
    assert_eq!(java, rust);
}

#[test]
fn topics() {
    let java = family("LdaLayout", "LDA_", &[]);
    assert_eq!(java["CONTROL_SAMPLE"], 14);
    assert_eq!(java, rust("lda/layout.rs", &header_of_rust()));
}

#[test]
fn answers_and_versions() {
    let mut java = java("NativeBridge", &Constants::new());
    java.retain(|name, _| ["ABI_VERSION", "OK", "STATE_LOST"].contains(&name.as_str()));
    let mut rust_side = rust("boundary/version.rs", &Constants::new());
    rust_side.extend(rust("java/calls.rs", &Constants::new()));
    assert_eq!(java.len(), 3);
    assert_eq!(java, rust_side);
}

#[test]
fn codes_of_exceptions() {
    let java = java("NativeException", &Constants::new());
    assert_eq!(java["PANIC"], 3);
    assert_eq!(java, rust("boundary/fault.rs", &Constants::new()));
}

#[test]
fn expressions() {
    let own = Constants::from([("A".into(), 6)]);
    let header = Constants::from([("B".into(), 7)]);
    assert_eq!(value("(A + 2) * header::B - 10 / 5", &own, &header), 54);
    assert_eq!(value("-1 + ResultHeader.B", &own, &header), 6);
}
