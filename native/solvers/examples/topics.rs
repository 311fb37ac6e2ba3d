//! Topics of a file with a document on each line: `cargo run --example topics [FILE]`.

use std::{collections::BTreeMap, env, error::Error, fs};

use dwell_solvers::lda::{Documents, Kernel, Lambda, LdaParams, WordCounts};
use dwell_solvers::{Values, Views};

/// The five most frequent words of each topic, after some passes over the documents.
pub fn train(path: &str, topics: usize, passes: u64) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let (mut words, mut numbers) = (vec![], BTreeMap::new());
    let (mut offsets, mut indices, mut counts) = (vec![0], vec![], vec![]);
    for line in text.lines() {
        let mut document = BTreeMap::new();
        for word in line.split_whitespace() {
            let number = *numbers.entry(word).or_insert(words.len() as i32);
            words.resize(numbers.len(), word);
            *document.entry(number).or_insert(0.0f32) += 1.0;
        }
        indices.extend(document.keys());
        counts.extend(document.values());
        offsets.push(indices.len() as i32);
    }
    let blocks = [Documents::new(
        words.len(),
        &offsets,
        &indices,
        Values::F32(&counts),
    )?];
    let mut params = LdaParams::of_corpus(topics, offsets.len() - 1);
    params.budget *= passes;
    let mut lambda = Lambda::<f32>::initial(topics, words.len(), 0.1, 1)?;
    (params.check()?).run(
        &mut lambda,
        &mut Views::<WordCounts>::new(&blocks)?,
        Kernel::detect(),
        None,
    )?;
    let top = |topic| {
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by(|&a, &b| lambda.value(b, topic).total_cmp(&lambda.value(a, topic)));
        order
            .iter()
            .take(5)
            .map(|&word| words[word].into())
            .collect()
    };
    Ok((0..topics).map(top).collect())
}

#[allow(dead_code, reason = "a test trains as well")]
fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/documents.txt");
    println!(
        "{:#?}",
        train(&env::args().nth(1).unwrap_or(file.into()), 2, 50)?
    );
    Ok(())
}
