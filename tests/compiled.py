#!/usr/bin/env -S python3 -IS
"""A C compiler for the tests that keeps what it has compiled.

`./x test` puts links to this file, named after compilers, first on the PATH. Compiling takes most
of the time of the tests that run generated C, and most of these programs are those of the last run.
What is kept in $LOZENGE_COMPILED/KEY is the file that the real compiler wrote. The key is made of
all that this file depends on: the compiler, the processor, the flags, the text after the
preprocessor and the bytes of object files. Only the compiler is spared: each program still runs.

A command goes to the real compiler as it is if it does anything else than make one program, library
or object out of files that are named. Nothing is kept if it fails, or if what it prints names the
folder of a file: the folders have names of their own in each run, so they do not count. Warnings
are kept, and said again.
"""

import hashlib
import os
import shutil
import subprocess
import sys

# Flags with which a command reads or writes more than is looked at here. Packaged caches
# of compilers keep objects alone, and only of files that have the same path in each run.
BEYOND = tuple(
    "@ -B -E -L -M -S -T -f -x -v -### --coverage --help --version -dump -print -save-temps -specs"
    " -Wl,-Map -Wl,-T -Wl,-rpath".split()
)
# Of the flags with `-f`, those that only choose how code is made.
PLAIN = tuple(
    "-fPIC -fPIE -fassociative -fast -fcommon -ffast-math -ffp- -fgnu -fmax -fno- -fopenmp -fpic -fpie"
    " -fsanitize -fstack -ftrapv -funroll -fvisibility -fwrapv".split()
)
SEARCHED = ("LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")
OBJECTS = (".o", ".a")


def real(name):
    """The compiler behind the link, and the PATH without the folder of the links."""
    here = os.path.realpath(sys.argv[0])
    folders = []
    for folder in os.environ["PATH"].split(os.pathsep):
        if os.path.realpath(os.path.join(folder, name)) != here:
            folders.append(folder)
    path = os.pathsep.join(folders)
    found = shutil.which(name, path=path)
    if found is None:
        sys.exit(f"{name}: not found")
    return found, path


def plan(arguments):
    """The output, C files, other files, flags and those of the preprocessor, if that is all."""
    output, texts, objects, flags, preprocess = None, [], [], [], []
    rest = iter(arguments)
    for argument in rest:
        if argument == "-o":
            output = next(rest, None)
        elif argument in ("-I", "-D", "-U", "-include", "-isystem"):
            preprocess += [argument, next(rest, "")]
        elif argument.startswith(("-I", "-D", "-U")):
            preprocess.append(argument)
        elif argument.startswith("-"):
            if argument == "-" or argument.startswith(BEYOND) and not argument.startswith(PLAIN):
                return None
            flags.append(argument)
        elif argument.endswith((".c", ".i")):
            texts.append(argument)
        elif argument.endswith(OBJECTS):
            objects.append(argument)
        else:
            return None
    if not output or not texts or not os.path.isdir(os.path.dirname(output) or "."):
        return None
    return output, texts, objects, flags, preprocess


def processor():
    """What `-march=native` may depend on."""
    try:
        with open("/proc/cpuinfo", "rb") as info:
            kinds = (b"flags", b"model", b"Features", b"CPU part", b"cache size")
            return b"".join(sorted({line for line in info if line.startswith(kinds)}))
    except OSError:
        return b""


def without(folders, text):
    """The text without the folders in line markers; where a program has one as a string, it counts."""
    named = [
        folder.encode() for folder in sorted(folders, key=len, reverse=True) if len(folder) > 1
    ]
    lines = text.split(b"\n")
    for k, line in enumerate(lines):
        if line.startswith(b"# "):
            for folder in named:
                line = line.replace(folder, b"FOLDER")
            lines[k] = line
    return b"\n".join(lines)


def key(compiler, found, environment):
    """The digest of all that the output depends on; nothing if a text can't be preprocessed."""
    output, texts, objects, flags, preprocess = found
    path = os.path.realpath(compiler)
    about = os.stat(path)
    digest = hashlib.sha256(f"3 {path} {about.st_size} {about.st_mtime_ns} {flags}".encode())
    digest.update(processor())
    folders = {os.path.dirname(file) for file in texts} | {os.path.dirname(output)}
    for text in texts:
        content = open(text, "rb").read()
        if text.endswith(".c"):
            kept = [flag for flag in flags if flag != "-c"]
            command = [compiler, *kept, *preprocess, "-E", text]
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True
            )
            if done.returncode != 0:
                return None
            content = done.stdout
        if b".incbin" in content:
            return None
        content = without(folders, content)
        digest.update(b"%d\n" % len(content) + content)
    for file in objects:
        digest.update(hashlib.sha256(open(file, "rb").read()).digest())
    return digest.hexdigest()


def note(store, what):
    """Counts: a byte in a file, which several commands may write at once."""
    with open(os.path.join(store, what), "ab") as file:
        file.write(b".")


def put(path, write):
    """A file that is there whole or not at all."""
    new = f"{path}.{os.getpid()}"
    write(new)
    os.replace(new, path)


def main():
    name = os.path.basename(sys.argv[0])
    compiler, path = real(name)
    arguments = sys.argv[1:]
    environment = {**os.environ, "PATH": path}
    store = os.environ.get("LOZENGE_COMPILED")
    found = (
        plan(arguments)
        if store and not any(variable in os.environ for variable in SEARCHED)
        else None
    )
    try:
        name = key(compiler, found, environment) if found else None
    except OSError:
        name = None
    if name is None:
        if store:
            note(store, "passed-on")
        os.execve(compiler, [compiler, *arguments], environment)
    output, kept = found[0], os.path.join(store, name)
    if os.path.exists(kept):
        note(store, "taken")
        os.utime(kept)
        shutil.copy(kept, output)
        if os.path.exists(f"{kept}.said"):
            sys.stderr.write(open(f"{kept}.said").read())
        return
    done = subprocess.run([compiler, *arguments], env=environment, capture_output=True)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    named = any(os.path.dirname(file).encode() in done.stderr for file in found[1] if "/" in file)
    if done.returncode == 0 and not done.stdout and not named and os.path.isfile(output):
        if done.stderr:
            put(f"{kept}.said", lambda new: open(new, "wb").write(done.stderr))
        put(kept, lambda new: shutil.copy(output, new))
    note(store, "compiled")
    sys.exit(done.returncode)


main()
