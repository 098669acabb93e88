//! Two devices, of which one's things are not the other's: for the simulated driver's and for those of the machine.

use gpu_std::prelude::*;
use gpukernel::{Device, Error, GraphPinned, PinnedOptions, Result, for_each};

use crate::ptx;

const LEN: usize = 100;

#[kernel]
fn add(by: u32, y: PerThread<u32>) {
    for (_, y) in y {
        *y += by;
    }
}

/// What belongs to one of two devices is refused by the other, and each is as it was; but events are waited for, and pinned memory is of both.
pub(crate) fn are_kept_apart(here: &Device, there: &Device) -> Result<()> {
    // SAFETY: `add` in the PTX does as the kernel above.
    let image = unsafe { ptx::image_of_add(add, |_| ()) };
    let [module, of_there] = [here.load(&image)?, there.load(&image)?];
    let [stream, on_there] = [here.stream()?, there.stream()?];
    let (mut own, mut foreign) = (here.filled(LEN, 1_u32)?, there.filled(LEN, 2_u32)?);
    let mut host = [0; LEN];
    let mut graph = stream.capture(here.filled(LEN, 3_u32)?, |capture, x| {
        capture.launch(&module, add, for_each(LEN), (1, x)).map(drop)
    })?;
    let mut errors = vec![
        stream.copy(&foreign, &mut own),
        stream.copy(&own, &mut foreign),
        stream.fill(&mut foreign, 9),
        stream.copy_to_host(&foreign, &mut host),
        stream.scope(|scope| scope.copy_to_host(&foreign, &mut host)),
        stream.capture(&mut foreign, |capture, foreign| capture.fill(foreign, 9)).map(drop),
        // Launches with the stream or the module of the other.
        on_there.launch(&module, add, for_each(LEN), (9, &mut own)),
        stream.launch(&of_there, add, for_each(LEN), (9, &mut own)),
        module.on(&on_there).launch(add, for_each(LEN), (9, &mut own)),
        graph.launch_on(&on_there),
        stream
            .capture(&mut own, |capture, own| capture.launch(&of_there, add, for_each(LEN), (9, own)))
            .map(drop),
    ];
    // Kernels of a GPU could have access to memory of another one.
    match stream.launch(&module, add, for_each(LEN), (9, &mut foreign)) {
        Err(Error::NotAccessible { .. }) => assert!(here.is_gpu() && there.is_gpu()),
        result => errors.push(result),
    }
    for result in errors {
        assert!(matches!(result, Err(Error::WrongDevice { .. })), "{result:?}");
    }
    assert_eq!((own.to_vec()?, foreign.to_vec()?), (vec![1; LEN], vec![2; LEN]));
    assert_eq!(graph.memory().to_vec()?, [3; LEN]);

    let events = [stream.record()?, on_there.record()?];
    for (end, start) in [(&events[0], &events[1]), (&events[1], &events[0])] {
        let elapsed = end.elapsed_since(start);
        assert!(matches!(elapsed, Err(Error::EventsOfTwoDevices { .. })), "{elapsed:?}");
    }
    stream.wait(&events[1])?;
    on_there.wait(&events[0])?;

    // By copies of the other, and by its graphs, unless the memory is pinned for no GPU.
    for options in [PinnedOptions::new(), PinnedOptions::new().portable()] {
        let mut pinned = here.pinned_with::<u32>(LEN, options)?;
        pinned.fill(7);
        let mut pinned = on_there.copy_from_pinned(pinned, &mut foreign)?.wait()?;
        pinned.fill(0);
        assert_eq!(*on_there.copy_to_pinned(&foreign, pinned)?.wait()?, [7; LEN]);
        let pinned = || here.pinned_with::<u32>(LEN, options).map(GraphPinned::from);
        let copies = on_there.capture((&mut foreign, pinned()?, pinned()?), |capture, (x, from, mut to)| {
            capture.copy_to_pinned(x, &mut to)?;
            capture.copy_from_pinned(&from, x)
        });
        let (mut copies, is_refused) = (copies, there.is_gpu() && !here.is_gpu());
        assert_eq!(matches!(copies, Err(Error::WrongDevice { .. })), is_refused, "{copies:?}");
        if let Ok(graph) = &mut copies {
            graph.launch()?;
            assert_eq!(graph.memory().2.read()?, [7; LEN]);
            graph.launch()?;
            assert_eq!(graph.memory().2.read()?, [0; LEN]);
        }
        // And the memory of a graph of the other, by a clone.
        let graph = on_there.capture(GraphPinned::from(there.pinned::<u32>(LEN)?), |_, _| Ok(()))?;
        let clone = graph.clone_with(pinned()?);
        assert_eq!(matches!(clone, Err(Error::WrongDevice { .. })), is_refused, "{clone:?}");
    }
    Ok(())
}
