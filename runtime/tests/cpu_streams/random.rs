//! Random work on random streams, compared with the same done one after another.

use gpukernel::{Buffer, for_each};
use gpukernel_random_inputs::config;
use proptest::{collection::vec, prelude::*};

use crate::{add, add_other, common::on_the_cpu};

const BUFFERS: usize = 4;
const STREAMS: usize = 3;
const LEN: usize = 64;

#[derive(Clone, Debug)]
enum Step {
    Fill(usize, u32),
    Add(usize, u32),
    AddOther(usize, usize),
    Copy(usize, usize),
    Graph(usize, usize),
    /// A new buffer in the place of the old one.
    Replace(usize, u32),
    Upload(usize, u32),
    Read(usize),
    /// Holds the stream back until the next read.
    Hold,
    /// Makes the stream wait for another.
    Wait(usize),
    /// Another stream in its place.
    Drop,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let buffer = || 0..BUFFERS;
    let step = prop_oneof![
        1 => (buffer(), 0..100_u32).prop_map(|(a, value)| Step::Fill(a, value)),
        3 => (buffer(), 0..100_u32).prop_map(|(a, value)| Step::Add(a, value)),
        3 => (buffer(), buffer()).prop_map(|(a, b)| Step::AddOther(a, b)),
        3 => (buffer(), buffer()).prop_map(|(a, b)| Step::Copy(a, b)),
        1 => (buffer(), buffer()).prop_map(|(a, b)| Step::Graph(a, b)),
        1 => (buffer(), 0..100_u32).prop_map(|(a, value)| Step::Replace(a, value)),
        1 => (buffer(), 0..100_u32).prop_map(|(a, value)| Step::Upload(a, value)),
        1 => buffer().prop_map(Step::Read),
        1 => Just(Step::Hold),
        1 => (0..STREAMS).prop_map(Step::Wait),
        1 => Just(Step::Drop),
    ];
    (0..STREAMS, step)
}

/// Two buffers, of which the second is written.
fn two(
    buffers: &mut [Buffer<u32>; BUFFERS],
    from: usize,
    to: usize,
) -> Option<(&Buffer<u32>, &mut Buffer<u32>)> {
    let [from, to] = buffers.get_disjoint_mut([from, to]).ok()?;
    Some((from, to))
}

fn run(steps: &[(usize, Step)]) {
    on_the_cpu(|device, module| {
        let mut streams = [device.stream()?, device.stream()?, device.stream()?];
        let mut buffers =
            [device.zeroed(LEN)?, device.zeroed(LEN)?, device.zeroed(LEN)?, device.zeroed(LEN)?];
        let mut model = [0_u32; BUFFERS];
        let mut holds = Vec::new();
        for (stream, step) in steps {
            let on = &streams[*stream];
            match *step {
                Step::Fill(a, value) => {
                    on.fill(&mut buffers[a], value)?;
                    model[a] = value;
                }
                Step::Add(a, value) => {
                    on.launch(module, add, for_each(LEN), (value, &mut buffers[a]))?;
                    model[a] = model[a].wrapping_add(value);
                }
                Step::AddOther(a, b) => {
                    let Some((from, to)) = two(&mut buffers, a, b) else { continue };
                    // Such that nothing overflows.
                    on.fill(&mut to[..], 1)?;
                    on.launch(module, add_other, for_each(LEN), (from, to))?;
                    model[b] = model[a] + 1;
                }
                Step::Copy(a, b) => {
                    let Some((from, to)) = two(&mut buffers, a, b) else { continue };
                    on.copy(from, to)?;
                    model[b] = model[a];
                }
                Step::Graph(a, b) => {
                    let Some((from, to)) = two(&mut buffers, a, b) else { continue };
                    let mut graph = on.capture((from, to), |capture, (from, to)| {
                        capture.copy(from, to)?;
                        capture.launch(module, add, for_each(LEN), (1, to))
                    })?;
                    graph.launch()?;
                    holds.clear();
                    model[b] = model[a] + 1;
                }
                Step::Replace(a, value) => {
                    buffers[a] = on.zeroed(LEN)?;
                    on.fill(&mut buffers[a], value)?;
                    model[a] = value;
                }
                Step::Upload(a, value) => {
                    holds.clear();
                    on.copy_to_device(&[value; LEN], &mut buffers[a])?;
                    model[a] = value;
                }
                Step::Read(a) => {
                    holds.clear();
                    assert_eq!(buffers[a].to_vec()?, [model[a]; LEN]);
                }
                Step::Hold => holds.push(on.hold()?),
                Step::Wait(other) => on.wait(&streams[other].record()?)?,
                Step::Drop => streams[*stream] = device.stream()?,
            }
        }
        holds.clear();
        for (buffer, value) in buffers.iter().zip(model) {
            assert_eq!(buffer.to_vec()?, [value; LEN]);
        }
        Ok(())
    });
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn streams_do_what_one_after_another_would(steps in vec(step(), 1..60)) {
        run(&steps);
    }
}
