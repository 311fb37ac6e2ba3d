//! The functions of `dwell.jni.NativeBridge`, which documents them: decode, call, write.
//!
//! | module | |
//! |---|---|
//! | [`methods`] | the table of all functions, and how it is bound to the class |
//! | [`calls`] | the calls on a partition |
//! | [`facts`] | the sums that come with reading |
//! | [`lda`] | the calls of LDA |
//! | [`margins`] | the call on margins |
//! | [`newton`] | the functions of the quadratic model of Newton's method |
//! | [`pass`] | the functions of a pass over rows |
//! | [`quasi_newton`] | the functions of a search by L-BFGS |
//! | [`search`] | the vectors of such a search |
//! | [`states`] | the functions on worker states and checks |
//! | [`blocks`] | the arguments of a call on blocks, and the loan of one block after another |
//! | [`block`] | the arrays of one block of rows, and their loan |
//! | [`handles`] | objects that Java knows by a handle |
//! | [`arguments`] | Java arrays that are copied |

pub mod arguments;
pub mod block;
pub mod blocks;
pub mod calls;
pub mod facts;
pub mod handles;
pub mod lda;
pub mod margins;
pub mod methods;
pub mod newton;
pub mod pass;
pub mod quasi_newton;
pub mod search;
pub mod states;
