//! What resumable work reports after each slice.

/// Whether resumable work needs another call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The budget of this call is used up: call again.
    More,
    /// The work is finished.
    Done,
}
