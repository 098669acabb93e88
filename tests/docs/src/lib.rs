//! Checks of the Markdown files of the repository, without the network: links to files and headings, and the chapters of the book.
//!
//! [`Tree::read`] reads the files, [`Tree::mistakes`] lists what is wrong with them. mdBook itself finds none of this except a
//! chapter that is missing: it turns every link to `.md` into one to `.html`, whether that exists or not.

mod page;
mod tree;

pub use page::{Link, Page};
pub use tree::{Mistake, Tree};
