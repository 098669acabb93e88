#![allow(unused)]

use gpu_std::println;

struct Own;

fn values(string: String, vec: Vec<u32>, option: Option<String>) {
    println!("{string}");
    println!("{vec:?} {}", 1);
    println!("{:?}", option);
}

fn formats(x: u32) {
    println!("{} {}", x);
    println!("{y}");
    println!("{x", 1);
    println!(x);
    println!("{}", Own);
}

fn main() {}
