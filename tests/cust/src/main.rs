//! A program of cust that launches a kernel of an image.

#[cfg(test)]
mod tests;

use cust::{context::CurrentContext, launch, memory::CopyDestination, module::Module, prelude::*};
use gpukernel::{Device as Gpu, Image};

static KERNELS: Image = gpukernel::image!("kernels");

/// What cust computes: `y + a * x`.
fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let context = cust::quick_init()?;
    // The only lines that are not as before: they ask for the code for the GPU, in place of reading a file.
    let code = Gpu::gpu(0)?.code_of(&KERNELS)?;
    CurrentContext::set_current(&context)?;
    let module = match (code.cubin(), code.ptx()) {
        (Some(cubin), _) => Module::from_cubin(cubin, &[])?,
        (None, ptx) => Module::from_ptx(ptx.unwrap_or_default(), &[])?,
    };
    let kernel =
        module.get_function(code.symbol("cust_test_kernels::saxpy").ok_or("the image has no saxpy")?)?;

    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (x, y) = (x.as_dbuf()?, y.as_dbuf()?);
    let blocks = u32::try_from(x.len().div_ceil(256))?;
    // SAFETY: the arguments are those of the kernel, slices as address and length, of which both are as long.
    unsafe {
        launch!(kernel<<<blocks, 256, 0, stream>>>(a, x.as_device_ptr(), x.len(), y.as_device_ptr(), y.len()))?;
    }
    stream.synchronize()?;
    let mut result = vec![0.0; y.len()];
    y.copy_to(&mut result)?;
    Ok(result)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: Vec<f32> = (0_u8..10).map(f32::from).collect();
    println!("{:?}", saxpy(2.0, &x, &[100.0; 10])?);
    Ok(())
}
