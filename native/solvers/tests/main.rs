//! Tests of the solvers through their public functions, in one program, since each program compiles and links the whole library anew.

mod common;

mod descent;
mod dual;
mod examples;
mod golden;
mod hostile;
mod lda;
mod lda_bound;
mod lda_special;
mod loans;
mod margins;
mod network;
mod primal;
mod proximal;
mod reference;
mod sgd;
