//! Rendering on a device: size and iterations go in, pixels and times come out.

use std::time::Duration;

use gpukernel::{Device, Image, Result, for_each_2d};
use mandelbrot_kernels::{View, mandelbrot};

static KERNELS: Image = gpukernel::image!("kernels");

/// What to render.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture {
    /// Pixels per row.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// When a point counts as one of the set.
    pub(crate) iterations: u32,
}

/// Times on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Of the kernel.
    pub(crate) kernel: Duration,
    /// Of the copy of the pixels to the host.
    pub(crate) copy: Duration,
}

/// The pixels, row by row, and how long they took.
pub(crate) fn render(device: &Device, picture: Picture) -> Result<(Vec<u8>, Times)> {
    let Picture { width, height, iterations } = picture;
    let module = device.load(&KERNELS)?;
    let mut image = device.zeroed(width * height)?;
    let view = View::new(width, height);

    let stream = device.default_stream();
    let start = stream.record()?;
    module.launch(mandelbrot, for_each_2d(height, width), (view, iterations, image.view_2d_mut(width)?))?;
    let rendered = stream.record()?;
    let pixels = image.to_vec()?;
    let copied = stream.record()?;
    copied.synchronize()?;
    let times = Times { kernel: rendered.elapsed_since(&start)?, copy: copied.elapsed_since(&rendered)? };
    Ok((pixels, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same in one loop, without a device.
    fn reference(picture: Picture) -> Vec<u8> {
        let view = View::new(picture.width, picture.height);
        let places = (0..picture.height).flat_map(|row| (0..picture.width).map(move |column| (row, column)));
        places
            .map(|(row, column)| {
                let (x, y) = view.point(row, column);
                mandelbrot_kernels::brightness(x, y, picture.iterations)
            })
            .collect()
    }

    #[test]
    fn the_cpu_device_computes_what_a_plain_loop_does() {
        for (width, height) in [(1, 1), (7, 3), (61, 43), (300, 1), (1, 300), (256, 256)] {
            let picture = Picture { width, height, iterations: 50 };
            let (pixels, _) = render(&Device::cpu(), picture).unwrap();
            assert!(pixels == reference(picture), "{picture:?}");
        }
    }

    /// `--width 600 --height 400`, as the book says.
    #[test]
    fn the_picture_in_the_readme_is_what_the_program_draws() {
        let file = include_bytes!("../../../docs/src/images/mandelbrot.png");
        let mut shown = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels_shown = vec![0; 600 * 400];
        let frame = shown.next_frame(&mut pixels_shown).unwrap();
        assert_eq!((frame.width, frame.height, frame.color_type), (600, 400, png::ColorType::Grayscale));
        let (pixels, _) =
            render(&Device::cpu(), Picture { width: 600, height: 400, iterations: 256 }).unwrap();
        assert!(pixels_shown == pixels);
    }

    /// On the edge of the set, where points escape late or never, one rounding instead of two decides.
    #[test]
    fn every_device_agrees_but_for_the_edge() {
        let picture = Picture { width: 300, height: 200, iterations: 100 };
        let expected = reference(picture);
        for device in gpukernel::devices().unwrap() {
            let (pixels, _) = render(&device, picture).unwrap();
            let differing = pixels.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert!(differing <= pixels.len() / 1000, "{device}: {differing} pixels differ");
        }
    }
}
