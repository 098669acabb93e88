//! Attacks on the layouts of arrays, whose fields are private.

use gpu_std::view::layout::LayoutNd;

/// What a layout holds is not up to safe code.
fn forge(layout: LayoutNd) -> LayoutNd {
    LayoutNd { extents: [1 << 20; 6], ..layout }
}

fn main() {}
