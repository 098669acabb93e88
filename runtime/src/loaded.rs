//! Code on a device, with the kernels of it that were launched before.

use std::{
    any::TypeId,
    borrow::Borrow,
    hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState},
    sync::{Arc, OnceLock},
};

use crate::{
    Result,
    backend::{Backend, BackendModule, OfDevice},
};

/// A kernel that was found in the code.
pub(crate) struct Entry<B: Backend> {
    pub(crate) function: <B::Module as BackendModule>::Function,
    /// Whether its blocks wait for each other.
    pub(crate) cooperative: bool,
}

impl<B: Backend> Clone for Entry<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for Entry<B> {}

/// Loaded code. `K` tells its kernels apart, `S` hashes it.
pub(crate) struct Loaded<B: Backend, K, S = RandomState> {
    pub(crate) code: B::Module,
    hasher: S,
    /// By hash. Every launch looks here, so entries are only added, and looking takes no lock.
    entries: [Chain<B, K>; CHAINS],
}

/// A power of two.
const CHAINS: usize = 64;

/// The code of an image, whose kernels are told apart by their types.
pub(crate) type LoadedImage<B> = Loaded<B, TypeId, BuildHasherDefault<OfType>>;

/// The entries whose keys have the same hash.
type Chain<B, K> = OnceLock<Box<Link<B, K>>>;

struct Link<B: Backend, K> {
    key: K,
    entry: Entry<B>,
    next: Chain<B, K>,
}

/// The hash of a type's id, which is one already.
#[derive(Default)]
pub(crate) struct OfType(u64);

impl Hasher for OfType {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    /// What the id of a type writes.
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl<B: Backend, K: Hash + Eq, S: BuildHasher + Default> Loaded<B, K, S> {
    pub(crate) fn new(code: B::Module) -> Self {
        Self { code, hasher: S::default(), entries: [const { OnceLock::new() }; CHAINS] }
    }

    /// The kernel of this key, found by `find` at its first launch.
    #[inline]
    pub(crate) fn entry<Q>(&self, key: &Q, find: impl FnOnce() -> Result<Entry<B>>) -> Result<&Entry<B>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let mut chain = &self.entries[self.hasher.hash_one(key) as usize % CHAINS];
        while let Some(link) = chain.get() {
            if link.key.borrow() == key {
                return Ok(&link.entry);
            }
            chain = &link.next;
        }
        let entry = find()?;
        Ok(add(chain, key, entry))
    }
}

/// Adds an entry behind others, unless another thread has added one of this key meanwhile; returns the one that is there.
#[cold]
fn add<'c, B: Backend, K, Q>(mut chain: &'c Chain<B, K>, key: &Q, entry: Entry<B>) -> &'c Entry<B>
where
    K: Borrow<Q>,
    Q: Eq + ToOwned<Owned = K> + ?Sized,
{
    loop {
        let link = chain.get_or_init(|| Box::new(Link { key: key.to_owned(), entry, next: OnceLock::new() }));
        if link.key.borrow() == key {
            return &link.entry;
        }
        chain = &link.next;
    }
}

impl<B: Backend, K, S> OfDevice for Loaded<B, K, S> {
    type Device = B;

    fn device(&self) -> &'static B {
        self.code.device()
    }
}

impl<B: Backend, K, S> OfDevice for Arc<Loaded<B, K, S>> {
    type Device = B;

    fn device(&self) -> &'static B {
        self.code.device()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{backend::ImageCode, cpu::CpuDevice, output::Output};

    /// All keys in one chain.
    #[derive(Default)]
    struct Same;

    impl BuildHasher for Same {
        type Hasher = OfType;

        fn build_hasher(&self) -> OfType {
            OfType::default()
        }
    }

    impl Hash for Number {
        fn hash<H: Hasher>(&self, _: &mut H) {}
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Number(usize);

    #[test]
    fn each_key_is_found_once_on_any_thread() {
        let bytes = gpukernel_image::ImageWriter::new(gpukernel_image::Manifest::new("none")).finish();
        let image = gpukernel_image::Image::parse(&bytes).unwrap();
        let code = ImageCode { image: &image, functions: &[], output: &Output::default() };
        let loaded = Loaded::<CpuDevice, Number, Same>::new(CpuDevice::get().load(&code).unwrap());
        thread::scope(|scope| {
            for first in 0..4 {
                let loaded = &loaded;
                scope.spawn(move || {
                    for number in (0..100).map(|number| (number + 25 * first) % 100) {
                        let find = || Ok(Entry { function: (), cooperative: number % 2 == 1 });
                        assert_eq!(loaded.entry(&Number(number), find).unwrap().cooperative, number % 2 == 1);
                    }
                });
            }
        });
        let found = || -> Result<Entry<CpuDevice>> { panic!("it is there already") };
        assert!((0..100).all(|number| loaded.entry(&Number(number), found).is_ok()));
        let mut links = std::iter::successors(loaded.entries[0].get(), |link| link.next.get());
        assert_eq!(links.by_ref().count(), 100);
        let failed = loaded.entry(&Number(100), || Err(crate::Error::NotCapturable { what: String::new() }));
        assert!(failed.is_err());
        assert!(loaded.entry(&Number(100), || Ok(Entry { function: (), cooperative: true })).is_ok());
    }
}
