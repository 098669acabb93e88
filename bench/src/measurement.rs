//! A measurement: what is computed, by whom, what must come out; first checked, then timed.

use std::collections::btree_map::Entry;

use gpukernel::{Device, LaunchRecord, Replay, record_launches};

use crate::{
    Bench, BoxError, Compare, Error, Output,
    benchmark::{Limit, Measured, RowOutcome},
    report::{Checked, KernelFacts, ModeResult, ProviderResult, Ratio, Resources, Work},
    run::Session,
    sampling::{Sample, Samples, sample},
    stats,
    timer::{Mode, Timer, Waited},
};

/// What a provider's closure returns: nothing, or a `Result` with any error.
pub trait Outcome {
    /// As a result with any error.
    ///
    /// # Errors
    /// If it is one.
    fn into_result(self) -> Result<(), BoxError>;
}

impl Outcome for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> Outcome for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// For `#[bench]`.
pub fn outcome(outcome: impl Outcome) -> Result<(), BoxError> {
    outcome.into_result()
}

/// What is measured: see [`Bench::measure`]. `V` is the type of the results on the host.
#[must_use = "nothing is measured before `run`"]
pub struct Measurement<'b, 's, V> {
    bench: &'b mut Bench<'s>,
    work: Work,
    reference: Reference<V>,
    tolerance: f64,
    is_synchronous: bool,
    is_of_host: bool,
    replays_unsafe: bool,
    providers: Vec<Box<dyn Provider<V> + 'b>>,
    limits: Vec<Limit>,
}

/// What results are compared with.
enum Reference<V> {
    None,
    Values(V),
    Provider(String),
    Unchecked(String),
}

/// A way of computing it.
trait Provider<V> {
    fn name(&self) -> &str;
    fn device(&self) -> &Device;
    fn launch(&mut self) -> Result<(), BoxError>;
    fn values(&self) -> Result<V, BoxError>;
}

struct Launcher<'o, O, F> {
    name: String,
    device: Device,
    output: &'o mut O,
    launch: F,
}

impl<O: Output, R: Outcome, F: FnMut(&mut O) -> R> Provider<O::Values> for Launcher<'_, O, F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn device(&self) -> &Device {
        &self.device
    }

    fn launch(&mut self) -> Result<(), BoxError> {
        (self.launch)(self.output).into_result()
    }

    fn values(&self) -> Result<O::Values, BoxError> {
        self.output.values()
    }
}

impl<'b, 's, V> Measurement<'b, 's, V> {
    pub(crate) fn new(bench: &'b mut Bench<'s>) -> Self {
        Self {
            bench,
            work: Work::default(),
            reference: Reference::None,
            tolerance: 0.0,
            is_synchronous: false,
            is_of_host: false,
            replays_unsafe: false,
            providers: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// The device of the row.
    pub fn device(&self) -> Device {
        self.bench.device()
    }

    /// How many elements a launch handles: the report has elements per second.
    pub fn elements(mut self, elements: usize) -> Self {
        self.work.elements = Some(elements as u64);
        self
    }

    /// How many bytes a launch reads and writes, each counted once: the report has bytes per second, and the share of what the device does at
    /// most.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.work.bytes = Some(bytes as u64);
        self
    }

    /// How many floating-point operations of `f32` a launch does; a fused multiply-add is two.
    pub fn flops(mut self, flops: usize) -> Self {
        self.work.f32_flops = Some(flops as u64);
        self
    }

    /// How many floating-point operations of `f64` a launch does; a fused multiply-add is two.
    pub fn f64_flops(mut self, flops: usize) -> Self {
        self.work.f64_flops = Some(flops as u64);
        self
    }

    /// What must come out of the first launch of each provider.
    pub fn expect(mut self, values: V) -> Self {
        self.reference = Reference::Values(values);
        self
    }

    /// The provider whose first result the others' must be like.
    pub fn expect_like(mut self, provider: impl Into<String>) -> Self {
        self.reference = Reference::Provider(provider.into());
        self
    }

    /// Measures without a check of results, for a reason that the report says.
    pub fn unchecked(mut self, reason: impl Into<String>) -> Self {
        self.reference = Reference::Unchecked(reason.into());
        self
    }

    /// How far numbers may be from what they should be, as a share of it where that is more than 1, else as it is. Without it they must be
    /// equal.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The launches wait for the device, so that they cannot be queued before they run: the gaps of launching are part of the time.
    pub fn synchronous(mut self) -> Self {
        self.is_synchronous = true;
        self
    }

    /// Measures the host's time in place of the device's: until the calls that launch return, while the device is held back. The mode is called `host`, and
    /// runs where `batch` would.
    ///
    /// ```standalone_crate
    /// use gpukernel_bench::{Bench, Result};
    ///
    /// #[gpukernel_bench::bench]
    /// fn queuing_a_copy(bench: &mut Bench<'_>) -> Result {
    ///     let stream = bench.device().default_stream();
    ///     let (from, mut to) = (stream.filled(32, 1.5_f32)?, stream.zeroed::<f32>(32)?);
    ///     let measurement = bench.measure().host_time().expect(vec![1.5; 32]);
    ///     measurement.provider("copy", &mut to, |to| stream.copy(&from, to)).run()
    /// }
    ///
    /// fn main() -> std::process::ExitCode {
    ///     gpukernel_bench::main()
    /// }
    /// ```
    pub fn host_time(mut self) -> Self {
        self.is_of_host = true;
        self
    }

    /// Measures launches of `unsafe` kernels and of code made elsewhere in the mode `replay`, too. Without it, they are not.
    ///
    /// # Safety
    /// What such kernels ask for holds also when what one call of a provider launched is launched again and again, without the call.
    pub unsafe fn replay_unsafe(mut self) -> Self {
        self.replays_unsafe = true;
        self
    }

    /// A way of computing it on the row's device, on its default stream, with where the result is. The times of others are shown as ratios to
    /// the first one's.
    pub fn provider<O, R, F>(self, name: impl Into<String>, output: &'b mut O, launch: F) -> Self
    where
        O: Output<Values = V>,
        R: Outcome + 'b,
        F: FnMut(&mut O) -> R + 'b,
    {
        let device = self.bench.device();
        self.provider_on(&device, name, output, launch)
    }

    /// A way of computing it on another device. On the host is [`Device::cpu`], whose time is wall-clock time.
    pub fn provider_on<O, R, F>(
        mut self,
        device: &Device,
        name: impl Into<String>,
        output: &'b mut O,
        launch: F,
    ) -> Self
    where
        O: Output<Values = V>,
        R: Outcome + 'b,
        F: FnMut(&mut O) -> R + 'b,
    {
        let (name, device) = (name.into(), device.clone());
        self.providers.push(Box::new(Launcher { name, device, output, launch }));
        self
    }

    /// What the time of a provider may be at most, as a ratio to another's. The report lists what is above.
    pub fn limit(self, provider: impl Into<String>, to: impl Into<String>, ratio: f64) -> Self {
        self.add_limit(provider.into(), to.into(), ratio, None)
    }

    /// As [`limit`](Self::limit), with the reason why a ratio above it is accepted: the run does not fail.
    pub fn limit_unless(
        self,
        provider: impl Into<String>,
        to: impl Into<String>,
        ratio: f64,
        reason: impl Into<String>,
    ) -> Self {
        self.add_limit(provider.into(), to.into(), ratio, Some(reason.into()))
    }

    fn add_limit(mut self, provider: String, to: String, ratio: f64, reason: Option<String>) -> Self {
        self.limits.push(Limit { provider, to, ratio, reason });
        self
    }
}

impl<V: Compare> Measurement<'_, '_, V> {
    /// Checks the result of each provider, then times them in turns.
    ///
    /// # Errors
    /// If nothing says what must come out, if something else comes out, or what providers return.
    pub fn run(mut self) -> Result<(), BoxError> {
        self.check_names()?;
        let session = self.bench.session();
        let checked = self.check_results()?;
        let mut providers: Vec<ProviderResult> = self
            .providers
            .iter()
            .zip(checked)
            .map(|(provider, (kernels, checked))| ProviderResult {
                name: provider.name().to_owned(),
                device: provider.device().id(),
                kernels,
                checked,
                modes: Vec::new(),
                not_replayed: None,
            })
            .collect();
        if !session.only_checks() {
            let modes = match self.is_of_host {
                true if session.modes().contains(&Mode::Batch) => &[Mode::Host],
                true => &[][..],
                false => session.modes(),
            };
            for mode in modes {
                self.measure(session, *mode, &mut providers)?;
            }
        }
        let Self { bench, work, limits, .. } = self;
        Ok(bench.set_outcome(RowOutcome::Measured(Measured { work, providers, limits }))?)
    }

    fn check_names(&self) -> Result<(), Error> {
        let known: Vec<String> = self.providers.iter().map(|provider| provider.name().to_owned()).collect();
        let is_known = |name: &String| match known.contains(name) {
            true => Ok(()),
            false => Err(Error::NoSuchProvider { name: name.clone(), known: known.clone() }),
        };
        if let Some((_, name)) = known.iter().enumerate().find(|(index, name)| known[..*index].contains(name))
        {
            return Err(Error::SameName { name: name.clone() });
        }
        match &self.reference {
            _ if known.is_empty() => return Err(Error::NoProvider),
            Reference::None => return Err(Error::NoReference),
            // Compared with itself, everything is right.
            Reference::Provider(_) if known.len() < 2 => return Err(Error::NoReference),
            Reference::Provider(name) => is_known(name)?,
            Reference::Values(_) | Reference::Unchecked(_) => {}
        }
        self.limits.iter().try_for_each(|limit| is_known(&limit.provider).and_then(|()| is_known(&limit.to)))
    }

    /// Launches each provider once, and compares the results.
    fn check_results(&mut self) -> Result<Vec<(Vec<KernelFacts>, Checked)>, BoxError> {
        let mut kernels = Vec::new();
        for provider in &mut self.providers {
            let (launched, launches) = record_launches(|| provider.launch());
            launched?;
            provider.device().synchronize()?;
            kernels.push(kernel_facts(&launches));
        }
        // Once, because reading gigabytes from a device takes seconds.
        let reference = match &self.reference {
            Reference::Provider(name) => {
                let provider = self.providers.iter().find(|provider| provider.name() == name);
                Some(provider.ok_or(Error::NoReference)?.values()?)
            }
            _ => None,
        };
        let mut checks = Vec::new();
        for provider in &self.providers {
            checks.push(self.check_result(&**provider, reference.as_ref())?);
        }
        Ok(kernels.into_iter().zip(checks).collect())
    }

    /// Compares the result of a provider with what is expected, or with that of the provider that is the reference.
    fn check_result(
        &self,
        provider: &dyn Provider<V>,
        of_reference: Option<&V>,
    ) -> Result<Checked, BoxError> {
        let within = |reference: String, difference: f64| match difference <= self.tolerance {
            true => Ok(difference),
            false => Err(Error::Differs {
                provider: provider.name().to_owned(),
                reference,
                difference,
                tolerance: self.tolerance,
            }),
        };
        Ok(match &self.reference {
            Reference::None => return Err(Error::NoReference.into()),
            Reference::Unchecked(reason) => Checked::Unchecked { reason: reason.clone() },
            Reference::Values(expected) => {
                let difference = provider.values()?.difference(expected);
                Checked::Values { difference: within("what is expected".to_owned(), difference)? }
            }
            Reference::Provider(name) if name == provider.name() => Checked::IsReference,
            Reference::Provider(name) => {
                let difference = provider.values()?.difference(of_reference.ok_or(Error::NoReference)?);
                let difference = within(format!("that of `{name}`"), difference)?;
                Checked::Provider { name: name.clone(), difference }
            }
        })
    }

    /// Records what each provider launches; notes for which that cannot be.
    fn record(&mut self, session: &Session, results: &mut [ProviderResult]) -> Vec<Option<Replay>> {
        let mut replays = Vec::new();
        for (provider, result) in self.providers.iter_mut().zip(results) {
            if self.is_synchronous {
                result.not_replayed = Some("its launches wait for the device".to_owned());
                replays.push(None);
                continue;
            }
            let device = provider.device().clone();
            // SAFETY: `unsafe` kernels are allowed by who promised this.
            let replay = unsafe { Replay::record(&device, self.replays_unsafe, || provider.launch()) };
            let replay = replay.unwrap_or_else(|error| {
                result.not_replayed = Some(not_replayed(&error));
                None
            });
            if replay.is_none() && session.modes() == [Mode::Replay] {
                result.not_replayed.get_or_insert_with(|| {
                    "it is measured in batches: the CPU device replays nothing".to_owned()
                });
            }
            replays.push(replay);
        }
        replays
    }

    /// Times all providers in a mode.
    fn measure(
        &mut self,
        session: &Session,
        mode: Mode,
        results: &mut [ProviderResult],
    ) -> Result<(), BoxError> {
        let is_replay = mode == Mode::Replay;
        let mut replays = if is_replay { self.record(session, results) } else { Vec::new() };
        // The indices of those that are measured.
        let measured: Vec<usize> =
            (0..self.providers.len()).filter(|index| !is_replay || replays[*index].is_some()).collect();
        if measured.is_empty() {
            return Ok(());
        }
        let is_synchronous = self.is_synchronous;
        let mut timers = session.timers();
        for provider in &self.providers {
            if let Entry::Vacant(entry) = timers.entry(provider.device().id()) {
                entry.insert(Timer::new(provider.device())?);
            }
        }
        let mut time = |index: usize, mode, launches| {
            let provider = &mut self.providers[index];
            let timer = timers.get_mut(&provider.device().id()).expect("each device has one");
            let mut launch = || match replays.get_mut(index).and_then(Option::as_mut) {
                Some(replay) => replay.launch().map_err(BoxError::from),
                None => provider.launch(),
            };
            let sample = timer.time(mode, launches, is_synchronous, &mut launch)?;
            sample.map_err(|Waited| Error::Waits { provider: provider.name().to_owned() }.into())
        };
        let mut launches = Vec::new();
        for &index in &measured {
            let kernels = results[index].kernels.iter().map(|kernel| kernel.launches).sum();
            let estimate = warm_up(session, kernels, |launches| time(index, Mode::Batch, launches))?;
            launches.push(match mode {
                Mode::Cold => 1,
                Mode::Batch | Mode::Replay | Mode::Host => Timer::launches_per_batch(estimate, kernels),
            });
        }
        if mode == Mode::Host {
            // What a sample's first call takes longer is divided by as many for each provider.
            let least = launches.iter().copied().min().unwrap_or(1);
            launches.fill(least);
        }
        let mut monitor = session.monitor();
        let samples = sample(
            measured.len(),
            &session.stop(),
            |turn| {
                let sample: Sample = time(measured[turn], mode, launches[turn])?;
                let device_ns = if mode == Mode::Host { sample.host_ns } else { sample.device_ns };
                Ok(Sample { device_ns, ..sample })
            },
            || monitor.look(),
        )?;
        let Samples { by_provider, converged } = samples;
        let (throttled, clocks) = monitor.into_findings();
        let times = |samples: &[Sample]| samples.iter().map(|sample| sample.device_ns).collect::<Vec<_>>();
        let first = (measured[0] == 0).then(|| times(&by_provider[0]));
        for (turn, (samples, &index)) in by_provider.iter().zip(&measured).enumerate() {
            let result = &mut results[index];
            let samples_ns = times(samples);
            let host_samples_ns: Vec<f64> = samples.iter().map(|sample| sample.host_ns).collect();
            let ratio = first.as_ref().filter(|_| index > 0).map(|first| Ratio {
                to: self.providers[0].name().to_owned(),
                value: stats::median_interval(&stats::ratios(&samples_ns, first)),
            });
            result.modes.push(ModeResult {
                mode: mode.name().to_owned(),
                launches_per_sample: launches[turn],
                time_ns: stats::median_interval(&samples_ns),
                host_ns: stats::median(&host_samples_ns),
                noise: stats::noise(&samples_ns),
                converged: converged[turn],
                throttled: throttled.get(&result.device).cloned().unwrap_or_default(),
                sm_mhz: clocks.get(&result.device).copied(),
                samples_ns,
                host_samples_ns,
                ratio,
                change: None,
            });
        }
        Ok(())
    }
}

/// Why a provider is not replayed.
fn not_replayed(error: &BoxError) -> String {
    match error.downcast_ref() {
        Some(gpukernel::Error::NotCapturable { what }) => format!("{what} cannot be replayed"),
        _ => error.to_string(),
    }
}

/// Launches until clocks and caches have settled, and estimates the time of a launch in nanoseconds.
fn warm_up(
    session: &Session,
    kernels: usize,
    mut time: impl FnMut(u32) -> Result<Sample, BoxError>,
) -> Result<f64, BoxError> {
    let (start, mut launches, mut rounds) = (std::time::Instant::now(), 1, 0);
    loop {
        let Sample { device_ns, .. } = time(launches)?;
        rounds += 1;
        if rounds >= 2 && start.elapsed() >= session.warm_up() {
            return Ok(device_ns);
        }
        // Small launches one at a time would not keep the device busy.
        launches = Timer::launches_per_batch(device_ns, kernels.max(8));
    }
}

/// The kernels of a launch, equal ones counted.
fn kernel_facts(launches: &[LaunchRecord]) -> Vec<KernelFacts> {
    let mut kernels: Vec<KernelFacts> = Vec::new();
    for launch in launches {
        let facts = KernelFacts {
            name: launch.kernel.clone(),
            grid_dim: launch.grid_dim,
            block_dim: launch.block_dim,
            launches: 1,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            resources: launch.attributes.map(|attributes| Resources {
                registers: attributes.registers,
                local_bytes: attributes.local_bytes,
                shared_bytes: attributes.shared_bytes,
                blocks_per_multiprocessor: attributes.blocks_per_multiprocessor,
                occupancy: Some(attributes.occupancy()),
            }),
        };
        match kernels.iter_mut().find(|known| KernelFacts { launches: 1, ..(*known).clone() } == facts) {
            Some(known) => known.launches += 1,
            None => kernels.push(facts),
        }
    }
    kernels
}

impl<V> std::fmt::Debug for Measurement<'_, '_, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let providers: Vec<_> = self.providers.iter().map(|provider| provider.name()).collect();
        f.debug_struct("Measurement")
            .field("work", &self.work)
            .field("providers", &providers)
            .finish_non_exhaustive()
    }
}
