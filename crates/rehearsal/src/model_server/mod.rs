//! A model server on loopback that follows a script: it speaks the Messages, Responses, Chat Completions and Gemini
//! APIs, plays a worker with a to-do list, and knows the true size of every request.
//!
//! Threads and sockets of the standard library only. It listens on 127.0.0.1, needs no key, and asks nobody else. The
//! worker is a pure function of the request ([`persona`]), so a request that is sent again is answered again.

pub mod answer;
pub mod conversation;
pub mod count;
pub mod facts;
pub mod persona;
pub mod script;
pub mod texts;
pub mod truth;

mod anthropic;
mod cache;
mod chat;
mod errand;
mod exchange;
mod fault;
mod forks;
mod gemini;
mod hands;
mod http;
mod line;
mod looks;
mod manner;
mod offline;
mod openai;
pub mod prose;
mod refusal;
mod reply;
mod route;
mod shape;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

pub use count::Count;
pub use offline::converse;
pub use script::ServerScript;
pub use truth::{Opening, TruthLine};

use exchange::Desk;

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    latency_ms: u64,
    stop: AtomicBool,
    desk: Mutex<Desk>,
    lines: Mutex<BTreeMap<u64, TcpStream>>,
}

impl ModelServer {
    /// Starts a server.
    ///
    /// # Errors
    /// The port is taken, or the truth log cannot be opened.
    pub fn start(script: ServerScript) -> io::Result<Self> {
        Self::counting(script, None)
    }

    /// Starts a server that counts tokens in the caller's way; 4 characters each without one.
    ///
    /// # Errors
    /// The port is taken, or the truth log cannot be opened.
    pub fn counting(script: ServerScript, count: Option<Count>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, script.port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            latency_ms: script.latency_ms,
            stop: AtomicBool::new(false),
            desk: Mutex::new(Desk::new(script, count, now_ms())?),
            lines: Mutex::default(),
        });
        let listening = thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&shared, &listener)
        });
        Ok(Self { address, shared, listening: Some(listening) })
    }

    /// Where it is: `http://127.0.0.1:PORT`. The paths begin with `/v1`, those of the Gemini API with `/v1beta`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order in which they came in.
    pub fn truth(&self) -> Vec<TruthLine> {
        self.shared.desk.lock().unwrap_or_else(PoisonError::into_inner).log.lines.clone()
    }

    /// The first request of every conversation so far, in order.
    pub fn openings(&self) -> Vec<Opening> {
        self.shared.desk.lock().unwrap_or_else(PoisonError::into_inner).log.openings.clone()
    }

    /// The body of every model call so far, with its number in the log, where the script wants them.
    pub fn bodies(&self) -> Vec<(u64, serde_json::Value)> {
        self.shared.desk.lock().unwrap_or_else(PoisonError::into_inner).bodies.clone()
    }

    /// From here on nothing goes wrong.
    pub fn clear_faults(&self) {
        self.shared.desk.lock().unwrap_or_else(PoisonError::into_inner).faults.clear();
    }

    /// Ends all connections and waits for the server's threads.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(listening) = self.listening.take() else { return };
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.hang_up();
        // The listener waits for a connection and looks whether to stop after each one.
        if TcpStream::connect(self.address).is_ok() {
            // A thread that panicked has said so already.
            let _ = listening.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn stops(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<u64, TcpStream>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hang_up(&self) {
        for line in self.lines().values() {
            // A line that is closed already is what is wanted.
            let _ = line.shutdown(Shutdown::Both);
        }
    }
}

fn listen(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut serving: Vec<JoinHandle<()>> = Vec::new();
    let mut serial = 0;
    for stream in listener.incoming() {
        if shared.stops() {
            break;
        }
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else { continue };
        serial += 1;
        shared.lines().insert(serial, handle);
        serving.retain(|thread| !thread.is_finished());
        let shared = Arc::clone(shared);
        serving.push(thread::spawn(move || {
            line::serve(&shared, stream);
            // The kept handle holds the socket open; the client waits for the end.
            if let Some(handle) = shared.lines().remove(&serial) {
                let _ = handle.shutdown(Shutdown::Both);
            }
        }));
    }
    shared.hang_up();
    for thread in serving {
        let _ = thread.join();
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
