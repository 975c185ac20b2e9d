"""What a systemd unit says, and a process that runs as it says, without systemd as the first process.

    /usr/bin/python3 unit.py ROOT UNIT [ExecReload]

becomes the unit's ExecStart (or its ExecReload, for the process MAINPID) in the system under ROOT: its user, folders, limits and
mounts, without privileges, and behind the unit's filters of system calls. It needs root and Debian's python3-seccomp.
"""

import ctypes
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# Nothing to do here: the service manager's own part, or covered by what is done (no capability, no privileged call).
ELSEWHERE = set(
    """
    Type Restart RestartSec TimeoutStartSec TimeoutStopSec WatchdogSec AmbientCapabilities PrivateUsers PrivateIPC
    ProtectClock ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectControlGroups
    RestrictNamespaces RestrictRealtime RestrictSUIDSGID LockPersonality RemoveIPC KeyringMode SystemCallArchitectures
    """.split()
)
DONE = set(
    """
    User Group ExecStart ExecReload WorkingDirectory StateDirectory StateDirectoryMode UMask LimitNOFILE NoNewPrivileges
    CapabilityBoundingSet ProtectSystem ProtectHome PrivateTmp PrivateDevices ProtectProc ProcSubset
    RestrictAddressFamilies MemoryDenyWriteExecute SystemCallFilter SystemCallErrorNumber
    """.split()
)
MS_REC, MS_PRIVATE, MS_BIND, MS_REMOUNT, MS_RDONLY = 16384, 1 << 18, 4096, 32, 1
MS_NOSUID, MS_NODEV = 2, 4
CLONE_NEWNS = 0x20000
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
libc = ctypes.CDLL(None, use_errno=True)


def service(unit):
    """The settings of [Service], each with its values in order; an empty value takes back those before it."""
    settings, section = defaultdict(list), ""
    for line in Path(unit).read_text().splitlines():
        if line.startswith("["):
            section = line.strip()
        elif section == "[Service]" and line and line[0] not in "#;":
            name, value = line.split("=", 1)
            settings[name] = [*settings[name], value] if value else []
    unknown = set(settings) - ELSEWHERE - DONE
    assert not unknown, f"the test of packages does not know {unknown}: put each into unit.py"
    return settings


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(source, target, kind="none", flags=0, options=""):
    check(libc.mount(str(source).encode(), str(target).encode(), kind.encode(), flags, options.encode()))


def own_mounts(root, settings, user):
    """ProtectSystem=strict and what goes with it: all read-only but the service's own folder."""
    assert settings["ProtectSystem"] == ["strict"] and settings["PrivateTmp"] == ["yes"], settings
    check(libc.unshare(CLONE_NEWNS))
    mount("none", Path("/"), flags=MS_REC | MS_PRIVATE)
    mount(root, root, flags=MS_BIND)
    for name in settings["StateDirectory"]:
        folder = root / "var/lib" / name
        if not folder.exists():
            folder.mkdir()
        os.chown(folder, *user)
        folder.chmod(int(settings["StateDirectoryMode"][0], 8))
        mount(folder, folder, flags=MS_BIND)
    for name in ("tmp", "var/tmp"):
        mount("tmp", root / name, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    for name in ("home", "root"):
        mount("home", root / name, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "mode=0")
    devices = root / "dev"
    mount("dev", devices, "tmpfs", MS_NOSUID, "mode=755")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        (devices / name).touch()
        mount(Path("/dev", name), devices / name, flags=MS_BIND)
    hidden, subset = settings["ProtectProc"][0], settings["ProcSubset"][0]
    mount("proc", root / "proc", "proc", MS_NOSUID | MS_NODEV, f"hidepid={hidden},subset={subset}")
    mount(root, root, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def calls(names):
    """The system calls of these names and groups (@…)."""
    found = set()
    for name in names:
        if not name.startswith("@"):
            found.add(name)
            continue
        shown = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True)
        lines = [line.strip() for line in shown.stdout.splitlines()[1:]]
        found |= calls([line for line in lines if line and not line.startswith("#")])
    return found


def filters(settings):
    """The unit's filters of system calls; they hold once `load` is called on each."""
    import seccomp

    allowed = set()
    for value in settings["SystemCallFilter"]:
        group = calls(value.lstrip("~").split())
        allowed = allowed - group if value.startswith("~") else allowed | group
    number = getattr(__import__("errno"), settings["SystemCallErrorNumber"][0])
    listed = seccomp.SyscallFilter(defaction=seccomp.ERRNO(number))
    # What ends and starts a program is allowed by systemd in any case.
    for name in allowed | {"execve", "exit", "exit_group", "rt_sigreturn", "brk", "mmap", "munmap", "mprotect"}:
        try:
            listed.add_rule(seccomp.ALLOW, name)
        except (OSError, RuntimeError, ValueError):
            pass  # not a call of this architecture
    forbidden = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    if settings["MemoryDenyWriteExecute"] == ["yes"]:
        write, execute, refused = 2, 4, seccomp.ERRNO(1)
        both = write | execute
        forbidden.add_rule(refused, "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, both))
        for name in ("mprotect", "pkey_mprotect"):
            forbidden.add_rule(refused, name, seccomp.Arg(2, seccomp.MASKED_EQ, execute, execute))
    import socket

    families = {getattr(socket, name) for value in settings["RestrictAddressFamilies"] for name in value.split()}
    for family in set(range(46)) - families:
        forbidden.add_rule(seccomp.ERRNO(97), "socket", seccomp.Arg(0, seccomp.EQ, family))
    return [listed, forbidden]


def account(root, name, group):
    """Ids of a user and of a group of the system under `root`."""
    def ids(file):
        return {line.split(":")[0]: int(line.split(":")[2]) for line in (root / file).read_text().splitlines()}

    return ids("etc/passwd")[name], ids("etc/group")[group]


def run_as(root, settings, what="ExecStart"):
    user = account(root, settings["User"][0], settings["Group"][0])
    restrictions = filters(settings)
    own_mounts(root, settings, user)
    os.chroot(root)
    os.chdir(settings["WorkingDirectory"][0])
    os.umask(int(settings["UMask"][0], 8))
    # No more than this machine allows.
    files = min(int(settings["LimitNOFILE"][0]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    assert "CapabilityBoundingSet" in settings and not settings["CapabilityBoundingSet"]
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    os.setgroups([])
    os.setgid(user[1])
    os.setuid(user[0])
    assert settings["NoNewPrivileges"] == ["yes"]
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    # Python ignores it, and what it starts would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    command = shlex.split(settings[what][0])
    kept = {name: value for name, value in os.environ.items() if re.match("NOTIFY_|WATCHDOG_|MAINPID$|LANG$|PREAUTH_", name)}
    if "WATCHDOG_USEC" in kept:
        kept["WATCHDOG_PID"] = str(os.getpid())
    for restriction in reversed(restrictions):
        restriction.load()
    os.execve(command[0], command, kept | {"PATH": "/usr/bin:/bin"})


if __name__ == "__main__":
    run_as(Path(sys.argv[1]), service(sys.argv[2]), *sys.argv[3:])
