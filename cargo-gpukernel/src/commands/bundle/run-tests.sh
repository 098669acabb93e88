#!/bin/sh
# Runs every test binary of this bundle on the devices of this machine. Needs a driver for the GPU and the C library, but no Rust,
# no CUDA toolkit and no network.
#
#   run-tests [--benches] [--markdown] [--timeout SECONDS] [--only NAME]... [--sanitizer TOOL] [--also COMMAND]... [FILTER]...
#
# --benches    also run the benchmarks, after the tests; those of gpukernel-bench write their reports to the folder `bench`
#              beside the log, and take 2 seconds at most for a row in a mode, or GPUKERNEL_BENCH_MAX_TIME
# --markdown   print a section for docs/gpu-results.md instead of the test output
# --timeout    time limit for each binary (default 900)
# --only       only the tests and benchmarks whose binaries have names that end in NAME
# --sanitizer  run the tests under compute-sanitizer's memcheck, racecheck, initcheck or synccheck, which must find nothing
# --also       also run a command after the tests, which finds the bundle's examples in its PATH: 'mpirun -n 4 n-body'
# FILTER       only tests whose names contain one of them, as for `cargo test`
#
# Lines "measured: TEXT" that a test writes to standard error are listed in the section, under the table.
# The output goes to run-tests.log in $OUT, or in the folder `results` beside this script.
# The last line is "N passed, N failed, N skipped"; the exit status is 0 if something passed and nothing failed. Where there is no
# GPU, tests that need one (`#[ignore]` in modules `needs_a_gpu`) are skipped.
set -u

commit='@COMMIT@'
benches=no
markdown=no
seconds=900
only=
sanitizer=
also=
while [ $# -gt 0 ]; do
    case $1 in
    --benches) benches=yes ;;
    --markdown) markdown=yes ;;
    --timeout)
        shift
        seconds=${1:?--timeout needs a number of seconds}
        ;;
    --only)
        shift
        only="$only ${1:?--only needs the name of a test binary}"
        ;;
    --sanitizer)
        shift
        sanitizer=${1:?--sanitizer needs memcheck, racecheck, initcheck or synccheck}
        command -v compute-sanitizer >/dev/null || {
            echo 'run-tests: compute-sanitizer is not in the PATH; it is part of the CUDA toolkit' >&2
            exit 2
        }
        ;;
    --also)
        shift
        also="$also${1:?--also needs a command}
"
        ;;
    -h | --help)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    -*)
        echo "run-tests: unknown option $1; see run-tests --help" >&2
        exit 2
        ;;
    *) break ;;
    esac
    shift
done
for filter in "$@"; do
    case $filter in
    -*)
        echo "run-tests: the option $filter comes after a FILTER; options come first" >&2
        exit 2
        ;;
    esac
done

bundle=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 2
results=${OUT:-$bundle/results}
mkdir -p "$results" || exit 2
log=$results/run-tests.log
rows=$results/run-tests.rows
modules=$results/run-tests.modules
tables=$results/run-tests.tables
one=$results/run-tests.one
: >"$log" || exit 2
: >"$rows"
: >"$modules"
: >"$tables"
trap 'rm -f "$rows" "$modules" "$tables" "$one" "$one.now" "$one.errors"' EXIT

# Tests find every device themselves.
unset GPUKERNEL_DEVICE
# Beside other threads, racecheck fails to track launches of one, which it counts as a hazard.
[ "$sanitizer" != racecheck ] || export RUST_TEST_THREADS=1

# Shows the output of the tests on the terminal, or keeps it for the log alone.
say() {
    tee -a "$log" | if [ "$markdown" = yes ]; then cat >/dev/null; else cat; fi
}

devices=$(nvidia-smi --query-gpu=name,memory.total,compute_cap --format=csv,noheader 2>/dev/null) ||
    devices='no NVIDIA GPU (nvidia-smi finds none): CPU device only'
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
driver=${driver:-none}
cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
date=$(date -u '+%Y-%m-%d %H:%M UTC')

{
    echo "device: $devices"
    echo "driver: $driver"
    echo "cpu:    ${cpu:-unknown}, $(getconf _NPROCESSORS_ONLN) threads"
    echo "date:   $date"
    echo "commit: $commit"
    [ -z "$sanitizer" ] || echo "under compute-sanitizer $sanitizer"
} | say

# The sum over the "test result:" lines of $one, for the word $1.
count() {
    sed -n "s/^test result:.* \([0-9][0-9]*\) $1.*/\1/p" "$one" | awk '{ sum += $1 } END { print sum + 0 }'
}

# The modules of the tests that passed, each with their number.
modules_passed() {
    sed -n 's/^test \([^ :]*\)::.* \.\.\. ok$/\1/p' "$one" | sort | uniq -c |
        awk '{ printf "%s%s %d", separator, $2, $1; separator = ", " }'
}

# What tests measured, as a list. In one thread, the harness begins the line with the name of the test.
measured() {
    sed -n 's/^\(test .* \.\.\. \)\{0,1\}measured: /- /p' "$one"
}

# What compute-sanitizer says at the end of each run: nothing, if it was stopped.
summaries() {
    sed -n 's/^=* \([A-Z]* SUMMARY: .*\)/\1/p' "$one" | awk '{ printf "%s%s", separator, $0; separator = "; " } END { print NR ? "." : "no summary." }'
}

passed=0
failed=0
skipped=0
apart=no
# Runs $binary with the arguments, adds its output to $one, and says how it ended if not well. If $apart is yes, what it writes
# to standard error is not added.
run() {
    name=$(basename "$binary")
    echo "--- $name $*" | say
    : >"$one.errors"
    (
        cd "$results" || exit 2
        [ "$apart" = no ] || exec 2>"$one.errors"
        set -- "$binary" "$@"
        # Errors of calls are what tests ask for, too: memcheck would count them.
        [ "$sanitizer" != memcheck ] || set -- --report-api-errors no "$@"
        [ -z "$sanitizer" ] || set -- compute-sanitizer --tool "$sanitizer" --error-exitcode 99 "$@"
        if command -v timeout >/dev/null; then
            timeout -k 10 "$seconds" "$@"
        else
            "$@"
        fi
    ) >"$one.now" 2>&1
    status=$?
    # compute-sanitizer takes a program that has no use for a GPU for one that failed: of whose tests none needs one.
    if [ -n "$sanitizer" ] && grep -q 'terminated before first instrumented API call' "$one.now" && grep -q '^test result: ok' "$one.now"; then
        status=0
    fi
    say <"$one.now"
    say <"$one.errors"
    cat "$one.now" >>"$one"
    case $status in
    0) ;;
    124 | 137) echo "$name: timed out after $seconds s, or was killed (exit status $status)" | say ;;
    *) echo "$name: exit status $status" | say ;;
    esac
}

# Whether $binary is to be run.
is_asked_for() {
    [ -n "$only" ] || return 0
    for end in $only; do
        case ${binary##*/} in
        *"$end") return 0 ;;
        esac
    done
    return 1
}

for binary in "$bundle"/tests/*; do
    [ -x "$binary" ] && is_asked_for || continue
    started=$(date +%s)
    : >"$one"
    run "$@"
    died=$status
    binary_skipped=$(count ignored)
    ran=$(($(count passed) + $(count failed)))
    if nvidia-smi >/dev/null 2>&1; then
        # Of several filters, each is enough.
        if [ $# -gt 0 ]; then run --ignored "$@"; else run --ignored needs_a_gpu; fi
        [ "$status" -eq 0 ] || died=$status
        binary_skipped=$((binary_skipped - $(count passed) - $(count failed) + ran))
        # One that dies does not say how many it left out.
        [ "$binary_skipped" -ge 0 ] || binary_skipped=0
    fi
    taken=$(($(date +%s) - started))
    binary_passed=$(count passed)
    binary_failed=$(count failed)
    # It died before it could count.
    if [ "$died" -ne 0 ] && [ "$binary_failed" -eq 0 ]; then
        binary_failed=1
    fi
    passed=$((passed + binary_passed))
    failed=$((failed + binary_failed))
    skipped=$((skipped + binary_skipped))
    echo "| $name | $binary_passed | $binary_failed | $binary_skipped | $taken |" >>"$rows"
    what=$(modules_passed)
    [ -z "$what" ] || printf '\n`%s` passed: %s.\n' "$name" "$what" >>"$modules"
    what=$(measured)
    [ -z "$what" ] || printf '\n`%s` measured:\n\n%s\n' "$name" "$what" >>"$modules"
    [ -z "$sanitizer" ] || printf '\n`%s` under %s: %s\n' "$name" "$sanitizer" "$(summaries)" >>"$modules"
done

# Programs print what they like.
apart=yes
PATH=$bundle/examples:$PATH
while read -r command; do
    [ -n "$command" ] || continue
    : >"$one"
    binary=sh
    run -c "$command" </dev/null
    { printf '\n`%s`:\n\n```text\n' "$command" && cat "$one" && echo '```'; } >>"$tables"
    if [ "$status" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done <<END
$also
END

# Benchmarks print Markdown: those of gpukernel-bench if the environment says so. One that does not end well is a failure too.
if [ "$benches" = yes ]; then
    export GPUKERNEL_BENCH_OUTPUT=markdown GPUKERNEL_BENCH_DIR="$results/bench" GPUKERNEL_COMMIT="$commit"
    export GPUKERNEL_BENCH_MAX_TIME="${GPUKERNEL_BENCH_MAX_TIME:-2}"
    for binary in "$bundle"/benches/*; do
        [ -x "$binary" ] && is_asked_for || continue
        : >"$one"
        # As cargo runs them. Without it, those of gpukernel-bench and of criterion only check that they run.
        run --bench
        printf '\nBenchmark `%s`:\n\n' "$name" >>"$tables"
        cat "$one" >>"$tables"
        if [ "$status" -eq 0 ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf '\nIt failed with exit status %s; the log says more.\n' "$status" >>"$tables"
        fi
    done
fi

if [ "$markdown" = yes ]; then
    echo "## $date: $(echo "$devices" | sed -n '1{s/[,(].*//;s/ *$//;p;}')"
    echo
    echo '| | |'
    echo '|---|---|'
    echo "$devices" | sed 's/^/| device | /; s/$/ |/'
    echo "| driver | $driver |"
    echo "| date | $date |"
    echo "| commit | $commit |"
    [ -z "$sanitizer" ] || echo "| under | compute-sanitizer $sanitizer |"
    [ $# -eq 0 ] || echo "| filters | $* |"
    echo "| result | $passed passed, $failed failed, $skipped skipped |"
    echo
    echo '| test binary | passed | failed | skipped | seconds |'
    echo '|---|--:|--:|--:|--:|'
    cat "$rows" "$modules" "$tables"
    echo "$passed passed, $failed failed, $skipped skipped" >>"$log"
else
    echo "$passed passed, $failed failed, $skipped skipped" | say
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
