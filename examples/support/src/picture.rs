//! Pictures as PNG files.

use std::{fs::File, io::BufWriter, path::Path};

use anyhow::{Context, Result};
use png::ColorType;

/// Writes pixels in shades of grey, row by row, and says so on standard output.
///
/// # Errors
/// If the file cannot be written, or the pixels are not rows of `width`.
pub fn write_grey(path: &Path, width: usize, pixels: &[u8]) -> Result<()> {
    write(path, ColorType::Grayscale, width, pixels)
}

/// Writes pixels of red, green and blue, row by row, and says so on standard output.
///
/// # Errors
/// As [`write_grey`].
pub fn write_colour(path: &Path, width: usize, pixels: &[[u8; 3]]) -> Result<()> {
    write(path, ColorType::Rgb, width, pixels.as_flattened())
}

fn write(path: &Path, color: ColorType, width: usize, bytes: &[u8]) -> Result<()> {
    encode(path, color, width, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}

fn encode(path: &Path, color: ColorType, width: usize, bytes: &[u8]) -> Result<()> {
    let row_bytes = width * color.samples();
    let height = bytes.len().checked_div(row_bytes).unwrap_or(0);
    let mut encoder =
        png::Encoder::new(BufWriter::new(File::create(path)?), width.try_into()?, height.try_into()?);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Size and bytes of a picture.
    fn read(path: &Path) -> (u32, u32, Vec<u8>) {
        let file = std::io::BufReader::new(File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        (frame.width, frame.height, bytes)
    }

    #[test]
    fn pictures_have_the_pixels_that_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.png");
        write_grey(&path, 3, &[0, 128, 255, 1, 2, 3]).unwrap();
        assert_eq!(read(&path), (3, 2, vec![0, 128, 255, 1, 2, 3]));
        write_colour(&path, 1, &[[1, 2, 3], [4, 5, 6]]).unwrap();
        assert_eq!(read(&path), (1, 2, vec![1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn what_is_no_picture_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.png");
        for (width, pixels) in [(0, &[1_u8][..]), (3, &[]), (3, &[1, 2, 3, 4])] {
            let error = write_grey(&path, width, pixels).unwrap_err();
            assert!(error.to_string().contains("picture.png"), "{error}");
        }
        assert!(write_grey(&folder.path().join("none/picture.png"), 1, &[1]).is_err());
    }
}
