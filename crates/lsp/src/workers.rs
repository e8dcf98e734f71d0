//! Threads that do what takes time.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use lsp_server::RequestId;

/// Something to do.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Enough for what nests as deep as the parsers allow.
const STACK: usize = 16 << 20;

/// A thread with a queue.
pub(crate) struct Worker {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts a thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn new(name: &str) -> std::io::Result<Worker> {
        let (queue, jobs) = channel::<Job>();
        let work = move || {
            for job in jobs {
                // What is wrong with one request is none of the next one's.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
        Ok(Worker { queue: Some(queue), thread: Some(builder.spawn(work)?) })
    }

    /// Does `job` when all before it are done.
    pub(crate) fn add(&self, job: Job) {
        if let Some(queue) = &self.queue {
            // Nobody listens only after the end.
            let _ = queue.send(job);
        }
    }

    /// Waits for what is being done.
    pub(crate) fn finish(mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The requests that are not answered yet, each with what says that it is cancelled.
#[derive(Clone, Default)]
pub(crate) struct Pending(Arc<Mutex<HashMap<RequestId, Arc<AtomicBool>>>>);

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<AtomicBool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request.
    pub(crate) fn add(&self, id: &RequestId) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(false));
        self.lock().insert(id.clone(), flag.clone());
        flag
    }

    /// Notes that a request is answered.
    pub(crate) fn remove(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    /// Cancels a request, if it is not answered.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(flag) = self.lock().get(id) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Cancels all.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(|flag| flag.store(true, Ordering::Relaxed));
    }
}
