//! What arrays refuse, and how they say so: `attacks.txt` has each attack with its message, as every device answers it.

use array_test_kernels::{
    cores::{
        add_to, cross, many, matmul, matvec, min_max, normalise, normalise_by_warps, sorted, total, traces,
    },
    gaussian_pdf, hull, maximum, polar_distance, polynomial, quotient, squared_sum,
};
use gpukernel::{Device, Module};
use gpukernel_array::{
    Array, ArrayFunction, ArrayView, ArrayViewMut, CoreFunction, Result, add, module as shipped,
};
use gpukernel_array_tests::{Refusals, on_every_device};
use ndarray::{Axis, Ix1, Ix2, Ix3, IxDyn, SliceInfo, SliceInfoElem, s};

/// Attacks of a kind.
type Group = fn(&Device, &Module, &mut Refusals) -> Result<()>;

#[test]
fn attacks_are_refused_with_these_messages() {
    on_every_device(|device, module| {
        let mut refusals = Refusals::default();
        let groups: &[(&str, Group)] = &[
            ("Shapes that do not broadcast", shapes),
            ("Axes that are not there", axes),
            ("Parts that are not there", parts),
            ("Other shapes of the same elements", reshapes),
            ("Axes without elements", nothing),
            ("2³¹ elements and more", sizes),
            ("Ranges that do not end", ranges),
            ("Core dimensions", cores),
            ("Outputs that overlap or are of other shapes", outputs),
            ("Functions that are not in the module", modules),
        ];
        for (name, group) in groups {
            refusals.group(name);
            group(device, module, &mut refusals)?;
        }
        assert!(refusals.attacks() >= 100, "{}", refusals.attacks());
        refusals.compare(device, "arrays/attacks.txt", include_str!("attacks.txt"));
        Ok(())
    });
}

fn zeros(device: &Device, shape: &[usize]) -> Result<Array<f32, IxDyn>> {
    Array::zeros(device, shape.to_vec())
}

fn shapes(device: &Device, module: &Module, r: &mut Refusals) -> Result<()> {
    let x = |shape: &[usize]| zeros(device, shape);
    let sum = |a: &[usize], b: &[usize]| squared_sum::apply(module, (&x(a)?, &x(b)?));
    r.refused("[3, 4] with [3, 5]", sum(&[3, 4], &[3, 5]));
    r.refused("[3, 4] with [4, 3]", sum(&[3, 4], &[4, 3]));
    r.refused("[3] with [2]", sum(&[3], &[2]));
    r.refused("[3, 4] with [3]: the last axes, not the first", sum(&[3, 4], &[3]));
    r.refused("[2, 3, 4] with [3, 1, 5]", sum(&[2, 3, 4], &[3, 1, 5]));
    r.refused("[0] with [2]: nothing is not one", sum(&[0], &[2]));
    let (a, b) = (x(&[3])?, x(&[2])?);
    r.refused("the fourth of four arguments", polar_distance::apply(module, (&a, 1.0, &a, &b)));
    let double = |len| Array::<f64, _>::zeros(device, len);
    let (p, q) = (double(3)?, double(4)?);
    r.refused("the eighth of eight arguments", polynomial::apply(module, (&p, &p, 1.0, &p, 2.0, &p, &p, &q)));
    r.refused(
        "one argument against three before it",
        polynomial::apply(module, (&p, 1.0, 1.0, 1.0, &q, &p, &p, 1.0)),
    );
    let mut out = x(&[4, 4])?;
    r.refused("[3, 4] into [4, 4]", squared_sum::apply_into(module, (1.0, &x(&[3, 4])?), &mut out));
    r.refused("more axes than the output", squared_sum::apply_into(module, (1.0, &x(&[1, 4, 4])?), &mut out));
    r.refused("outputs are not broadcast", squared_sum::apply_into(module, (&a, 1.0), &mut x(&[1])?));
    r.refused("into an output without elements", squared_sum::apply_into(module, (&a, 1.0), &mut x(&[0])?));
    r.refused("a scalar argument's array", gaussian_pdf::apply_into(module, (&b, 0.0, 1.0), &mut x(&[3])?));
    r.refused("assign [3] to [2]", x(&[2])?.assign(&a));
    r.refused("assign [2, 3] to [3]", x(&[3])?.assign(&x(&[2, 3])?));
    r.refused("assign [3] to a part of one element", Array::zeros(device, 3)?.slice_mut(s![..1])?.assign(&a));
    r.refused("broadcast [3] to [2]", a.broadcast(2));
    r.refused("broadcast [3] to []", a.broadcast(()));
    r.refused("broadcast [3] to [3, 1]", a.broadcast((3, 1)));
    r.refused("broadcast [0] to [1]", x(&[0])?.broadcast(1));
    r.refused("broadcast [3] to [0]", a.broadcast(0));
    r.panics("`+` of [3] and [2]", || &a + &b);
    r.panics("`-` of [2, 3] and its transpose", || x(&[2, 3]).map(|x| x.view() - x.t()));
    r.panics("`+=` of more axes", || x(&[3]).map(|mut a| a += &x(&[2, 3]).expect("there is memory")));
    r.panics("`*=` of another extent", || x(&[3]).map(|mut a| a *= &b));
    r.refused("`add`, which the operators call", add::apply(&shipped(device)?, (&a, &b)));
    Ok(())
}

fn axes(device: &Device, module: &Module, r: &mut Refusals) -> Result<()> {
    let x = Array::<f32, _>::zeros(device, (3, 4))?;
    let all = x.view().into_dimensionality::<IxDyn>()?;
    r.refused("`index_axis` of axis 2", x.index_axis(Axis(2), 0));
    r.refused("`index_axis` of axis usize::MAX", x.index_axis(Axis(usize::MAX), 0));
    r.refused("`index_axis` of index 3 of 3", x.index_axis(Axis(0), 3));
    r.refused("`index_axis` of index usize::MAX", x.index_axis(Axis(0), usize::MAX));
    r.refused(
        "`index_axis_mut` of index 4 of 4",
        Array::<f32, _>::zeros(device, (3, 4))?.index_axis_mut(Axis(1), 4),
    );
    r.refused("`insert_axis` behind the one behind the last", x.insert_axis(Axis(3)));
    r.refused("`insert_axis` at usize::MAX", x.insert_axis(Axis(usize::MAX)));
    r.refused("an axis twice", x.permuted_axes((0, 0)));
    r.refused("another axis", x.permuted_axes((0, 2)));
    r.refused("less axes", all.permuted_axes(IxDyn(&[0])));
    r.refused("more axes", all.permuted_axes(IxDyn(&[0, 1, 1])));
    r.refused(
        "`permuted_axes` for writing",
        Array::<f32, _>::zeros(device, (3, 4))?.view_mut().permuted_axes((1, 1)),
    );
    r.refused("two axes as three", x.view().into_dimensionality::<Ix3>());
    r.refused("two axes as one", Array::<f32, _>::zeros(device, (3, 4))?.into_dimensionality::<Ix1>());
    let ints = Array::<i32, _>::zeros(device, (3, 4))?;
    r.refused("`reduce` along axis 2", maximum::reduce::<i32, _>(module, &ints, Axis(2)));
    r.refused("`accumulate` along axis 2", maximum::accumulate::<i32, _>(module, &ints, Axis(2)));
    let point = Array::<i32, _>::zeros(device, ())?;
    r.refused(
        "`accumulate` of an array without axes",
        maximum::accumulate::<i32, _>(module, &point, Axis(0)),
    );
    r.refused("`accumulate` of a scalar", maximum::accumulate::<i32, _>(module, 7, Axis(0)));
    Ok(())
}

/// A slice of an array of any number of axes.
fn elems(elems: &[SliceInfoElem]) -> SliceInfo<Vec<SliceInfoElem>, IxDyn, IxDyn> {
    SliceInfo::try_from(elems.to_vec()).expect("any number of axes")
}

fn parts(device: &Device, _: &Module, r: &mut Refusals) -> Result<()> {
    let mut x = Array::<u8, _>::zeros(device, (3, 4))?;
    r.refused("index 3 of 3", x.slice(s![3, ..]));
    r.refused("index -4 of 3", x.slice(s![-4, ..]));
    r.refused("index isize::MAX", x.slice(s![isize::MAX, ..]));
    r.refused("index isize::MIN", x.slice(s![isize::MIN, ..]));
    r.refused("a range from 4 of 3 on", x.slice(s![4.., ..]));
    r.refused("a range from -4 of 3 on", x.slice(s![-4.., ..]));
    r.refused("a range up to 5 of 4", x.slice(s![.., ..5]));
    r.refused("a range up to -5 of 4", x.slice(s![.., ..-5]));
    r.refused("a range from isize::MIN on", x.slice(s![isize::MIN.., ..]));
    r.refused("a range up to isize::MAX", x.slice(s![.., ..isize::MAX]));
    let slice = |start, end, step| SliceInfoElem::Slice { start, end, step };
    let mut all = x.view_mut().into_dyn();
    r.refused("a step of 0", all.view().slice(elems(&[slice(0, None, 0), slice(0, None, 1)])));
    r.refused("a slice of one axis", all.view().slice(elems(&[slice(0, None, 1)])));
    r.refused("a slice of three axes", all.view().slice(elems(&[slice(0, None, 1); 3])));
    r.refused(
        "a slice of an axis that is new, and one",
        all.view().slice(elems(&[SliceInfoElem::NewAxis, slice(0, None, 1)])),
    );
    r.refused(
        "a range out of bounds, for writing",
        all.view_mut().slice_move(elems(&[slice(4, None, 1), slice(0, None, 1)])),
    );
    r.refused("an index out of bounds, for writing", x.slice_mut(s![.., 4]));
    let empty = Array::<u8, _>::zeros(device, (0, 4))?;
    r.refused("the first of no rows", empty.slice(s![0, ..]));
    r.refused("the last of no rows", empty.slice(s![-1, ..]));
    Ok(())
}

fn reshapes(device: &Device, _: &Module, r: &mut Refusals) -> Result<()> {
    let x = Array::from_shape_fn(device, (3, 4), |(i, j)| 4 * i + j)?;
    let y = || Array::<u16, _>::zeros(device, (3, 4));
    r.refused("12 elements as [5, 2]", x.reshape((5, 2)));
    r.refused("12 elements as []", x.reshape(()));
    r.refused("12 elements as [0]", x.reshape(0));
    r.refused(
        "12 elements as [usize::MAX, 2, 6], a product of 12 modulo 2⁶⁴ or not",
        x.reshape((usize::MAX, 2, 6)),
    );
    r.refused("12 elements as [1 << 63, 2, 12], a product of 0 modulo 2⁶⁴", x.reshape((1 << 63, 2, 12)));
    r.refused("no elements as one", Array::<u16, _>::zeros(device, (0, 4))?.reshape(1));
    r.refused(
        "no elements as [0, usize::MAX, 2]",
        Array::<u16, _>::zeros(device, (0, 4))?.reshape((0, usize::MAX, 2)),
    );
    r.refused("a transpose as a line", x.t().reshape(12));
    r.refused("every third column as a line", x.slice(s![.., ..;3])?.reshape(6));
    r.refused("rows from the last to the first as a line", x.slice(s![..;-1, ..])?.reshape(12));
    r.refused("a row several times as a line", x.slice(s![0, ..])?.broadcast((3, 4))?.reshape(12));
    r.refused("`to_shape` of another number", x.t().to_shape(11));
    r.refused("`into_shape` of another number", y()?.into_shape((2, 5)));
    r.refused("`from_shape_vec` of too few", Array::from_shape_vec(device, (2, 2), [1, 2, 3]));
    r.refused("`from_shape_vec` of too many", Array::from_shape_vec(device, (1, 2), [1, 2, 3]));
    r.refused("`from_buffer` of too few", Array::from_buffer((2, 2), device.upload(&[1, 2, 3])?));
    r.refused("a view of a slice of too few", ArrayView::from_shape((3, 5), x.as_slice()));
    r.refused("a view for writing of a slice of too few", ArrayViewMut::from_shape(13, y()?.as_mut_slice()));
    r.refused(
        "a view of a slice, of a product of 12 modulo 2⁶⁴",
        ArrayView::from_shape((1 << 62, 4, 3), x.as_slice()),
    );
    Ok(())
}

fn nothing(device: &Device, module: &Module, r: &mut Refusals) -> Result<()> {
    let none = Array::<i32, _>::zeros(device, (3, 0))?;
    r.refused("the largest of no element of three rows", maximum::reduce::<i32, _>(module, &none, Axis(1)));
    let line = Array::<i32, _>::zeros(device, 0)?;
    r.refused("the largest of no element", maximum::reduce::<i32, _>(module, &line, Axis(0)));
    r.refused("the first element of none", none.index_axis(Axis(1), 0));
    r.refused(
        "no elements with two",
        squared_sum::apply(module, (&none, &Array::<i32, _>::zeros(device, (3, 2))?)),
    );
    r.refused(
        "two elements assigned to none",
        Array::<i32, _>::zeros(device, 0)?.assign(&Array::<i32, _>::zeros(device, 2)?),
    );
    // And what is right.
    assert_eq!(maximum::reduce::<i32, _>(module, &none, Axis(0))?.shape(), [0]);
    assert_eq!(maximum::accumulate::<i32, _>(module, &none, Axis(1))?.shape(), [3, 0]);
    assert_eq!(
        squared_sum::apply(module, (&none, &Array::<i32, _>::zeros(device, (3, 1))?))?.shape(),
        [3, 0]
    );
    assert_eq!(total::apply::<(i32,), _>(module, (&none,))?.to_vec()?, [0; 3]);
    assert_eq!(
        matmul::apply::<(f32, f32), _>(module, (&zeros(device, &[2, 0])?, &zeros(device, &[0, 3])?))?
            .to_vec()?,
        [0.0; 6]
    );
    Ok(())
}

fn ranges(device: &Device, _: &Module, r: &mut Refusals) -> Result<()> {
    let range = |start: f64, end, step| Array::range(device, start, end, step);
    r.refused("by steps of 0", range(0.0, 1.0, 0.0));
    r.refused("from 0 to 0 by steps of 0", range(0.0, 0.0, 0.0));
    r.refused("up by steps down", range(0.0, 1.0, -0.25));
    r.refused("down by steps up", range(1.0, 0.0, 0.25));
    r.refused("by steps that are no number", range(0.0, 1.0, f64::NAN));
    r.refused("from what is no number", range(f64::NAN, 1.0, 0.5));
    r.refused("up to infinity", range(0.0, f64::INFINITY, 1.0));
    r.refused("from -infinity", range(f64::NEG_INFINITY, 0.0, 1.0));
    r.refused("by steps of infinity", range(0.0, 1.0, f64::INFINITY));
    r.refused("by more steps than can be counted", range(0.0, 1.0, 1e-300));
    r.refused("by more steps than memory can have", range(0.0, 1.0, 1e-18));
    r.refused("1 << 59 numbers at equal distances", Array::linspace(device, 0.0, 1.0, 1 << 59));
    r.refused("usize::MAX numbers at equal distances", Array::linspace(device, 0.0, 1.0, usize::MAX));
    // And what is right.
    assert_eq!(range(1.0, 1.0, -0.5)?.shape(), [0]);
    assert_eq!(range(1.0, 0.0, -0.5)?.to_vec()?, [1.0, 0.5]);
    assert_eq!(range(0.0, 1.0, 7.0)?.to_vec()?, [0.0]);
    for (start, end, step) in [(-1.0_f32, 2.0, 0.3), (2.0, -1.0, -0.3), (0.1, 0.2, 0.001), (1e9, 2e9, 1e8)] {
        let expected = ndarray::Array1::range(start, end, step);
        assert_eq!(Array::range(device, start, end, step)?.to_ndarray()?, expected);
    }
    for (start, end, n) in
        [(-1.0_f32, 2.0, 7), (2.0, -1.0, 1000), (0.5, 0.5, 3), (3.0, 4.0, 1), (3.0, 4.0, 0)]
    {
        let expected = ndarray::Array1::linspace(start, end, n);
        assert_eq!(Array::linspace(device, start, end, n)?.to_ndarray()?, expected);
    }
    Ok(())
}

fn sizes(device: &Device, module: &Module, r: &mut Refusals) -> Result<()> {
    let byte = Array::from_vec(device, [7_u8])?;
    let zeros = |shape: &[usize]| Array::<u8, _>::zeros(device, shape.to_vec());
    r.refused("zeros of [usize::MAX, 2]", zeros(&[usize::MAX, 2]));
    r.refused("zeros of [1 << 32, 1 << 32], which are none modulo 2⁶⁴", zeros(&[1 << 32, 1 << 32]));
    r.refused("zeros of isize::MAX + 1", zeros(&[1 << 63]));
    r.refused("zeros of [1 << 40, 1 << 30, 0]", zeros(&[1 << 40, 1 << 30, 0]));
    // But for how much memory is free.
    let asked = |result: Result<Array<u64, Ix1>>| {
        result.map_err(|error| {
            let text = error.to_string();
            text.split(" bytes were asked for").next().map(str::to_owned).unwrap_or_default()
        })
    };
    r.refused("1 << 59 numbers of eight bytes", asked(Array::zeros(device, 1 << 59)));
    r.refused("1 << 59 numbers of eight bytes, filled", asked(Array::full(device, 1 << 59, 7)));
    r.refused("1 << 61 numbers of eight bytes", Array::<u64, _>::zeros(device, 1 << 61));
    r.refused("1 << 61 numbers of eight bytes, filled", Array::full(device, 1 << 61, 7_u64));
    r.refused("1 << 61 numbers from a function", Array::from_shape_fn(device, 1 << 61, |i| i as u64));
    r.refused("1 << 59 numbers from a function", Array::from_shape_fn(device, 1 << 59, |i| i as u64));
    r.refused("1 << 59 numbers from an iterator", Array::from_iter(device, 0..1_u64 << 59));
    r.refused("a broadcast to usize::MAX", byte.broadcast(usize::MAX));
    r.refused(
        "a broadcast to [1 << 32, 1 << 32], which are none modulo 2⁶⁴",
        byte.broadcast((1 << 32, 1 << 32)),
    );
    r.refused("a broadcast to [1 << 32, 1 << 32, 0]", zeros(&[0])?.broadcast((1 << 32, 1 << 32, 0)));
    let line = byte.broadcast(1_usize << 31)?;
    r.refused("a copy of 1 << 31 times the same", line.to_owned());
    r.refused("the elements of 1 << 31 times the same", line.to_vec());
    r.refused("1 << 31 times the same into one", quotient_of(module, &line));
    r.add("1 << 31 times the same, printed", &format!("{line}"));
    let rows = byte.broadcast((1_usize << 33, 1))?;
    let columns = byte.broadcast((1, 1_usize << 33))?;
    r.refused("1 << 33 rows with as many columns", quotient::apply(module, (&rows, &columns)));
    r.refused(
        "the outer of 1 << 33 and as many",
        quotient::outer::<u8, u8, _, _>(
            module,
            byte.broadcast(1_usize << 33)?,
            byte.broadcast(1_usize << 33)?,
        ),
    );
    let ints = Array::from_vec(device, [7])?;
    let ints = ints.broadcast(IxDyn(&[1 << 31]))?;
    r.refused("a core of 1 << 31 elements", total::apply::<(i32,), _>(module, (&ints,)));
    let eight = Array::from_shape_fn(device, IxDyn(&[2; 8]), |_| 1_u32)?;
    r.refused("eight axes that do not merge", eight.t().to_owned());
    // And what is right.
    assert_eq!(line.slice(s![-1..])?.to_vec()?, [7]);
    assert_eq!(
        ints.slice(elems(&[SliceInfoElem::Slice { start: 0, end: None, step: -(1 << 30) }]))?.to_vec()?,
        [7; 2]
    );
    Ok(())
}

/// A division of each element of a line of too many.
fn quotient_of(module: &Module, line: &ArrayView<'_, u8, Ix1>) -> Result<()> {
    let mut one = Array::<u8, _>::zeros(module.device(), 1)?;
    quotient::apply_into(module, (line, 1), &mut one)
}

fn cores(device: &Device, module: &Module, r: &mut Refusals) -> Result<()> {
    let x = |shape: &[usize]| zeros(device, shape);
    let product = |a: &[usize], b: &[usize]| matmul::apply::<(f32, f32), _>(module, (&x(a)?, &x(b)?));
    r.refused("`matmul` of [2, 5] and [4, 3]", product(&[2, 5], &[4, 3]));
    r.refused("core dimensions are not broadcast", product(&[2, 1], &[4, 3]));
    r.refused("nor to nothing", product(&[2, 0], &[1, 3]));
    r.refused("a core of less axes", product(&[2, 4], &[4]));
    r.refused("a core of no axes", product(&[], &[4, 3]));
    r.refused("loops of other extents", product(&[3, 2, 4], &[7, 4, 3]));
    r.refused("loops of more axes and other extents", product(&[5, 1, 2, 4], &[2, 3, 4, 3]));
    let (a, b) = (x(&[7, 2, 4])?, x(&[7, 4, 3])?);
    let into = |shape: &[usize]| matmul::apply_into::<(f32, f32), _>(module, (&a, &b), &mut x(shape)?);
    r.refused("an output of another core", into(&[7, 2, 4]));
    r.refused("an output transposed", into(&[7, 3, 2]));
    r.refused("an output of another loop", into(&[6, 2, 3]));
    r.refused("an output's loop is not broadcast", into(&[1, 2, 3]));
    r.refused("an output without the core", into(&[3]));
    r.refused("an output without the loop", into(&[2, 3]));
    let ints = |shape: &[usize]| Array::<i64, _>::zeros(device, IxDyn(shape));
    r.refused("`matvec` of [2, 3] and [2]", matvec::apply(module, (&ints(&[2, 3])?, &ints(&[2])?)));
    r.refused("`matvec` of a row", matvec::apply(module, (&ints(&[3])?, &ints(&[3])?)));
    r.refused(
        "a scalar for a core",
        total::apply::<(f64,), _>(module, (&Array::<f64, _>::zeros(device, IxDyn(&[]))?,)),
    );
    r.refused(
        "loops of an argument without a core",
        add_to::apply::<(f32, u8), _>(module, (&x(&[3, 4])?, &Array::<u8, _>::zeros(device, 4)?)),
    );
    r.refused("a fixed dimension of 4", cross::apply::<(f32, f32), _>(module, (&x(&[9, 3])?, &x(&[9, 4])?)));
    r.refused(
        "a fixed dimension of 1, which is not broadcast",
        cross::apply::<(f32, f32), _>(module, (&x(&[9, 3])?, &x(&[1])?)),
    );
    r.refused(
        "a fixed dimension of the output",
        cross::apply_into::<(f32, f32), _>(module, (&x(&[3])?, &x(&[3])?), &mut x(&[2])?),
    );
    let cube = Array::<i32, _>::zeros(device, IxDyn(&[2, 3, 4]))?;
    r.refused("a dimension twice in one core", traces::apply(module, (&cube,)));
    let (mut least, mut most) = (x(&[7, 2])?, x(&[1, 2])?);
    r.refused(
        "a second output of another loop",
        min_max::apply_into::<(f32,), _>(module, (&a,), (&mut least, &mut most)),
    );
    let i = Array::<i32, _>::zeros(device, (2, 3))?;
    let (mut counts, mut rows) =
        (Array::<u32, _>::zeros(device, 2)?, Array::<i32, _>::zeros(device, (2, 4))?);
    r.refused("a second output of another core", sorted::apply_into(module, (&i,), (&mut counts, &mut rows)));
    r.refused(
        "an output of less axes than its core",
        normalise::apply_into::<(f32,), _>(module, (&x(&[3])?,), &mut x(&[])?),
    );
    let axes = x(&[2; 7])?;
    let mixed = axes.permuted_axes(vec![5, 3, 1, 6, 4, 2, 0])?;
    r.refused("seven axes that do not merge", normalise_by_warps::apply(module, (mixed,)));
    macro_rules! line {
        ($T:ty, $len:literal) => {
            &Array::<$T, _>::zeros(device, $len)?
        };
    }
    let args = (
        line!(i32, 3),
        line!(i64, 3),
        line!(u8, 3),
        line!(i16, 2),
        line!(f32, 3),
        line!(f64, 3),
        line!(u32, 4),
        true,
    );
    r.refused("the fourth of eight cores", many::apply(module, args));
    Ok(())
}

fn outputs(device: &Device, module: &Module, r: &mut Refusals) -> Result<()> {
    let mut x = Array::<f32, _>::zeros(device, 12)?;
    let mut view = |origin, shape: &[usize], strides: &[isize]| {
        x.as_mut_slice().view_nd_mut(origin, shape, strides).map(drop)
    };
    r.refused("rows that share three columns", view(0, &[3, 4], &[1, 1]));
    r.refused("all rows are the same", view(0, &[3, 4], &[0, 1]));
    r.refused("the last of a row is the first of the next", view(0, &[2, 7], &[5, 1]));
    r.refused("all elements are the same", view(0, &[3], &[0]));
    r.refused("two ways to each element, from both ends", view(5, &[2, 2], &[1, -1]));
    r.refused("more than there is", view(0, &[13], &[1]));
    r.refused("behind what there is", view(6, &[2, 4], &[4, 1]));
    r.refused("before the first", view(0, &[2], &[-1]));
    r.refused("strides of another number of axes", view(0, &[2, 2], &[2]));
    r.refused("a stride of isize::MAX", view(0, &[3], &[isize::MAX]));
    r.refused("a stride of isize::MIN", view(0, &[3], &[isize::MIN]));
    r.refused("an origin of usize::MAX", view(usize::MAX, &[2], &[1]));
    r.refused("extents whose product is 0 modulo 2⁶⁴", view(0, &[1 << 32, 1 << 32], &[1, 1]));
    let a = zeros(device, &[3, 4])?;
    r.refused(
        "into a transpose",
        squared_sum::apply_into(module, (&a, 1.0), zeros(device, &[3, 4])?.view_mut().reversed_axes()),
    );
    let ints = Array::<i32, _>::zeros(device, (3, 4))?;
    let mut out = Array::zeros(device, (3, 4))?;
    r.refused("largest of rows into an array", maximum::reduce_into(module, &ints, Axis(1), &mut out));
    r.refused(
        "largest of columns into rows",
        maximum::reduce_into(module, &ints, Axis(0), out.slice_mut(s![.., 0])?),
    );
    r.refused(
        "running ones into a transpose",
        maximum::accumulate_into(module, &ints, Axis(1), out.view_mut().reversed_axes()),
    );
    let (of_rows, of_columns) = (ints.slice(s![.., 0])?, ints.slice(s![0, ..])?);
    r.refused("pairs into their transpose", quotient::outer_into(module, of_columns, of_rows, &mut out));
    Ok(())
}

fn modules(device: &Device, _: &Module, r: &mut Refusals) -> Result<()> {
    let other = shipped(device)?;
    // But for the kernels that are in it.
    let mut refused = |attack: &str, result: Result<()>| {
        let text = result.err().map(|error| error.to_string());
        let text = text.as_deref().and_then(|text| text.split(", which holds").next());
        r.refused(attack, text.map_or(Ok(()), Err));
    };
    let x = Array::<f32, Ix2>::zeros(device, (2, 3))?;
    refused("`apply`", squared_sum::apply(&other, (&x, 1.0)).map(drop));
    refused(
        "`apply` of any strides",
        squared_sum::apply(&other, (x.t(), &zeros(device, &[3, 2])?)).map(drop),
    );
    let ints = Array::<i32, _>::zeros(device, (2, 3))?;
    refused("`reduce`", maximum::reduce::<i32, _>(&other, &ints, Axis(0)).map(drop));
    refused("`accumulate`", maximum::accumulate::<i32, _>(&other, &ints, Axis(0)).map(drop));
    refused("`outer`", quotient::outer::<i32, i32, _, _>(&other, &ints, &ints).map(drop));
    refused("a function of cores", total::apply::<(i32,), _>(&other, (&ints,)).map(drop));
    refused(
        "a function of structs",
        hull::apply(
            &other,
            (
                array_test_kernels::Interval::default(),
                &Array::<array_test_kernels::Interval, _>::zeros(device, 2)?,
            ),
        )
        .map(drop),
    );
    Ok(())
}
