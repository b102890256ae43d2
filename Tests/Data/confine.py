#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program under the restrictions of a systemd unit's [Service] section, as far as root of this machine can.

    confine.py UNIT FOLDER REPORT USER PROGRAM [ARGUMENT]...

FOLDER stays writable; REPORT gets the names of the settings that hold, one a line.
"""
import ctypes, ctypes.util, os, resource, subprocess, sys

unit, folder, report, user, program = sys.argv[1:6]
libc = ctypes.CDLL(None, use_errno=True)
settings = {}
section = None
for line in open(unit, encoding="utf-8"):
    line = line.strip()
    if line.startswith("["):
        section = line
    elif section == "[Service]" and "=" in line and not line.startswith("#"):
        name, value = line.split("=", 1)
        settings.setdefault(name, []).append(value)
held = []


def wants(name):
    return settings.get(name, ["no"])[-1] in ("yes", "strict", "invisible", "pid")


def attempt(name, body):
    try:
        body()
        held.append(name)
    except (OSError, subprocess.CalledProcessError):
        pass


def call(function, *arguments):
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), function.__name__)


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# What has to stay in sight: an installed program lies below /usr, one just built may lie anywhere.
libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout.split()
needed = {os.path.realpath(path) for path in [program, *libraries] if path.startswith("/")}

CLONE = {"PrivateMounts": 0x20000, "PrivateNetwork": 0x40000000, "PrivateIPC": 0x8000000, "ProtectHostname": 0x4000000}
for name, flag in CLONE.items():
    if wants(name):
        attempt(name, lambda: call(libc.unshare, flag))
if "PrivateMounts" in held:
    mount("--make-rprivate", "/")

    def hide(options, *places):
        """Puts empty folders over places, where the program and its libraries do not lie below one of them."""
        if any(path.startswith(place + "/") for path in needed for place in places):
            raise OSError("the program is there")
        for place in places:
            mount("-t", "tmpfs", "-o", options, "none", place)

    def private_tmp():
        hide("mode=1777", "/tmp", "/var/tmp")

    def protect_home():
        hide("mode=0000,ro", "/root", "/home")

    def protect_system():
        mount("--bind", folder, folder)
        mount("-o", "remount,bind,ro", "/")

    attempt("PrivateTmp", private_tmp)
    attempt("ProtectHome", protect_home)
    attempt("ProcSubset", lambda: mount("-t", "proc", "-o", "hidepid=invisible,subset=pid", "none", "/proc"))
    attempt("ProtectSystem", protect_system)
for name, kind in (("LimitNOFILE", resource.RLIMIT_NOFILE),):
    if name in settings:
        number = min(int(settings[name][-1]), resource.getrlimit(kind)[1])
        attempt(name, lambda: resource.setrlimit(kind, (number, number)))


# Before rights go: what seccomp denies.
class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


ALLOW, EPERM, EAFNOSUPPORT = 0x7FFF0000, 0x00050001, 0x00050000 | 97
NOT_EQUAL, MASKED_EQUAL = 1, 7
seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
sets = {}
for line in subprocess.run(["systemd-analyze", "syscall-filter"], check=True, capture_output=True, text=True).stdout.splitlines():
    if line.startswith("@"):
        current = sets.setdefault(line.strip(), [])
    elif line.startswith("    ") and not line.strip().startswith("#"):
        current.append(line.strip())


def calls(names):
    found = set()
    for name in names:
        found |= calls(sets[name]) if name.startswith("@") else {name}
    return found


def rule(context, action, name, *comparisons):
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number != -1:
        array = (Comparison * max(1, len(comparisons)))(*comparisons)
        seccomp.seccomp_rule_add_array(ctypes.c_void_p(context), ctypes.c_uint32(action), number, len(comparisons), array)


allowed = set()
for value in settings.get("SystemCallFilter", []):
    names = calls(value.lstrip("~").split())
    allowed = allowed - names if value.startswith("~") else allowed | names
# What this script needs to become the program.
become = {"execve", "write", "close"}
filters = []
context = seccomp.seccomp_init(ALLOW)
rule(context, EAFNOSUPPORT, "socket", Comparison(0, NOT_EQUAL, 1, 0))
filters.append(("RestrictAddressFamilies", context))
context = seccomp.seccomp_init(ALLOW)
rule(context, EPERM, "mmap", Comparison(2, MASKED_EQUAL, 6, 6))
for name in ("mprotect", "pkey_mprotect"):
    rule(context, EPERM, name, Comparison(2, MASKED_EQUAL, 4, 4))
rule(context, EPERM, "shmat", Comparison(2, MASKED_EQUAL, 0o100000, 0o100000))
filters.append(("MemoryDenyWriteExecute", context))
context = seccomp.seccomp_init(ALLOW)
for name in ("unshare", "setns", "personality"):
    rule(context, EPERM, name)
filters.append(("RestrictNamespaces", context))
# The last: it denies further filters.
if allowed:
    context = seccomp.seccomp_init(EPERM)
    for name in sorted(allowed | become):
        rule(context, ALLOW, name)
    filters.append(("SystemCallFilter", context))

for capability in range(64):
    libc.prctl(24, capability, 0, 0, 0)
held.append("CapabilityBoundingSet")
os.umask(int(settings.get("UMask", ["0022"])[-1], 8))
if libc.prctl(38, 1, 0, 0, 0) == 0:
    held.append("NoNewPrivileges")
os.setgroups([])
os.setgid(int(user))
os.setuid(int(user))
held.append("User")
descriptor = os.open(report, os.O_WRONLY | os.O_TRUNC)
for name, context in filters:
    if seccomp.seccomp_load(ctypes.c_void_p(context)) == 0:
        held.append(name)
os.write(descriptor, "\n".join(held).encode() + b"\n")
os.close(descriptor)
os.execv(program, sys.argv[5:])
