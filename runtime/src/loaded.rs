//! Code on a device, with the kernels of it that were launched before.

use std::{
    any::TypeId,
    borrow::Borrow,
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, BuildHasherDefault, Hash, Hasher},
    sync::{Arc, PoisonError, RwLock},
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
    entries: RwLock<HashMap<K, Entry<B>, S>>,
}

/// The code of an image, whose kernels are told apart by their types.
pub(crate) type LoadedImage<B> = Loaded<B, TypeId, BuildHasherDefault<OfType>>;

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
        Self { code, entries: RwLock::default() }
    }

    /// The kernel of this key, found by `find` at its first launch.
    pub(crate) fn entry<Q>(&self, key: &Q, find: impl FnOnce() -> Result<Entry<B>>) -> Result<Entry<B>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(entry) = self.entries.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return Ok(*entry);
        }
        let entry = find()?;
        self.entries.write().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), entry);
        Ok(entry)
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
