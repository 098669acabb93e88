//! When what ran, drawn with one line for each kind of work.

/// Work of a kind, in milliseconds since the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) lane: &'static str,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// All work.
#[derive(Debug)]
pub(crate) struct Timeline {
    lanes: [&'static str; 3],
    spans: Vec<Span>,
}

impl Timeline {
    pub(crate) fn new(lanes: [&'static str; 3], spans: Vec<Span>) -> Self {
        Self { lanes, spans }
    }

    /// In the order in which it was queued.
    #[cfg(test)]
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// From the start of the first to the end of the last.
    pub(crate) fn milliseconds(&self) -> f64 {
        let first = self.spans.iter().map(|span| span.start).fold(f64::INFINITY, f64::min);
        let last = self.spans.iter().map(|span| span.end).fold(0.0, f64::max);
        (last - first).max(0.0)
    }

    /// The share of the time of these lanes during which there was work in another one, too.
    pub(crate) fn hidden(&self, lanes: &[&str]) -> f64 {
        let (mut hidden, mut all) = (0.0, 0.0);
        for span in self.spans.iter().filter(|span| lanes.contains(&span.lane)) {
            all += span.end - span.start;
            hidden += covered(*span, self.spans.iter().filter(|other| other.lane != span.lane));
        }
        if all > 0.0 { hidden / all } else { 0.0 }
    }

    /// One line for each lane.
    pub(crate) fn drawn(&self, columns: usize) -> String {
        let first = self.spans.iter().map(|span| span.start).fold(f64::INFINITY, f64::min);
        let scale = columns as f64 / self.milliseconds().max(f64::MIN_POSITIVE);
        let width = self.lanes.iter().map(|lane| lane.len()).max().unwrap_or(0);
        let line = |lane: &&str| {
            let mut line = vec![' '; columns];
            for (number, span) in self.spans.iter().filter(|span| span.lane == *lane).enumerate() {
                let column = |time: f64| ((time - first) * scale) as usize;
                let (start, end) = (column(span.start).min(columns - 1), column(span.end));
                // Neighbours are told apart.
                let mark = if number % 2 == 0 { '█' } else { '▓' };
                line[start..end.clamp(start + 1, columns)].fill(mark);
            }
            format!("{lane:>width$} |{}|", line.into_iter().collect::<String>())
        };
        self.lanes.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// The time of a span during which there are others.
fn covered<'a>(span: Span, others: impl Iterator<Item = &'a Span>) -> f64 {
    let mut inside: Vec<[f64; 2]> =
        others.map(|other| [other.start.max(span.start), other.end.min(span.end)]).collect();
    inside.retain(|[start, end]| start < end);
    inside.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (mut covered, mut until) = (0.0, span.start);
    for [start, end] in inside {
        covered += (end - start.max(until)).max(0.0);
        until = until.max(end);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(spans: &[(&'static str, f64, f64)]) -> Timeline {
        let spans = spans.iter().map(|&(lane, start, end)| Span { lane, start, end }).collect();
        Timeline::new(["a", "b", "c"], spans)
    }

    #[test]
    fn time_with_other_work_is_hidden_once() {
        let serial = timeline(&[("a", 0.0, 1.0), ("b", 1.0, 2.0), ("c", 2.0, 3.0)]);
        assert_eq!((serial.milliseconds(), serial.hidden(&["a", "c"])), (3.0, 0.0));
        // Half of `b` is beside `a`, a quarter of it beside `c` as well.
        let beside = timeline(&[("a", 0.0, 2.0), ("b", 1.0, 3.0), ("c", 1.5, 2.0)]);
        assert_eq!((beside.hidden(&["b"]), beside.hidden(&["a"]), beside.hidden(&["c"])), (0.5, 0.5, 1.0));
        assert_eq!((timeline(&[]).hidden(&["a"]), timeline(&[]).milliseconds()), (0.0, 0.0));
    }

    #[test]
    fn lanes_are_lines_of_one_scale() {
        let drawn =
            timeline(&[("a", 1.0, 2.0), ("a", 2.0, 3.0), ("b", 2.0, 5.0), ("c", 4.9999, 5.0)]).drawn(8);
        assert_eq!(drawn, "a |██▓▓    |\nb |  ██████|\nc |       █|");
    }
}
