//! Nsight Systems: how it is called, and its summary by kernel (`nsys stats --report cuda_gpu_kern_sum`).

use std::ffi::OsString;

use anyhow::Context;

use super::{Session, ncu::duration};
use crate::{kernels::Kernels, table::table};

/// Runs the program, and gives the table of kernels.
pub(super) fn profile(session: &Session<'_>) -> anyhow::Result<String> {
    let mut words: Vec<OsString> = vec![session.profiler.into()];
    // Launches are NVTX ranges.
    words.extend(["profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none"].map(OsString::from));
    words.extend(["--force-overwrite=true", "--output"].map(OsString::from));
    words.push(session.file.into());
    words.extend(session.args.profiler_option.iter().map(OsString::from));
    drop(std::fs::remove_file(session.file));
    let ended = session.run(&words)?;
    if !session.file.is_file() {
        return Err(session.nothing(&ended));
    }
    let mut read: Vec<OsString> =
        ["stats", "--report", "cuda_gpu_kern_sum", "--format", "csv"].map(OsString::from).into();
    read.extend(["--force-export=true".into(), session.file.into()]);
    let mut rows = parse(&session.read(&read)?, session.kernels)?;
    if let Some(kernel) = session.kernel {
        rows.retain(|row| row.kernel == kernel.name);
    }
    if rows.is_empty() {
        return Err(session.nothing(&ended));
    }
    Ok(show(&rows))
}

/// All launches of a kernel.
#[derive(Debug, PartialEq)]
struct Row {
    kernel: String,
    /// Of the time of all kernels.
    percent: f64,
    launches: f64,
    total_ns: f64,
    median_ns: Option<f64>,
    min_ns: Option<f64>,
    max_ns: Option<f64>,
}

/// Reads the summary. Lines before it are the tool's.
fn parse(text: &str, kernels: &Kernels) -> anyhow::Result<Vec<Row>> {
    let Some(start) = text.find("Time (%),") else { return Ok(Vec::new()) };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&text.as_bytes()[start..]);
    let names = reader.headers().context("nsys wrote no CSV")?.clone();
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.context("nsys wrote no CSV")?;
        let text = |name: &str| row.get(names.iter().position(|column| column == name)?);
        let number = |name: &str| text(name)?.trim().parse::<f64>().ok();
        let (Some(name), Some(percent), Some(total_ns)) =
            (text("Name"), number("Time (%)"), number("Total Time (ns)"))
        else {
            continue;
        };
        rows.push(Row {
            kernel: kernels.of_symbol(name).map_or_else(|| name.to_owned(), |kernel| kernel.name.clone()),
            percent,
            launches: number("Instances").unwrap_or_default(),
            total_ns,
            median_ns: number("Med (ns)"),
            min_ns: number("Min (ns)"),
            max_ns: number("Max (ns)"),
        });
    }
    Ok(rows)
}

fn show(rows: &[Row]) -> String {
    let mut table = table(["kernel", "share", "launches", "total", "median", "min", "max"], 1);
    for row in rows {
        let time = |ns: Option<f64>| ns.map_or_else(|| "?".to_owned(), duration);
        table.add_row([
            row.kernel.clone(),
            format!("{:.1} %", row.percent),
            format!("{:.0}", row.launches),
            duration(row.total_ns),
            time(row.median_ns),
            time(row.min_ns),
            time(row.max_ns),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the form of `nsys stats --report cuda_gpu_kern_sum --format csv` of Nsight Systems 2025.
    const SUMMARY: &str = "\
Generating SQLite file /tmp/a.sqlite from /tmp/a.nsys-rep
Processing [/tmp/a.sqlite] with [/opt/nvidia/nsight-systems/reports/cuda_gpu_kern_sum.py]...
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
80.0,8000,4,2000.0,1900.0,1800,2400,10.0,saxpy
20.0,2000,1,2000.0,2000.0,2000,2000,0.0,\"void other<int, float>(int *)\"
";

    #[test]
    fn rows_are_kernels() {
        let rows = parse(SUMMARY, &Kernels::default()).unwrap();
        let names: Vec<_> = rows.iter().map(|row| (row.kernel.as_str(), row.launches)).collect();
        assert_eq!(names, [("saxpy", 4.0), ("void other<int, float>(int *)", 1.0)]);
        let text = show(&rows);
        let cells: Vec<_> =
            text.lines().nth(1).unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["saxpy", "80.0 %", "4", "8.00 µs", "1.90 µs", "1.80 µs", "2.40 µs"]);
    }

    #[test]
    fn a_trace_without_kernels_has_no_rows() {
        let text = "SKIPPED: /tmp/a.sqlite does not contain CUDA kernel data.\n";
        assert!(parse(text, &Kernels::default()).unwrap().is_empty());
    }
}
