#!/bin/sh
# Installs the wheels of the folder that it is in, which `.ci/run python` makes, and runs their tests: with arrays of NumPy, and of CuPy, PyTorch, Numba and JAX where $PYTHON, or else
# python3, has these and there is a GPU. Needs neither Rust nor the network. Arguments are for pytest.
set -eu
cd "$(dirname "$0")"
python=${PYTHON:-python3}
# Not a virtual environment: one that is made by the Python of another has none of the packages of that.
rm -rf site
"$python" -m pip install --quiet --no-index --no-deps --target site wheels/*.whl
export PYTHONPATH="$PWD/site" PYTHONDONTWRITEBYTECODE=1
# Plugins may be there, for another release of pytest than that of the wheels.
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
# Or JAX takes three quarters of the memory of a GPU.
export XLA_PYTHON_CLIENT_PREALLOCATE=false
failed=0
for tests in template example attacks; do
    (cd "$tests" && timeout --kill-after 10 180 "$python" -m pytest -p no:cacheprovider "$@") ||
        { echo "run-tests: the tests of $tests ended with status $?" && failed=1; }
done
exit "$failed"
