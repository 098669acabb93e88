//! Fetches toolchains.
