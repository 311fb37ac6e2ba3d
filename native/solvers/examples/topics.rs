//! Topics of a file with a document on each line: `cargo run --example topics [FILE]`.

use std::{collections::BTreeMap, error::Error, fs};

use dwell_solvers::{
    Values, Views,
    lda::{Documents, EStepParams, Kernel, Lambda, LdaParams, LdaSchedule, WordCounts},
};

/// The words of each topic, the most frequent ones first, after some passes over the documents.
pub fn train(path: &str, topics: usize, passes: u64) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let mut words: Vec<&str> = lines.concat();
    words.sort_unstable();
    words.dedup();
    let (mut offsets, mut indices, mut counts) = (vec![0], vec![], vec![]);
    for line in &lines {
        let mut document = BTreeMap::new();
        line.iter().for_each(|word| {
            *document
                .entry(words.binary_search(word).unwrap_or(0) as i32)
                .or_insert(0.0f32) += 1.0
        });
        indices.extend(document.keys());
        counts.extend(document.values());
        offsets.push(indices.len() as i32);
    }
    let documents = Documents::new(words.len(), &offsets, &indices, Values::F32(&counts))?;

    let visits = passes * lines.len() as u64;
    let params = LdaParams {
        alpha: vec![0.1; topics],
        e_step: EStepParams::default(),
        schedule: LdaSchedule {
            tau0: 1.0,
            kappa: 0.7,
            base: lines.len() as f64,
        },
        corpus: lines.len() as f64,
        workers: 1,
        batch: lines.len(),
        budget: visits,
        seed: 1,
        partition: 0,
        cursor: 0,
        seen: 0,
        concentration: false,
    };
    let mut lambda = Lambda::<f32>::initial(topics, words.len(), 0.1, 1)?;
    let blocks = [documents];
    let mut blocks = Views::<WordCounts>::new(&blocks)?;
    params
        .check()?
        .run(&mut lambda, &mut blocks, Kernel::detect(), None)?;
    let top = |topic| {
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by(|&a, &b| lambda.value(b, topic).total_cmp(&lambda.value(a, topic)));
        order
            .iter()
            .take(5)
            .map(|&word| words[word].to_owned())
            .collect()
    };
    Ok((0..topics).map(top).collect())
}

#[allow(dead_code, reason = "a test trains as well")]
fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/documents.txt");
    for words in train(
        &std::env::args().nth(1).unwrap_or_else(|| file.into()),
        2,
        50,
    )? {
        println!("{}", words.join(" "));
    }
    Ok(())
}
