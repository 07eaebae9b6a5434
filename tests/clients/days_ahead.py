"""
Runs a program, and all that it starts, with a calendar that is some days ahead: ahead.py DAYS PROGRAM [ARG]…

Programs read the time from a page of the kernel in their own memory. This page is hidden from each program at its start,
so that it asks by a system call, which is answered here. This moves the clock of any program: no library is loaded. Only
the calendar moves, neither waits nor the times of files. Linux on x86-64.
"""
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
# Numbers of system calls.
GET_TIME_OF_DAY, PTRACE, TIME, CLOCK_GET_TIME, SECCOMP = 96, 101, 201, 228, 317
NO_NEW_PRIVILEGES = 38
SET_FILTER, NEW_LISTENER = 1, 8
RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE, SEIZE, LISTEN = 7, 0x4206, 0x4208
# Follow forks, clones and programs; end with this process.
OPTIONS = 2 | 4 | 8 | 16 | 0x100000
EXECUTED, STOPPED = 4, 128
IGNORED, CLOCK_PAGE = 1, 33


def system_call(number, *args):
    result = LIBC.syscall(*[ctypes.c_long(arg) for arg in (number, *args)])
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return result


def filter_of_clocks():
    """Asks us about the calendar's clocks, 0 and 5, and allows all other calls."""
    load, equal, end = 0x20, 0x15, 0x06
    ask, allow = 0x7FC00000, 0x7FFF0000
    steps = [
        (load, 0, 0, 0), (equal, 5, 0, TIME), (equal, 4, 0, GET_TIME_OF_DAY), (equal, 0, 4, CLOCK_GET_TIME),
        (load, 0, 0, 16), (equal, 1, 0, 0), (equal, 0, 1, 5),
        (end, 0, 0, ask), (end, 0, 0, allow),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps), len(steps)


def become(command, parent):
    code, length = filter_of_clocks()
    steps = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", length, ctypes.addressof(steps)))
    LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    listener = system_call(SECCOMP, SET_FILTER, NEW_LISTENER, ctypes.addressof(program))
    socket.send_fds(parent, [b"."], [listener])
    os.close(listener)
    parent.recv(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def stack_of(pid):
    """Returns the stack pointer of a process that stops: the kernel says "running" until it has."""
    for _ in range(5000):
        with open(f"/proc/{pid}/syscall") as state:
            fields = state.read().split()
        if len(fields) > 1:
            return int(fields[-2], 16)
        time.sleep(0.001)
    raise TimeoutError(f"process {pid} does not stop")


def hide_clock_page(pid):
    stack = stack_of(pid)
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        def word(at):
            memory.seek(at)
            return struct.unpack("Q", memory.read(8))[0]

        # The arguments, then the environment, each with a zero at its end, then pairs of words.
        at = stack + 8 * (word(stack) + 2)
        while word(at) != 0:
            at += 8
        at += 8
        while word(at) not in (0, CLOCK_PAGE):
            at += 16
        if word(at) == CLOCK_PAGE:
            memory.seek(at)
            memory.write(struct.pack("Q", IGNORED))


def answer(listener, ahead):
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while not any(event & select.POLLHUP for _, event in poll.poll()):
        request = bytearray(80)
        try:
            fcntl.ioctl(listener, RECEIVE, request)
            id, pid, _, call = struct.unpack_from("QIIi", request)
            first, second = struct.unpack_from("QQ", request, 32)
            seconds, rest = divmod(time.time_ns() + ahead, 10**9)
            at = second if call == CLOCK_GET_TIME else first
            parts = (seconds,) if call == TIME else (seconds, rest // 1000 if call == GET_TIME_OF_DAY else rest)
            if at != 0:
                with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
                    memory.seek(at)
                    memory.write(struct.pack(f"{len(parts)}Q", *parts))
            fcntl.ioctl(listener, SEND, bytearray(struct.pack("QqiI", id, seconds if call == TIME else 0, 0, 0)))
        except OSError:
            # The thread that asked has ended.
            continue


def follow(program):
    """Hides the page from each program that starts, and returns the exit code of the first."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0x40000000)
        except ChildProcessError:
            return 1
        if not os.WIFSTOPPED(status):
            if pid == program:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            continue
        number, event = os.WSTOPSIG(status), status >> 16
        try:
            if event == EXECUTED:
                hide_clock_page(pid)
            request, sent = CONTINUE, 0
            if event == STOPPED:
                if number != signal.SIGTRAP:
                    request = LISTEN
            elif event == 0:
                sent = number
            system_call(PTRACE, request, pid, 0, sent)
        except (OSError, ValueError, struct.error):
            continue


def main():
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        become(sys.argv[2:], theirs)
    theirs.close()
    listener = socket.recv_fds(ours, 1, 1)[1][0]
    system_call(PTRACE, SEIZE, pid, 0, OPTIONS)
    ours.send(b".")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    ahead = int(sys.argv[1]) * 86400 * 10**9
    threading.Thread(target=answer, args=(listener, ahead), daemon=True).start()
    code = follow(pid)
    sys.exit(code)


main()
