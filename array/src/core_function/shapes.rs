//! The shapes of a call: what each core dimension is, and what the axes before those of cores are broadcast to.

use gpu_std::host::{CoreDim, GufuncLayout};
use ndarray::{Axis, IxDyn};

use crate::{CoreOperand, Error, Result, layout::Layout, operand::broadcast_shape};

/// An array, divided into cores.
#[derive(Debug)]
pub(super) struct Cores {
    /// The axes before those of the core.
    pub(super) outer: Layout<IxDyn>,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<isize>,
}

/// The extents of core dimensions, as far as they are known, and where each was found first.
#[derive(Debug)]
pub(super) struct Dimensions {
    function: &'static str,
    layout: GufuncLayout,
    known: Vec<(&'static str, usize, CoreOperand)>,
}

impl Dimensions {
    pub(super) fn new(function: &'static str, layout: GufuncLayout) -> Self {
        Self { function, layout, known: Vec::new() }
    }

    /// Divides the inputs, of which values have no layout, into cores.
    pub(super) fn inputs(&mut self, layouts: &[Option<&Layout<IxDyn>>]) -> Result<Vec<Option<Cores>>> {
        let inputs = layouts.iter().zip(self.layout.inputs).enumerate();
        inputs.map(|(i, (layout, dims))| self.divide(*layout, dims, CoreOperand::Argument(i))).collect()
    }

    /// Divides the outputs into cores.
    pub(super) fn outputs(&mut self, layouts: &[Layout<IxDyn>]) -> Result<Vec<Cores>> {
        let outputs = layouts.iter().zip(self.layout.outputs).enumerate();
        let cores =
            outputs.map(|(i, (layout, dims))| self.divide(Some(layout), dims, CoreOperand::Output(i)));
        // Each has a layout.
        Ok(cores.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn divide(
        &mut self,
        layout: Option<&Layout<IxDyn>>,
        dims: &[CoreDim],
        place: CoreOperand,
    ) -> Result<Option<Cores>> {
        let Some((outer, shape, mut strides)) = layout.and_then(|layout| layout.split(dims.len())) else {
            if layout.is_none() && dims.is_empty() {
                return Ok(None);
            }
            return Err(Error::TooFewAxes {
                what: self.what(place),
                shape: layout.map_or_else(Vec::new, |layout| layout.shape().to_vec()),
                core: written(dims),
                axes: dims.len(),
            });
        };
        for (axis, (&extent, dim)) in shape.iter().zip(dims).enumerate() {
            self.bind(*dim, extent, Axis(outer.ndim() + axis), place)?;
        }
        // No distance between elements is asked for where there are less than two.
        if let (Some(stride), Some(0 | 1)) = (strides.last_mut(), shape.last()) {
            *stride = 1;
        }
        Ok(Some(Cores { outer, shape, strides }))
    }

    /// `argument 0 of \`matmul\``.
    fn what(&self, place: CoreOperand) -> String {
        format!("{place} of `{}`", self.function)
    }

    fn bind(&mut self, dim: CoreDim, extent: usize, axis: Axis, place: CoreOperand) -> Result<()> {
        let (function, layout) = (self.function, self.layout.text);
        match dim {
            CoreDim::Fixed(expected) if extent != expected => Err(Error::FixedDimension {
                function,
                layout,
                place: place.to_owned(),
                axis,
                extent,
                expected,
            }),
            CoreDim::Fixed(_) => Ok(()),
            CoreDim::Named(dimension) => match self.known.iter().find(|(name, ..)| *name == dimension) {
                Some((_, known, first)) if *known != extent => Err(Error::CoreDimension {
                    function,
                    layout,
                    dimension,
                    extents: [*known, extent],
                    places: [*first, place],
                }),
                Some(_) => Ok(()),
                None => {
                    self.known.push((dimension, extent, place));
                    Ok(())
                }
            },
        }
    }

    /// What the axes before those of cores are broadcast to.
    pub(super) fn loop_shape(&self, inputs: &[Option<Cores>]) -> Result<Vec<usize>> {
        let outer: Vec<_> = inputs.iter().map(|cores| cores.as_ref().map(|cores| &cores.outer)).collect();
        broadcast_shape(self.function, &outer).map_err(|error| match error {
            Error::Broadcast { function, argument, shape: own, other } => {
                let core = inputs.get(argument).and_then(Option::as_ref);
                let core: &[usize] = core.map_or(&[], |cores| &cores.shape);
                Error::BroadcastLoop { function, argument, shape: [&own, core].concat(), own, other }
            }
            other => other,
        })
    }

    /// Broadcasts inputs to a loop.
    pub(super) fn broadcast(&self, inputs: &mut [Option<Cores>], shape: &[usize]) -> Result<()> {
        for (i, cores) in inputs.iter_mut().enumerate() {
            let Some(cores) = cores else { continue };
            let outer = cores.outer.broadcast(IxDyn(shape));
            cores.outer =
                outer.ok_or_else(|| self.other_loop(CoreOperand::Argument(i), cores, shape, false))?;
        }
        Ok(())
    }

    /// The loop of outputs, which all have the same.
    pub(super) fn loop_of_outputs(&self, outputs: &[Cores]) -> Result<Vec<usize>> {
        let shape = outputs.first().map_or_else(Vec::new, |cores| cores.outer.shape().to_vec());
        for (i, cores) in outputs.iter().enumerate() {
            if cores.outer.shape() != shape {
                return Err(self.other_loop(CoreOperand::Output(i), cores, &shape, true));
            }
        }
        Ok(shape)
    }

    fn other_loop(&self, place: CoreOperand, cores: &Cores, to: &[usize], is_output: bool) -> Error {
        let own = cores.outer.shape().to_vec();
        Error::LoopOfOutput {
            what: self.what(place),
            shape: [&own[..], &cores.shape].concat(),
            own,
            to: to.to_vec(),
            is_output,
        }
    }

    /// The shapes of new outputs along a loop.
    pub(super) fn output_shapes(&self, loop_shape: &[usize]) -> Vec<Vec<usize>> {
        let extent = |dim: &CoreDim| match *dim {
            CoreDim::Fixed(extent) => extent,
            // `#[guvectorize]` refuses dimensions of outputs that no input has.
            CoreDim::Named(dimension) => {
                self.known.iter().find(|(name, ..)| *name == dimension).map_or(0, |(_, extent, _)| *extent)
            }
        };
        let outputs = self.layout.outputs.iter();
        outputs.map(|dims| loop_shape.iter().copied().chain(dims.iter().map(extent)).collect()).collect()
    }
}

/// A core as it is written: `(n,p)`.
fn written(dims: &[CoreDim]) -> String {
    let dims = dims.iter().map(|dim| match dim {
        CoreDim::Named(name) => (*name).to_owned(),
        CoreDim::Fixed(extent) => extent.to_string(),
    });
    format!("({})", dims.collect::<Vec<_>>().join(","))
}
