//! The cell of a feature: its numbers in the model, and their positions.
//!
//! All numbers of a feature are in one cell, so that a step that touches the feature touches one cache line: x of every output, the mark,
//! the scale and its root.

/// Layout of a cell. Steps are compiled for every [`Single`], which fixes all of it, and once for [`Layout`].
pub(super) trait Shape: Copy {
    fn outputs(self) -> usize;

    /// Whether there is an L1 penalty, and with it the mark: the time up to which the cell is up to date.
    fn threshold(self) -> bool;

    /// Whether there is a scale.
    fn scaled(self) -> bool;

    #[inline(always)]
    fn mark(self) -> usize {
        self.outputs()
    }

    #[inline(always)]
    fn scale(self) -> usize {
        self.mark() + usize::from(self.threshold())
    }

    #[inline(always)]
    fn root(self) -> usize {
        self.scale() + 1
    }

    /// Numbers in a cell, with padding: no small cell straddles two cache lines.
    #[inline(always)]
    fn stride(self) -> usize {
        let root = self.scaled() && self.threshold();
        let numbers = self.scale() + usize::from(self.scaled()) + usize::from(root);
        if numbers <= LINE {
            numbers.next_power_of_two()
        } else {
            numbers
        }
    }

    /// The cell of a feature.
    #[inline(always)]
    fn cell(self, cells: &mut [f64], feature: usize) -> &mut [f64] {
        &mut cells[feature * self.stride()..][..self.stride()]
    }
}

/// Numbers in a cache line.
pub(super) const LINE: usize = 8;

/// A layout with one output that the compiler knows, `STRIDE` included.
#[derive(Clone, Copy)]
pub(super) struct Single<const THRESHOLD: bool, const SCALED: bool, const STRIDE: usize>;

impl<const THRESHOLD: bool, const SCALED: bool, const STRIDE: usize> Shape
    for Single<THRESHOLD, SCALED, STRIDE>
{
    #[inline(always)]
    fn outputs(self) -> usize {
        1
    }

    #[inline(always)]
    fn threshold(self) -> bool {
        THRESHOLD
    }

    #[inline(always)]
    fn scaled(self) -> bool {
        SCALED
    }

    /// With one bounds check.
    #[inline(always)]
    fn cell(self, cells: &mut [f64], feature: usize) -> &mut [f64] {
        debug_assert_eq!(self.stride(), STRIDE);
        &mut cells.as_chunks_mut::<STRIDE>().0[feature]
    }
}

/// Any layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub outputs: usize,
    pub threshold: bool,
    pub scaled: bool,
}

impl Shape for Layout {
    #[inline(always)]
    fn outputs(self) -> usize {
        self.outputs
    }

    #[inline(always)]
    fn threshold(self) -> bool {
        self.threshold
    }

    #[inline(always)]
    fn scaled(self) -> bool {
        self.scaled
    }
}

/// Work that is compiled for every [`Single`] and for [`Layout`].
pub(super) trait WithShape {
    type Output;
    fn run<S: Shape>(self, shape: S) -> Self::Output;
}

/// Runs `work` on the shape of `layout`.
pub(super) fn with_shape<W: WithShape>(layout: Layout, work: W) -> W::Output {
    if layout.outputs > 1 {
        return work.run(layout);
    }
    match (layout.threshold, layout.scaled) {
        (false, false) => work.run(Single::<false, false, 1>),
        (false, true) => work.run(Single::<false, true, 2>),
        (true, false) => work.run(Single::<true, false, 2>),
        (true, true) => work.run(Single::<true, true, 4>),
    }
}
