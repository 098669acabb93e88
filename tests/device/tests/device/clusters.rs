//! Clusters of blocks. GPUs without them refuse the launch.

use gpukernel::{Error, LaunchConfig};
use gpukernel_device_test_kernels::clusters::{
    alone, different_barriers, exchange, histogram, of_cluster_and_grid, of_the_next, ordered, places,
    places_alone, rounds, some_end,
};
use gpukernel_device_tests::{on_every_device, on_every_device_with_clusters, on_the_cpu};

#[test]
fn blocks_know_their_place_in_the_cluster() {
    on_every_device_with_clusters(|device, module| {
        let mut out = device.zeroed::<[u32; 14]>(4 * 2 * 6)?;
        module.launch(places, LaunchConfig::new((4, 2, 6), 1), (&mut out,))?;
        let mut expected = Vec::new();
        for (z, y, x) in (0..6).flat_map(|z| (0..2).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
            let (bx, bz): (u32, u32) = (x % 2, z % 3);
            expected.push([6, bx + 2 * bz, 2, 1, 3, bx, 0, bz, x / 2, y, z / 3, 2, 2, 2]);
        }
        assert_eq!(out.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn a_block_without_contract_is_a_cluster() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<[u32; 14]>(6)?;
        module.launch(places_alone, LaunchConfig::new((3, 2), 1), (&mut out,))?;
        let expected = (0..6).map(|i| [1, 0, 1, 1, 1, 0, 0, 0, i % 3, i / 3, 0, 3, 2, 1]);
        assert!(out.to_vec()?.into_iter().eq(expected));
        let mut out = device.zeroed::<u32>(96)?;
        module.launch(alone, LaunchConfig::new(3, 32), (&mut out,))?;
        assert_eq!(out.to_vec()?, [7 + 38; 96]);
        Ok(())
    });
}

#[test]
fn a_block_reads_the_shared_memory_of_another() {
    on_every_device_with_clusters(|device, module| {
        let xs: Vec<u32> = (0..64 * 12).map(|i| i * 31 % 1009).collect();
        let x = device.upload(&xs)?;
        let mut out = device.zeroed::<u32>(xs.len())?;
        module.launch(of_the_next, LaunchConfig::new(12, 64), (&x, &mut out))?;
        let next = |i: usize| (i / 256) * 256 + (i + 64) % 256;
        assert!(out.to_vec()?.into_iter().eq((0..xs.len()).map(|i| xs[next(i)])));
        Ok(())
    });
}

#[test]
fn shared_memory_is_lent_and_written_in_turn() {
    on_every_device_with_clusters(|device, module| {
        for count in [0, 1, 5] {
            // Two clusters along z, of four blocks each.
            let mut out = device.zeroed::<u64>(32 * 2 * 4)?;
            module.launch(
                rounds,
                LaunchConfig::new((1, 2, 4), (32, 1, 1)),
                (count, out.view_3d_mut(2, 32)?),
            )?;
            let mut expected = Vec::new();
            for cluster in 0..2_u64 {
                let ranks = (cluster * 4..cluster * 4 + 4).collect::<Vec<_>>();
                let mut parts: Vec<Vec<u64>> =
                    ranks.iter().map(|rank| (0..32).map(|i| rank * 32 + i).collect()).collect();
                for _ in 0..count {
                    let sums: Vec<u64> = (0..32)
                        .map(|i| {
                            let both = parts.iter().map(|part| part[i].wrapping_add(part[31 - i]));
                            both.fold(0, u64::wrapping_add)
                        })
                        .collect();
                    parts.fill(sums);
                }
                expected.extend(parts.concat());
            }
            assert_eq!(out.to_vec()?, expected, "{count} rounds");
        }
        Ok(())
    });
}

#[test]
fn atomics_of_another_block_count() {
    on_every_device_with_clusters(|device, module| {
        let values: Vec<u32> = (0..50_000).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 7).collect();
        let mut expected = vec![0; 1000];
        values.iter().for_each(|value| expected[*value as usize % 1000] += 1);
        let x = device.upload(&values)?;
        let mut bins = device.zeroed::<u32>(1000)?;
        module.launch(histogram, LaunchConfig::new(6, 128), (&x, &mut bins))?;
        assert_eq!(bins.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn cells_of_another_block_are_written() {
    on_every_device_with_clusters(|device, module| {
        let mut out = device.zeroed::<u16>(128)?;
        module.launch(exchange, LaunchConfig::new(4, 32), (&mut out,))?;
        let written = |i: u16| ((i / 32) ^ 1) * 32 + 31 - i % 32;
        assert!(out.to_vec()?.into_iter().eq((0..128).map(written)));
        Ok(())
    });
}

#[test]
fn a_barrier_of_the_cluster_orders_device_memory_and_passes_shared_arrays_on() {
    on_every_device_with_clusters(|device, module| {
        let mut sums = device.zeroed::<u32>(2)?;
        let mut out = device.zeroed::<[u32; 2]>(16 * 64)?;
        module.launch(ordered, LaunchConfig::new(16, 64), (&mut sums, &mut out))?;
        let expected = (0..16 * 64).map(|i| [8 * 64 * 65 / 2, (63 - i % 64) * 3]);
        assert!(out.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[test]
fn threads_that_ended_are_not_waited_for_in_a_cluster() {
    on_every_device_with_clusters(|device, module| {
        let mut sums = device.zeroed::<u32>(2)?;
        let mut out = device.zeroed::<u32>(4 * 64)?;
        module.launch(some_end, LaunchConfig::new(4, 64), (&mut sums, &mut out))?;
        let expected = (0..256).map(|i| if i / 64 % 2 == 1 && i % 64 >= 40 { 0 } else { 104 });
        assert!(out.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[test]
fn barriers_of_cluster_and_grid_mix() {
    on_every_device_with_clusters(|device, module| {
        let mut sums = device.zeroed::<u32>(4)?;
        let mut out = device.zeroed::<u32>(6 * 32)?;
        module.launch(of_cluster_and_grid, LaunchConfig::new(6, 32), (&mut sums, &mut out))?;
        // Three clusters, of 64 threads: 64 + 128 + 192 and the rounds.
        assert_eq!(out.to_vec()?, [3 * (64 + 128 + 192 + 3); 192]);
        Ok(())
    });
}

#[test]
fn different_barriers_of_a_cluster_are_an_error() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        let error = module
            .launch(different_barriers, LaunchConfig::new(2, 32), (&mut out,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::UnmetBarrier { wait, other_wait: Some(other), .. } = &error else { panic!("{error}") };
        assert_eq!(
            (wait.operation, other.operation),
            ("the barrier of the cluster", "the barrier of the cluster")
        );
        assert_ne!(wait.place.line(), other.place.line());
        Ok(())
    });
}
