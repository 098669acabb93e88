//! Runs the programs that it was built with on the CPU, and writes what they compute as JSON.
//!
//! `reference FIRST END` for all of them, `reference FIRST END words` for what each element became, as text.

use std::{error::Error, io::Write};

use program_generator::Kind;
use program_reference::{Case, Kernels, Outcome, Unoptimised, case::CASES, launch::load_on_cpu};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [first, end, words @ ..] = arguments.as_slice() else {
        return Err("give the first seed and the end".into());
    };
    let (first, end): (u64, u64) = (first.parse()?, end.parse()?);
    let module = load_on_cpu()?;

    let mut expected = Vec::new();
    for (number, seed) in (first..end).enumerate() {
        let mut outcomes = Vec::new();
        for case in 0..CASES {
            let result = Unoptimised::launch(&module, Kind::of(seed), number as u32, &Case::new(seed, case));
            let outcome = Outcome::of(&result);
            let is_wrong = match outcome {
                Outcome::Computed(_) => false,
                // In the others several threads might, of which any one can be the first.
                Outcome::Panicked { .. } => Kind::of(seed) != Kind::Panics,
                Outcome::Failed(_) => true,
            };
            if is_wrong {
                return Err(format!("the program of seed {seed} is wrong: {outcome}").into());
            }
            if !words.is_empty() {
                println!("seed {seed}, case {case}: {outcome}\n{:x?}", result.unwrap_or_default());
            }
            outcomes.push(outcome);
        }
        expected.push(outcomes);
    }
    if words.is_empty() {
        std::io::stdout().write_all(&serde_json::to_vec(&expected)?)?;
    }
    Ok(())
}
