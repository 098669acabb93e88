//! Attacks on the layouts of arrays, whose fields are private.

use gpu_std::view::layout::{LayoutNd, LayoutPlane};

/// What a layout holds is not up to safe code.
fn forge(layout: LayoutNd) -> LayoutNd {
    LayoutNd { extents: [1 << 20; 6], ..layout }
}

/// As of two axes at most.
fn forge_plane(layout: LayoutPlane) -> LayoutPlane {
    LayoutPlane { extents: [1 << 20; 2], ..layout }
}

fn main() {}
