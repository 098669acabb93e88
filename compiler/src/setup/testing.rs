//! A web server on the loopback interface, for tests.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    thread::JoinHandle,
};

/// Serves files, with ranges, one request per connection. It stops when dropped.
pub(super) struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    ranges: Vec<String>,
    break_off_after: Option<usize>,
    without_ranges: bool,
    stop: bool,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut state = shared.lock().unwrap();
                if state.stop {
                    break;
                }
                // A client that goes away is no concern of the server's.
                let _ = answer(&mut state, stream);
            }
        });
        Self { address, state, thread: Some(thread) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.state().files.insert(path.to_owned(), content.into());
        self
    }

    /// Promises all of a file and sends this much of it.
    pub(super) fn break_off_after(self, bytes: usize) -> Self {
        self.state().break_off_after = Some(bytes);
        self
    }

    pub(super) fn without_ranges(self) -> Self {
        self.state().without_ranges = true;
        self
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The ranges that were asked for.
    pub(super) fn ranges(&self) -> Vec<String> {
        self.state().ranges.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state().stop = true;
        // Wakes the thread up.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn answer(state: &mut State, stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut start = None;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: ") {
            state.ranges.push(range.to_owned());
            start =
                range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-')?.parse::<usize>().ok());
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let mut stream = stream;
    let Some(content) = state.files.get(path) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    };
    let start = start.filter(|_| !state.without_ranges);
    let status = match start {
        Some(start) if start >= content.len() => "416 Range Not Satisfiable",
        Some(_) => "206 Partial Content",
        None => "200 OK",
    };
    let rest = content.get(start.unwrap_or(0)..).unwrap_or_default();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", rest.len())?;
    let sent = state.break_off_after.unwrap_or(rest.len()).min(rest.len());
    stream.write_all(&rest[..sent])
}
