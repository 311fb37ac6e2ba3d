//! Documents, in blocks that their owner lends.

use std::ops::Range;

use crate::base::{
    blocks::{Blocks, COORDINATE, Loan},
    error::{SolverError, same_length},
    matrix::{Columns, MatrixView, Stored, Values},
    views::Kind,
};

/// Largest count: with it, `f32` sums over a document are finite.
const MAX_COUNT: f64 = 1e9;

/// Smallest count above 0: its products with factors of phi are not subnormal.
const MIN_COUNT: f64 = 1e-6_f32 as f64;

/// Documents as counts of words; borrowed, never copied.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | offsets | m + 1, i32 | entries of document d are `offsets[d]..offsets[d + 1]`; starts at 0, never falls, ends at the number of entries |
/// | words | entries, i32 | in `0..vocabulary`, strictly increasing inside a document |
/// | counts | entries: none where all are 1, f32 or f64 | how often the word is there: 0, or 1e-6 to 1e9 |
///
/// An entry with a count of 0 is ignored. A document without other entries is empty.
#[derive(Debug, Clone, Copy)]
pub struct Documents<'a> {
    entries: Columns<'a>,
    words: &'a [i32],
    counts: Values<'a>,
}

impl<'a> Documents<'a> {
    /// Checks every invariant of the table above: O(entries).
    ///
    /// # Errors
    /// Those of [`MatrixView::sparse`] and [`Columns::new`], with documents as columns and words as rows; `Shape` names the document and the word of a count out of range.
    pub fn new(
        vocabulary: usize,
        offsets: &'a [i32],
        words: &'a [i32],
        counts: Values<'a>,
    ) -> Result<Self, SolverError> {
        let entries = Columns::new(MatrixView::sparse(vocabulary, offsets, words, counts)?)?;
        let documents = Self::validated_before(entries)?;
        documents.check_counts(0..documents.len())?;
        Ok(documents)
    }

    /// From arrays that [`Columns::new`] and [`Documents::check_counts`] have accepted.
    ///
    /// # Errors
    /// `Shape` if the matrix is dense.
    pub fn validated_before(entries: Columns<'a>) -> Result<Self, SolverError> {
        match entries.stored() {
            Stored::Sparse(_, words, counts) => Ok(Self {
                entries,
                words,
                counts,
            }),
            Stored::Dense32(_) | Stored::Dense64(_) => Err(SolverError::Shape(
                "documents are dense: every count must have its word".into(),
            )),
        }
    }

    /// Checks the counts of the documents in `which`.
    ///
    /// # Errors
    /// `Shape` names the document and the word of a count out of range.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn check_counts(&self, which: Range<usize>) -> Result<(), SolverError> {
        if matches!(self.counts, Values::Ones) {
            return Ok(());
        }
        for document in which {
            for entry in self.entries.entries(document) {
                let count = self.count(entry);
                if count != 0.0 && !(MIN_COUNT..=MAX_COUNT).contains(&count) {
                    return Err(SolverError::Shape(format!(
                        "document {document} has a count of {count} for word {}: counts are 0, or 1e-6 to 1e9",
                        self.words[entry]
                    )));
                }
            }
        }
        Ok(())
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// V: words are numbers from 0 to V - 1.
    pub fn vocabulary(&self) -> usize {
        self.entries.rows()
    }

    /// Number of entries of document `d`.
    ///
    /// # Panics
    /// If there is no document `d`.
    pub fn length(&self, d: usize) -> usize {
        self.entries.entries(d).len()
    }

    /// Word and count of each entry of document `d` whose count is not 0, in order.
    ///
    /// # Panics
    /// If there is no document `d`.
    #[inline(always)]
    pub fn document(self, d: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        self.entries
            .entries(d)
            .map(move |entry| (self.words[entry] as usize, self.count(entry)))
            .filter(|&(_, count)| count > 0.0)
    }

    #[inline(always)]
    fn count(&self, entry: usize) -> f64 {
        match self.counts {
            Values::Ones => 1.0,
            Values::F32(counts) => counts[entry].into(),
            Values::F64(counts) => counts[entry],
        }
    }
}

/// The documents of a worker, in blocks: the coordinates of [`Blocks`].
pub trait DocumentBlocks: for<'a> Blocks<Block<'a> = Documents<'a>> {
    /// Number of documents of all blocks.
    fn documents(&self) -> usize {
        self.starts()[self.count()]
    }
}

impl<B: for<'a> Blocks<Block<'a> = Documents<'a>>> DocumentBlocks for B {}

/// Blocks of documents.
#[derive(Debug)]
pub enum WordCounts {}

impl Kind for WordCounts {
    type Data<'a> = Documents<'a>;

    fn count(data: &Documents<'_>) -> usize {
        data.len()
    }
}

/// A document of a loan.
///
/// # Errors
/// `Shape` if the document has another vocabulary; those of the owner.
///
/// # Panics
/// If the block of the document has fewer than its owner says.
pub(super) fn lent<'a, E: From<SolverError>>(
    loan: &mut Loan<'_, Documents<'a>, E>,
    document: usize,
    vocabulary: usize,
) -> Result<impl Iterator<Item = (usize, f64)> + use<'a, E>, E> {
    let (documents, own) = loan.at(document)?;
    same_length("the vocabulary", documents.vocabulary(), vocabulary, "word")?;
    loan.spend(COORDINATE + documents.length(document - own.start));
    Ok(documents.document(document - own.start))
}

/// About how many entries are copied at a time, for each thread: they stay in the cache.
const COPIED: usize = 1 << 14;

/// Copies of documents, which are read while nothing is lent.
#[derive(Debug, Default)]
pub(super) struct Copies {
    words: Vec<(usize, f64)>,
    /// Where each document ends.
    ends: Vec<usize>,
}

impl Copies {
    /// Copies the first ones of these documents in one loan, at least one, to be read by so many threads: the words, with their counts above 0.
    ///
    /// # Errors
    /// Those of [`lent`].
    pub fn take<B: DocumentBlocks>(
        &mut self,
        blocks: &mut B,
        documents: impl Iterator<Item = usize>,
        vocabulary: usize,
        threads: usize,
    ) -> Result<(), B::Error> {
        self.words.clear();
        self.ends.clear();
        blocks.lend(|loan| {
            for document in documents {
                self.words.extend(lent(loan, document, vocabulary)?);
                self.ends.push(self.words.len());
                if self.words.len() >= COPIED * threads || loan.is_over() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Word and count of each entry of a document.
    pub fn words(&self, document: usize) -> &[(usize, f64)] {
        let start = document
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[document]]
    }
}
