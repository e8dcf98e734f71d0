//! Descriptions of machines: named, probed, written and read.

use tangram_machine::{Isa, Machine, MachineError};

#[test]
fn every_instruction_set_reads_back_by_name_and_as_a_file() {
    for isa in Isa::all() {
        let machine = Machine::of(isa);
        assert_eq!(isa.name().parse(), Ok(isa));
        assert_eq!(isa.name().parse::<Machine>(), Ok(machine.clone()));
        assert_eq!(Machine::from_json(&machine.to_json()), Ok(machine));
    }
}

#[test]
fn this_computer_has_what_its_instruction_set_has() {
    let native = Machine::native();
    assert!(native.cores >= 1 && native.cache(1).is_some(), "{native:?}");
    assert_eq!(native.vector_bytes, Machine::of(native.isa).vector_bytes);
    // The description passes the checks that a file has to pass.
    assert_eq!(Machine::from_json(&native.to_json()), Ok(native));
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_instruction_set_is_the_one_that_linux_lists() {
    let listed = std::fs::read_to_string("/proc/cpuinfo").expect("Linux has it");
    let flags = listed.lines().find(|line| line.starts_with("flags")).expect("x86 lists flags");
    let has = |flag| flags.split_whitespace().any(|listed| listed == flag);
    let expected = match (has("avx512f") && has("avx512vl"), has("avx2") && has("fma")) {
        (true, _) => Isa::Avx512,
        (_, true) => Isa::Avx2,
        _ => Isa::Sse2,
    };
    assert_eq!(Machine::native().isa, expected);
}

#[test]
fn vectors_hold_what_fits() {
    let machine = Machine::of(Isa::Avx512);
    assert_eq!([1, 2, 4, 8].map(|bytes| machine.lanes(bytes)), [64, 32, 16, 8]);
    assert_eq!(Machine::of(Isa::Scalar).lanes(16), 1);
    assert_eq!(machine.fma_elements_per_cycle(4), 32);
}

#[test]
fn what_is_wrong_in_a_file_is_named() {
    let good = Machine::of(Isa::Avx2).to_json();
    let fault = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} is not in {good}");
        Machine::from_json(&good.replacen(from, to, 1)).expect_err("it is wrong").to_string()
    };
    assert_eq!(
        fault("\"vector_bytes\": 32", "\"vector_bytes\": 33"),
        "`vector_bytes` is 33, expected a power of two"
    );
    assert_eq!(fault("\"level\": 2", "\"level\": 1"), "`level` is 1, expected levels that rise");
    assert_eq!(fault("\"cores\": 1", "\"cores\": 0"), "`cores` is 0, expected at least 1");
    let unknown = fault("\"cores\"", "\"kernels\"");
    assert!(unknown.starts_with("line ") && unknown.contains("`kernels`"), "{unknown}");
    assert_eq!("avx".parse::<Machine>(), Err(MachineError::Isa("avx".to_owned())),);
    assert_eq!(
        MachineError::Isa("avx".to_owned()).to_string(),
        "no machine `avx`; there are native, scalar, sse2, avx2, avx512, neon, or a file"
    );
}
