//! Arrays of other libraries, and ours for them: DLPack through its structs, array interfaces, and addresses.
//!
//! In a program of their own, one after another: they count the buffers of the process.

use std::{
    ptr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use array_test_kernels::quotient;
use dlpark::{
    DlpackFlags, Managed, ManagedTensorBase,
    ffi::{DLDataType, DLDataTypeCode, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion},
    legacy,
    metadata::Dynamic,
    versioned,
};
use gpu_std::{
    complex::Complex,
    half::{bf16, f16},
};
use gpukernel::{Buffer, Device, for_each};
use gpukernel_array::{
    Array, ArrayFunction, ArrayInterface, ConsumerStream, Element, ElementType, Error, ExportedArray,
    ForeignArray, Result, add, module,
};
use gpukernel_array_tests::{alone, on_every_device_alone};
use ndarray::{Axis, Dimension, Ix0, Ix1, Ix2, IxDyn, s};

/// What a producer has: an array, and a count of how often it was asked to free it.
struct Producer<T: Element> {
    array: Array<T, IxDyn>,
    freed: Arc<AtomicUsize>,
}

impl<T: Element> Drop for Producer<T> {
    fn drop(&mut self) {
        self.freed.fetch_add(1, Ordering::Relaxed);
    }
}

fn dlpack_device(device: &Device) -> DLDevice {
    device.gpu_index().map_or(DLDevice::CPU, |index| DLDevice::cuda(index as i32))
}

/// A tensor of numbers from 0 on, as another library would make it, of a shape and strides and from an element on.
fn tensor<M: ManagedTensorBase>(
    device: &Device,
    (len, from): (usize, usize),
    shape: &[i64],
    strides: &[i64],
    freed: &Arc<AtomicUsize>,
) -> Managed<M> {
    let array = Array::from_shape_fn(device, len, |i| i as i32).expect("there is memory").into_dyn();
    let mut producer = Box::new(Producer { array, freed: Arc::clone(freed) });
    device.synchronize().expect("it is written");
    let data = producer.array.as_mut_slice().as_mut_ptr();
    let metadata = Dynamic::new(shape, strides).initialize_as::<M>(producer);
    let mut tensor = metadata.expect("it has few axes");
    tensor.set_data(data.cast()).set_byte_offset(4 * from as u64);
    tensor.set_dtype(DLDataType::I32).set_device(dlpack_device(device));
    // SAFETY: the producer has the elements.
    unsafe { tensor.finish() }
}

fn taken<M: ManagedTensorBase + 'static>(tensor: Managed<M>) -> Result<ForeignArray<i32, IxDyn>> {
    // SAFETY: the producer has the elements, and uses them no more. What the tests say wrongly is refused.
    unsafe { ForeignArray::from_dlpack(tensor, None) }
}

fn round_trip<T: Element + PartialEq + std::fmt::Debug>(device: &Device, elements: [T; 6]) -> Result<()> {
    let x = Array::from_shape_vec(device, (2, 3), elements)?;
    let address = x.as_slice().as_ptr();
    let tensor = x.into_dlpack(ConsumerStream::wait())?;
    let found = tensor.validate().expect("it is a tensor");
    assert_eq!((found.shape(), found.strides()), (&[2, 3][..], Some(&[3, 1][..])));
    assert_eq!((found.device(), found.data_ptr()), (dlpack_device(device), address.cast()));
    assert_eq!(ElementType::from_dlpack(found.dtype()), Some(T::ELEMENT_TYPE));
    assert_eq!(tensor.flags(), DlpackFlags::empty());
    // SAFETY: it was an array, which nobody else has.
    let y: ForeignArray<T, Ix2> =
        unsafe { ForeignArray::from_dlpack(tensor, Some(&device.default_stream()))? };
    assert_eq!((y.view().to_vec()?, y.device()), (elements.to_vec(), device));
    let y = y.into_array()?;
    assert_eq!(y.as_slice().as_ptr(), address, "it is the same memory");
    // And back, of memory of another library, to one from before version 1.
    let tensor = ExportedArray::new(y).to_legacy_dlpack(ConsumerStream::legacy_default())?;
    // SAFETY: as above.
    let y: ForeignArray<T, Ix2> = unsafe { ForeignArray::from_dlpack(tensor, None)? };
    assert_eq!(y.index_axis(Axis(0), 1)?.to_vec()?, elements[3..]);
    Ok(())
}

#[test]
fn tensors_go_and_come_without_copies() {
    on_every_device_alone(|device, _| {
        let before = device.memory_info().buffers;
        round_trip(device, [1_u8, 2, 3, 4, 5, 6])?;
        round_trip(device, [-1_i16, 2, 3, 4, 5, 6])?;
        round_trip(device, [1_i32, 2, 3, 4, 5, 6])?;
        round_trip(device, [1_u64, 2, 3, 4, 5, u64::MAX])?;
        round_trip(device, [1_isize, 2, 3, 4, 5, 6])?;
        round_trip(device, [1.0_f32, 2.0, 3.0, 4.0, 5.0, f32::INFINITY])?;
        round_trip(device, [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0])?;
        round_trip(device, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f16::from_f32))?;
        round_trip(device, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(bf16::from_f32))?;
        round_trip(device, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x| Complex::new(x, -x)))?;
        round_trip(device, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x: f32| Complex::new(x, -x)))?;
        round_trip(device, [true, false, true, true, false, true])?;
        assert_eq!(device.memory_info().buffers, before);
        Ok(())
    });
}

/// How many numbers there are and the first one, a shape, strides, and what is there.
type Case = ((usize, usize), &'static [i64], &'static [i64], &'static [i32]);

#[test]
fn tensors_of_any_strides_are_read_and_written() {
    on_every_device_alone(|device, _| {
        let freed = Arc::new(AtomicUsize::new(0));
        let cases: &[Case] = &[
            ((12, 0), &[3, 4], &[4, 1], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
            ((12, 0), &[4, 3], &[1, 4], &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
            ((12, 11), &[3, 2], &[-4, -2], &[11, 9, 7, 5, 3, 1]),
            ((12, 8), &[3, 2], &[-4, 1], &[8, 9, 4, 5, 0, 1]),
            ((12, 5), &[], &[], &[5]),
            ((12, 1), &[2, 1, 3], &[6, 1 << 60, 2], &[1, 3, 5, 7, 9, 11]),
            ((12, 0), &[0, 3], &[3, 1], &[]),
            ((0, 0), &[2, 0], &[1 << 62, -(1 << 62)], &[]),
        ];
        for &(place, shape, strides, expected) in cases {
            let mut x = taken(tensor::<DLManagedTensorVersioned>(device, place, shape, strides, &freed))?;
            assert_eq!(x.view().to_vec()?, expected, "{shape:?} {strides:?}");
            let sum = add::apply(&module(device)?, (&x, 1))?;
            let more: Vec<_> = expected.iter().map(|number| number + 1).collect();
            assert_eq!(sum.to_vec()?, more, "{shape:?} {strides:?}");
            x.view_mut()?.assign(&sum)?;
            assert_eq!(x.to_ndarray()?.into_raw_vec_and_offset().0, more, "{shape:?} {strides:?}");
            let is_standard = x.is_standard_layout();
            match x.into_array() {
                Ok(array) => assert!(is_standard && array.to_vec()? == more),
                Err(error) => assert!(!is_standard && matches!(error, Error::NeedsCopy { .. }), "{error}"),
            }
        }
        // Broadcast: to be read only.
        let mut x = taken(tensor::<DLManagedTensor>(device, (3, 0), &[2, 3], &[0, 1], &freed))?;
        assert_eq!(x.view().to_vec()?, [0, 1, 2, 0, 1, 2]);
        let error = x.view_mut().map(drop).unwrap_err();
        assert!(matches!(error, Error::Runtime(gpukernel::Error::OverlappingElements { .. })), "{error}");
        drop(x);
        assert_eq!(freed.load(Ordering::Relaxed), cases.len() + 1, "each producer was told once");
        Ok(())
    });
}

#[test]
fn what_is_read_only_is_not_written() {
    on_every_device_alone(|device, _| {
        let freed = Arc::new(AtomicUsize::new(0));
        let read_only = || {
            let mut tensor = tensor::<DLManagedTensorVersioned>(device, (3, 0), &[3], &[1], &freed);
            // SAFETY: it says less than before.
            unsafe { *tensor.flags_mut() |= DlpackFlags::READ_ONLY };
            taken(tensor)
        };
        let mut x = read_only()?;
        assert!(x.is_read_only() && x.view().to_vec()? == [0, 1, 2]);
        for error in [x.view_mut().map(drop).unwrap_err(), read_only()?.into_array().map(drop).unwrap_err()] {
            assert!(matches!(&error, Error::ReadOnly { shape } if shape == &[3]), "{error}");
        }
        let mut copy = x.to_owned()?;
        copy.assign(7)?;
        assert_eq!((copy.to_vec()?, x.to_vec()?), (vec![7; 3], vec![0, 1, 2]));
        Ok(())
    });
}

/// A change of what a tensor says, and the start of the error.
type Lie = (&'static str, fn(&mut DLManagedTensorVersioned), fn(&Error) -> bool);

#[test]
fn tensors_that_lie_are_refused_and_freed() {
    let foreign: fn(&Error) -> bool = |error| matches!(error, Error::Foreign { .. });
    let runtime: fn(&Error) -> bool =
        |error| matches!(error, Error::Runtime(gpukernel::Error::Foreign { .. }));
    let element: fn(&Error) -> bool = |error| matches!(error, Error::WrongElementType { .. });
    let lies: &[Lie] = &[
        ("ndim is negative", |t| t.dl_tensor.ndim = -1, foreign),
        ("shape pointer is null", |t| t.dl_tensor.shape = ptr::null_mut(), foreign),
        ("requires explicit strides", |t| t.dl_tensor.strides = ptr::null_mut(), foreign),
        // SAFETY: the shape has two numbers.
        ("is negative", |t| unsafe { *t.dl_tensor.shape = -2 }, foreign),
        // SAFETY: as above.
        ("overflows", |t| unsafe { *t.dl_tensor.shape = i64::MAX }, foreign),
        // SAFETY: as above.
        ("reaches further", |t| unsafe { *t.dl_tensor.strides = i64::MAX }, foreign),
        // SAFETY: as above.
        ("reaches further", |t| unsafe { *t.dl_tensor.strides = i64::MIN }, foreign),
        // SAFETY: as above.
        ("reaches further", |t| unsafe { *t.dl_tensor.strides = -(1 << 61) }, foreign),
        ("byte offset reaches beyond", |t| t.dl_tensor.byte_offset = u64::MAX, foreign),
        ("aligned to 4 bytes", |t| t.dl_tensor.byte_offset = 2, runtime),
        ("0x0, is not one of i32", |t| t.dl_tensor.data = ptr::null_mut(), runtime),
        ("uint32, not int32", |t| t.dl_tensor.dtype.code = DLDataTypeCode::UINT, element),
        ("float32, not int32", |t| t.dl_tensor.dtype = DLDataType::F32, element),
        ("int64, not int32", |t| t.dl_tensor.dtype.bits = 64, element),
        ("bool, not int32", |t| t.dl_tensor.dtype = DLDataType::BOOL, element),
        ("with 32 bits and 4 lanes, not int32", |t| t.dl_tensor.dtype.lanes = 4, element),
        ("code 17, with 4 bits", |t| t.dl_tensor.dtype = DLDataType::F4E2M1FN, element),
        ("code 200", |t| t.dl_tensor.dtype.code = DLDataTypeCode(200), element),
        ("bit width", |t| t.dl_tensor.dtype.bits = 0, foreign),
        ("lane", |t| t.dl_tensor.dtype.lanes = 0, foreign),
        ("type 10", |t| t.dl_tensor.device.device_type.0 = 10, foreign),
        ("type 0", |t| t.dl_tensor.device.device_type.0 = 0, foreign),
    ];
    on_every_device_alone(|device, _| {
        let freed = Arc::new(AtomicUsize::new(0));
        let before = device.memory_info().buffers;
        for (number, (text, lie, is_right)) in lies.iter().enumerate() {
            let raw = tensor::<DLManagedTensorVersioned>(device, (6, 0), &[2, 3], &[3, 1], &freed).into_raw();
            // SAFETY: nobody else has the tensor.
            let lying = unsafe {
                lie(&mut *raw);
                Managed::from_raw(raw).expect("it is of version 1")
            };
            let error = taken(lying).map(drop).unwrap_err();
            assert!(is_right(&error) && error.to_string().contains(text), "{text}: {error}");
            assert_eq!(freed.load(Ordering::Relaxed), number + 1, "{text}");
        }
        assert_eq!(device.memory_info().buffers, before);
        Ok(())
    });
}

#[test]
fn tensors_of_other_versions_devices_and_dimensions_are_refused_and_freed() {
    on_every_device_alone(|device, _| {
        let freed = Arc::new(AtomicUsize::new(0));
        let new = || tensor::<DLManagedTensorVersioned>(device, (6, 0), &[2, 3], &[3, 1], &freed);
        let raw = new().into_raw();
        // SAFETY: nobody else has the tensor.
        let newer = unsafe {
            (*raw).version = DLPackVersion { major: 2, minor: 0 };
            Managed::from_raw(raw)
        };
        assert!(newer.is_err());
        // SAFETY: as `taken`.
        let error = unsafe { ForeignArray::<i32, Ix1>::from_dlpack(new(), None) }.map(drop).unwrap_err();
        assert!(matches!(error, Error::WrongDimension { asked: 1, .. }), "{error}");
        let raw = new().into_raw();
        // SAFETY: as above.
        let elsewhere = unsafe {
            (*raw).dl_tensor.device = DLDevice::cuda(1000);
            Managed::from_raw(raw).expect("it is of version 1")
        };
        let error = taken(elsewhere).map(drop).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Runtime(gpukernel::Error::NoDriver { .. } | gpukernel::Error::NoSuchGpu { .. })
            ),
            "{error}"
        );
        let raw = new().into_raw();
        // SAFETY: as above.
        let negative = unsafe {
            (*raw).dl_tensor.device = DLDevice::cuda(-1);
            Managed::from_raw(raw).expect("it is of version 1")
        };
        assert!(taken(negative).map(drop).unwrap_err().to_string().contains("GPU -1"));
        assert_eq!(freed.load(Ordering::Relaxed), 4);
        if device.is_gpu() {
            // SAFETY: as `taken`.
            let error = unsafe {
                ForeignArray::<i32, Ix2>::from_dlpack(new(), Some(&Device::cpu().default_stream()))
            };
            let error = error.map(drop).unwrap_err();
            assert!(matches!(error, Error::Runtime(gpukernel::Error::WrongDevice { .. })), "{error}");
            // Memory of the host that claims to be the GPU's.
            let raw =
                tensor::<DLManagedTensorVersioned>(&Device::cpu(), (6, 0), &[6], &[1], &freed).into_raw();
            // SAFETY: as above.
            let host = unsafe {
                (*raw).dl_tensor.device = dlpack_device(device);
                Managed::from_raw(raw).expect("it is of version 1")
            };
            let error = taken(host).map(drop).unwrap_err();
            assert!(matches!(error, Error::Runtime(gpukernel::Error::Foreign { .. })), "{error}");
        }
        Ok(())
    });
}

#[test]
fn work_comes_before_the_end_of_memory() {
    on_every_device_alone(|device, _| {
        let freed = Arc::new(AtomicUsize::new(0));
        let len = 1 << 20;
        let mut sums = Vec::new();
        for _ in 0..10 {
            let x = taken(tensor::<DLManagedTensor>(device, (len, 0), &[len as i64], &[1], &freed))?;
            sums.push(add::apply(&module(device)?, (&x, &x))?);
            // On another thread, while the work may not be done.
            thread::spawn(move || drop(x)).join().expect("it ends");
            // What others may get the memory for.
            drop(Array::full(device, len, -1)?);
        }
        assert_eq!(freed.load(Ordering::Relaxed), 10);
        for sum in sums {
            let sum = sum.to_vec()?;
            assert!(sum.iter().enumerate().all(|(i, &sum)| sum == 2 * i as i32));
        }
        Ok(())
    });
}

#[test]
fn exports_come_after_the_work_and_free_once() {
    on_every_device_alone(|device, _| {
        let before = device.memory_info().buffers;
        let len = 1 << 20;
        let x = Array::from_shape_fn(device, len as usize, |i| i as i32)?;
        let y = ExportedArray::new(add::apply(&module(device)?, (&x, 1))?);
        let streams = [
            ConsumerStream::legacy_default(),
            ConsumerStream::wait(),
            // SAFETY: the per-thread default stream is always there.
            unsafe { ConsumerStream::from_raw(ptr::without_provenance_mut(2)) },
        ];
        let tensors = streams.map(|stream| y.to_dlpack(stream)).into_iter().collect::<Result<Vec<_>>>()?;
        assert_eq!(
            (y.shape(), y.device(), y.element_type()),
            (&[len as usize][..], device, i32::ELEMENT_TYPE)
        );
        assert_eq!(y.interface()?.shape, [len as usize]);
        drop(y);
        assert_eq!(device.memory_info().buffers, before + 2);
        for tensor in tensors {
            let z = thread::spawn(|| taken(tensor)).join().expect("it ends")?;
            assert_eq!(z.slice(s![-1..])?.to_vec()?, [len]);
        }
        assert_eq!(device.memory_info().buffers, before + 1);
        // Nothing, and one element.
        for shape in [vec![0], vec![3, 0, 2], vec![]] {
            let exported = ExportedArray::new(Array::<f32, _>::zeros(device, IxDyn(&shape))?);
            let tensor = exported.to_dlpack(ConsumerStream::unordered())?;
            let found = tensor.validate().expect("it is one");
            assert_eq!(found.shape(), shape.iter().map(|&extent| extent as i64).collect::<Vec<_>>());
            assert_eq!(found.data_ptr().is_null(), shape.contains(&0));
            // SAFETY: it was an array, which nobody else has.
            let y: ForeignArray<f32, IxDyn> = unsafe { ForeignArray::from_dlpack(tensor, None)? };
            assert_eq!(y.to_vec()?, vec![0.0; shape.iter().product()]);
        }
        drop(x);
        assert_eq!(device.memory_info().buffers, before);
        Ok(())
    });
}

#[test]
fn a_panic_of_a_kernel_is_told_before_its_results_are_given_away() {
    let _alone = alone();
    let device = Device::cpu();
    let module = device.load(&gpukernel_array_tests::KERNELS).expect("it is there");
    let x = Array::from_vec(&device, [1, 2, 3]).expect("there is memory");
    let y = quotient::apply(&module, (&x, 0)).expect("it is queued");
    let error = y.into_dlpack(ConsumerStream::legacy_default()).map(drop).unwrap_err();
    assert!(matches!(error, Error::Runtime(gpukernel::Error::KernelPanicked { .. })), "{error}");
}

#[test]
fn interfaces_go_and_come() {
    on_every_device_alone(|device, _| {
        let mut x = Array::from_shape_fn(device, (2, 3), |(row, column)| (3 * row + column) as f32)?;
        let interface = x.slice(s![.., ..;-1])?.interface()?;
        let address = x.as_slice().as_ptr().addr();
        let expected = ArrayInterface {
            strides: Some(vec![12, -4]),
            ..ArrayInterface::new((address + 8, true), "<f4", [2, 3])
        };
        assert_eq!(interface, expected);
        let as_others = |interface: &ArrayInterface| -> Result<ForeignArray<f32, Ix2>> {
            // SAFETY: it describes `x`, which lives longer.
            unsafe { ForeignArray::from_interface(device, interface, ()) }
        };
        let mut reversed = as_others(&interface)?;
        assert_eq!(reversed.to_vec()?, [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
        assert!(matches!(reversed.view_mut().map(drop), Err(Error::ReadOnly { .. })));
        drop(reversed);
        let writable = x.interface()?;
        assert_eq!(writable.data, (address, false));
        for strides in [None, Some(vec![12, 4])] {
            as_others(&ArrayInterface { strides, ..writable.clone() })?.view_mut()?.assign(9.0)?;
        }
        assert_eq!(x.to_vec()?, [9.0; 6]);
        if device.is_gpu() {
            for stream in [1, 2] {
                let on_stream = ArrayInterface { stream: Some(stream), ..writable.clone() };
                assert_eq!(as_others(&on_stream)?.to_vec()?, [9.0; 6]);
            }
        }
        let no_name = Array::from_vec(device, [bf16::from_f32(1.0)])?.interface().unwrap_err();
        assert!(matches!(no_name, Error::NoSuchElementType { .. }), "{no_name}");
        // SAFETY: as above.
        let scalar: ForeignArray<f32, Ix0> = unsafe {
            ForeignArray::from_interface(device, &ArrayInterface::new((address, false), "<f4", []), ())?
        };
        assert_eq!(scalar.to_vec()?, [9.0]);
        Ok(())
    });
}

#[test]
fn interfaces_that_lie_are_refused() {
    on_every_device_alone(|device, _| {
        let mut x = Array::<f64, _>::zeros(device, (2, 3))?;
        let good = x.interface()?;
        let owner = Arc::new(());
        let lies: Vec<(&str, ArrayInterface)> = vec![
            ("version 1", ArrayInterface { version: 1, ..good.clone() }),
            ("float32, not float64", ArrayInterface { typestr: "<f4".to_owned(), ..good.clone() }),
            ("byte order of other machines", ArrayInterface { typestr: ">f8".to_owned(), ..good.clone() }),
            ("not a type of numbers", ArrayInterface { typestr: "<M8[ns]".to_owned(), ..good.clone() }),
            ("2 axes and 1 strides", ArrayInterface { strides: Some(vec![8]), ..good.clone() }),
            ("a stride is 12 bytes", ArrayInterface { strides: Some(vec![12, 8]), ..good.clone() }),
            ("reaches further", ArrayInterface { strides: Some(vec![isize::MIN, 8]), ..good.clone() }),
            (
                "more elements than memory can have",
                ArrayInterface { shape: vec![usize::MAX, 2], ..good.clone() },
            ),
            ("aligned to 8 bytes", ArrayInterface { data: (good.data.0 + 1, false), ..good.clone() }),
            ("0x0, is not one of f64", ArrayInterface { data: (0, false), ..good.clone() }),
            ("3 axes, not 2", ArrayInterface { shape: vec![1, 2, 3], strides: None, ..good.clone() }),
            ("its stream is 0", ArrayInterface { stream: Some(0), ..good.clone() }),
        ];
        for (text, lie) in &lies {
            // SAFETY: it describes `x`, or is refused.
            let error = unsafe { ForeignArray::<f64, Ix2>::from_interface(device, lie, Arc::clone(&owner)) };
            let error = error.map(drop).unwrap_err().to_string();
            assert!(error.contains(text), "{text}: {error}");
        }
        assert_eq!(Arc::strong_count(&owner), 1, "each owner was dropped");
        Ok(())
    });
}

#[test]
fn memory_by_its_address() {
    on_every_device_alone(|device, test_module| {
        let stream = device.stream()?;
        let mut theirs = device.upload(&[6_i32, 5, 4, 3, 2, 1])?;
        let start = theirs.as_mut_ptr();
        // SAFETY: the buffer has six elements, and is kept by the array.
        let x = unsafe { ForeignArray::from_raw(&stream, start, (2, 3), (3, 1), theirs)? };
        assert_eq!(quotient::apply(test_module, (&x, 2))?.to_vec()?, [3, 2, 2, 1, 1, 0]);
        // SAFETY: nothing is used.
        let error = unsafe { ForeignArray::from_raw(&stream, start, IxDyn(&[2, 3]), IxDyn(&[1]), ()) };
        assert!(matches!(error, Err(Error::WrongDimension { .. })));
        // SAFETY: as above.
        let error = unsafe { Buffer::<u64>::from_foreign(&stream, start.cast(), usize::MAX, ()) };
        assert!(matches!(error, Err(gpukernel::Error::TooManyElements { .. })));
        // SAFETY: no bytes are nowhere.
        let empty = unsafe { Buffer::<u64>::from_foreign(&stream, ptr::null_mut(), 0, ())? };
        assert!(empty.is_empty() && empty.device() == device);
        Ok(())
    });
}

/// An owner that looks at the memory when it is dropped.
struct Witness {
    memory: Box<[u32]>,
    seen: Arc<AtomicUsize>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        let is_written = self.memory.iter().all(|&element| element == 7);
        self.seen.fetch_add(if is_written { 1 } else { 1000 }, Ordering::Relaxed);
    }
}

#[test]
fn owners_on_the_cpu_device_see_what_was_queued() {
    let _alone = alone();
    let (device, seen) = (Device::cpu(), Arc::new(AtomicUsize::new(0)));
    for round in 0..20 {
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let mut memory = vec![0_u32; 1 << 18].into_boxed_slice();
        let (start, len) = (memory.as_mut_ptr(), memory.len());
        let owner = Witness { memory, seen: Arc::clone(&seen) };
        // SAFETY: the owner has the elements.
        let mut buffer = unsafe { Buffer::from_foreign(&streams[0], start, len, owner) }.unwrap();
        streams[1].fill(&mut buffer[1..], 7).unwrap();
        streams[0].fill(&mut buffer[..1], 7).unwrap();
        if round % 2 == 0 {
            drop(buffer);
        } else {
            // On the thread of a stream, which must not wait for others.
            let done = streams[0].clone();
            streams[1].callback(move || drop(buffer)).unwrap();
            streams[1].synchronize().unwrap();
            done.synchronize().unwrap();
            device.synchronize().unwrap();
        }
        assert_eq!(seen.load(Ordering::Relaxed), round + 1);
    }
}

#[test]
fn more_elements_than_31_bits_count() {
    let _alone = alone();
    let device = Device::cpu();
    let len = (1 << 31) + 10;
    // Zeros of the system, of which few pages are touched.
    let mut memory = vec![0_u8; len].into_boxed_slice();
    memory[len - 1] = 9;
    let start = memory.as_mut_ptr();
    // SAFETY: the box has the elements.
    let x = unsafe { ForeignArray::from_raw(&device.default_stream(), start, len, 1, memory) }.unwrap();
    assert_eq!(x.len(), len);
    assert_eq!(x.slice(s![-2..]).unwrap().to_vec().unwrap(), [0, 9]);
    assert_eq!(x.slice(s![..;-(1 << 30)]).unwrap().to_vec().unwrap(), [9, 0, 0]);
    let exported = ExportedArray::new(x.into_array().unwrap());
    let tensor = exported.to_dlpack(ConsumerStream::wait()).unwrap();
    assert_eq!(tensor.validate().unwrap().shape(), [len as i64]);
}

#[test]
fn types_say_what_they_are() {
    fn check<T: Send + Sync>() {}
    check::<ForeignArray<f32, Ix2>>();
    check::<ExportedArray>();
    check::<versioned::Dlpack>();
    check::<legacy::Dlpack>();
    assert_eq!(Ix2::NDIM, Some(2));
    let _ = for_each(1);
}
