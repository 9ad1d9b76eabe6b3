"""Runs the test programs that cargo has built, several at a time, the slow ones first.

    cargo test --no-run --message-format=json | python3 tests/programs.py JOBS NAME...

NAMEs are the programs to begin with. Each program runs in the folder of its package, as cargo
would run it, with one test at a time. What it prints is printed when it ends. The exit code is 1
if one of them failed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed


def programs(lines):
    """The name, path and folder of each test program."""
    for line in lines:
        if not line.startswith("{"):
            continue
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            folder = os.path.dirname(message["manifest_path"])
            yield message["target"]["name"], message["executable"], folder


def run(program):
    """Its exit code, what it printed, its seconds and those of processors with its children's."""
    name, path, folder = program
    began = time.monotonic()
    environment = {**os.environ, "RUST_TEST_THREADS": "1", "CARGO_MANIFEST_DIR": folder}
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen(
            [path], cwd=folder, env=environment, stdout=printed, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    seconds = time.monotonic() - began
    return child.returncode, text, seconds, used.ru_utime + used.ru_stime


def main():
    jobs, first = int(sys.argv[1]), sys.argv[2:]
    found = sorted(
        programs(sys.stdin), key=lambda p: first.index(p[0]) if p[0] in first else len(first)
    )
    if not found:
        sys.exit("no test program was built")
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(run, program): program for program in found}
        for future in as_completed(running):
            name, path, _ = running[future]
            code, printed, seconds, used = future.result()
            took = f"{seconds:.1f} s, {used:.1f} s of processors"
            print(f"{printed.rstrip()}\n  {name} ({os.path.basename(path)}): {took}", flush=True)
            if code != 0:
                failed.append(name)
    print(f"{len(found)} test programs, {len(failed)} of them failed: {', '.join(failed) or 'none'}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
