//! The command line.

use dwell_mpi::{Options, SgdOptions};

const RIGHT: &str = "--data d --local-work 0.25,1 --rounds 50 --output o.json";

fn parse(text: &str) -> Result<Options, String> {
    let arguments = text.split_whitespace().map(Into::into);
    Options::parse(arguments).map_err(|failure| failure.to_string())
}

#[test]
fn options_are_read_in_any_order() {
    let expected = Options {
        data: "d".into(),
        local_work: vec![0.25, 1.0],
        rounds: 50,
        output: "o.json".into(),
        certificates: false,
    };
    assert_eq!(parse(RIGHT).as_ref(), Ok(&expected));
    let other = "--output o.json --rounds 50 --local-work 0.25,1 --data d";
    assert_eq!(parse(other).as_ref(), Ok(&expected));
    let certified = Options {
        certificates: true,
        ..expected
    };
    assert_eq!(parse(&format!("--certificates yes {RIGHT}")), Ok(certified));
}

#[test]
fn a_wrong_option_is_named() {
    for (right, wrong, named) in [
        ("--data d", "", "--data"),
        ("--data d", "--data d --certificates some", "--certificates"),
        ("--local-work 0.25,1", "", "--local-work"),
        ("--rounds 50", "", "--rounds"),
        ("--output o.json", "", "--output"),
        ("--output o.json", "--output", "--output"),
        ("--data d", "--data d --data e", "--data"),
        ("--data d", "--data d --date e", "--date"),
        ("0.25,1", "0.25,,1", "--local-work"),
        ("0.25,1", "0", "--local-work"),
        ("0.25,1", "-1", "--local-work"),
        ("0.25,1", "inf", "--local-work"),
        ("0.25,1", "all", "--local-work"),
        ("--rounds 50", "--rounds 0", "--rounds"),
        ("--rounds 50", "--rounds 1.5", "--rounds"),
    ] {
        let message = parse(&RIGHT.replace(right, wrong)).unwrap_err();
        assert!(message.starts_with(&format!("{named}: ")), "{message}");
    }
}

const SGD: &str = "--data d --step 0.5 --steps 1,2.0,5 --output o";

fn parse_sgd(text: &str) -> Result<SgdOptions, String> {
    let arguments = text.split_whitespace().map(Into::into);
    SgdOptions::parse(arguments).map_err(|failure| failure.to_string())
}

#[test]
fn options_of_sgd_are_read() {
    let expected = SgdOptions {
        data: "d".into(),
        step: 0.5,
        steps: vec![1, 2, 5],
        output: "o".into(),
    };
    assert_eq!(parse_sgd(SGD), Ok(expected));
}

#[test]
fn a_wrong_option_of_sgd_is_named() {
    for (right, wrong, named) in [
        ("--data d", "", "--data"),
        ("--step 0.5", "", "--step"),
        ("--steps 1,2.0,5", "", "--steps"),
        ("--output o", "", "--output"),
        ("0.5", "0", "--step"),
        ("0.5", "inf", "--step"),
        ("1,2.0,5", "1,2.5,5", "--steps"),
        ("1,2.0,5", "0,2,5", "--steps"),
        ("1,2.0,5", "1,5,5", "--steps"),
        ("1,2.0,5", "1,,5", "--steps"),
        ("--data d", "--data d --rounds 3", "--rounds"),
    ] {
        let message = parse_sgd(&SGD.replace(right, wrong)).unwrap_err();
        assert!(message.starts_with(&format!("{named}: ")), "{message}");
    }
}
