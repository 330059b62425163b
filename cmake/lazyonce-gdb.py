"""gdb commands for programs that use lazyonce: `lazyonce`, also as `info lazyonce`, tells how every once stands and who waits, in a process or a core.

Installed beside the library as liblazyonce.so.0-gdb.py, where gdb loads it by itself from folders that it trusts; else `source` it.
It needs no debug information and calls nothing in the program: the note .note.lazyonce says where things are (src/once/layout.rs).
"""
import re
import struct
import time
from collections import Counter

import gdb

LAYOUT = (
    "places", "places_pointer", "place", "gate_name", "gate_preparing", "gate_plain", "gate_waiting", "gate_work", "gate_latest",
    "gate_since", "string", "attempt_number", "attempt_origin", "attempt_owner", "attempt_waiters", "request_origin",
    "block_entries", "block_entries_pointer", "block_position", "entry", "entry_caller", "slot_parts", "slot_name",
    "stays", "stay", "stay_state", "stay_thread", "stay_since", "stay_subject", "stay_doing", "stay_origin", "stay_kind",
)
ADDRESSES = 4
VERSION = 3
HEAD = 24  # bytes of the note before what it describes
POINTER = 8
MOST = 10**6  # onces
# lazy_once, and its state: a phase, and above it the lock's bits.
STATE, CONFIG, GATE, COUNTERS = 0, 8, 16, 24
PHASE, LOCKED = 0x7F, 0x100
FRESH, INITIALIZING, DRAINING = 0, 1, 2
PHASES = ("fresh", "initializing", "draining", "failed for good", "ready", "unusable since the fork (LAZY_FORK_POISON)", "closed")
CONFIG_NAME = 8
# What a thread does that stays somewhere (src/stay.rs), in that order: {} is how long.
TOLD, STATE_BITS = 2, 3
DOINGS = (
    "waits{} for the lock of %s, on its way into it", "waits{} for the lock of %s, on its way back from a wait for it",
    "is inside its prepare{}", "is inside its can_init{}", "waits{} for its attempt", "waits{} to cancel what %s runs or releases",
    "waits{} for index %d", "runs the factory{}, index %d", "runs the destructor{}, index %d", "waits{} for calls of its on_event", "is inside its on_event{}",
    "is inside the drop{} of a request of its", "is inside the describe{} of a request of its", "is inside its share{}, index %d",
    "is inside a callback of it{}, which ran at once",
)
HOSTS, ASKING, AWAITING_REQUEST, RELEASING, OF_REQUEST = (0, 1), 3, 5, 11, (11, 12)
ONCE, SLOT = 0, 1
QUOTED = '"\\'  # in a name
UNKNOWN = "an unknown place"


class Torn(Exception):
    """Not there, or changed while the program was stopped."""


def read(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except gdb.MemoryError:
        raise Torn("memory at %#x cannot be read" % address) from None


def number(address, size=POINTER):
    return int.from_bytes(read(address, size), "little")


def text(address, marks=""):
    """A C string; None for NULL. Of a name the library's marks are told apart from those that are in it."""
    if address == 0:
        return None
    found = b""
    while b"\0" not in found and len(found) < 4096:
        try:  # as far as the page goes
            found += read(address + len(found), 64 - (address + len(found)) % 64)
        except Torn:
            return None
    found = found.split(b"\0")[0].decode("utf-8", "replace")
    return "".join("\\" + each if each in marks else each if each.isprintable() else repr(each)[1:-1] for each in found)


def row(address, pointer):
    """Where a row of Rust's begins, and its length: of its two other words the one that is not larger."""
    words = struct.unpack("<3Q", read(address, 3 * POINTER))
    others = [word for index, word in enumerate(words) if address + index * POINTER != pointer]
    return number(pointer), min(others)


class Threads:
    """The threads, by the number that the kernel gives them."""

    def __init__(self):
        self.gdb = {thread.ptid[1] or thread.ptid[0]: thread.num for thread in gdb.selected_inferior().threads()}

    def called(self, kernel):
        if kernel in self.gdb:
            return "thread %d (LWP %d)" % (self.gdb[kernel], kernel)
        return "a thread that is gone (LWP %d)" % kernel


def code(address):
    """Where a return address is: by line if there is debug information, else by symbol. The line of an inline function of the header says
    nothing, and gdb does not tell where that was called."""
    if address == 0:
        return UNKNOWN
    address -= 1  # the call itself
    line = gdb.find_pc_line(address)
    symbol = gdb.execute("info symbol %#x" % address, to_string=True).strip()
    symbol = "%#x" % address if symbol.startswith("No symbol") else symbol.split(" in section ")[0].replace(" + ", "+")
    if line.symtab is not None and line.line and not line.symtab.filename.endswith("lazyonce.h"):
        return "%s:%d (%s)" % (line.symtab.filename, line.line, symbol.split("+")[0])
    return "%s in %s" % (symbol, gdb.solib_name(address) or gdb.current_progspace().filename)


def origin(address):
    """A site of the library's."""
    kind, line = struct.unpack("<2I", read(address, 8))
    if kind == 1:
        return code(number(address + 8))
    file, function = text(number(address + 8)), text(number(address + 16))
    if file is None:
        return UNKNOWN
    return "%s:%d" % (file, line) + (" (%s)" % function if function else "")


class Library:
    """A copy of the library in the program: it has its own onces."""

    def __init__(self, note, file, live):
        self.file, self.live, self.at = file, live, {}
        name_size, size, version, name = struct.unpack("<3I12s", read(note, HEAD))
        if name[:name_size] != b"lazyonce\0":
            raise Torn("there is no note of lazyonce's in it")
        if version != VERSION or not 0 <= size - ADDRESSES * POINTER - 4 * len(LAYOUT) < POINTER:
            raise Torn("it is of another version than this script")
        self.registry, self.default, self.table, self.untold = struct.unpack("<4Q", read(note + HEAD, ADDRESSES * POINTER))
        offsets = struct.unpack("<%dI" % len(LAYOUT), read(note + HEAD + ADDRESSES * POINTER, 4 * len(LAYOUT)))
        self.at = dict(zip(LAYOUT, offsets))

    def onces(self):
        """The process default, and those in the registry, of which a free place is none."""
        found = [self.default]
        begin, count = row(self.registry + self.at["places"], self.registry + self.at["places_pointer"])
        if count > MOST:
            raise Torn("its list of onces is being changed, or has been written over")
        for place in range(begin, begin + count * self.at["place"], self.at["place"]):
            if number(place, 4) == 0:
                found.append(number(place + 8))
        return list(dict.fromkeys(found))

    def name(self, once, gate):
        if gate == 0:
            config = number(once + CONFIG)
            return text(number(config + CONFIG_NAME), QUOTED) if config else None
        return self.shared_text(gate + self.at["gate_name"])

    def bound(self, once):
        """What a once is called that owns no memory. Its thread may have left its call, and the once with it."""
        try:
            name = self.name(once, 0)
        except Torn:
            name = None
        return ("once \"%s\"" % name if name else "a once") + " at %#x" % once

    def shared_text(self, at):
        shared = number(at)
        if shared == 0:
            return None
        # Address and length, in an order that the compiler chooses.
        return text(max(struct.unpack("<2Q", read(shared + self.at["string"], 2 * POINTER))), QUOTED)

    def since(self, began):
        """Times are the monotonic clock's, which a core has stopped."""
        if began == 0:
            return ""
        if self.live:
            return " for %.3f s" % max(0, time.clock_gettime(time.CLOCK_MONOTONIC) - began / 1e9)
        return " since %.3f s on the monotonic clock" % (began / 1e9)

    def stays(self, threads):
        """What each thread does that waits, or is inside a callback: lines, by whose it is, and by the address of that."""
        found = {}
        self.asking, self.released = Counter(), set()
        for place in range(self.table, self.table + self.at["stays"] * self.at["stay"], self.at["stay"]):
            if number(place + self.at["stay_state"], 4) & STATE_BITS == TOLD:
                kind, subject = number(place + self.at["stay_kind"], 4), number(place + self.at["stay_subject"])
                found.setdefault((kind, subject), []).append(self.stay(place, threads))
        return found

    def stay(self, place, threads):
        at, caller = place + self.at["stay_doing"], origin(place + self.at["stay_origin"])
        doing, argument = number(at, 4), number(at + POINTER)
        thread, subject = number(place + self.at["stay_thread"]), number(place + self.at["stay_subject"])
        self.asking[subject] += doing == ASKING
        if doing == RELEASING:
            self.released.add((subject, thread, caller))
        words = DOINGS[doing].format(self.since(number(place + self.at["stay_since"])))
        if doing in HOSTS:
            words %= "the host \"%s\"" % text(argument, QUOTED) if text(argument) else "the host"
        elif "%" in words:
            words %= threads.called(argument) if doing == AWAITING_REQUEST else argument
        called = "" if caller == UNKNOWN else ", %s %s" % ("queued by" if doing in OF_REQUEST else "called at", caller)
        return "    %s %s%s" % (threads.called(thread), words, called)

    def slot(self, body):
        """What a slot is called: after it is retired it has no name."""
        parts = number(body + self.at["slot_parts"])
        name = self.shared_text(parts + self.at["slot_name"]) if parts else None
        return "slot \"%s\"" % name if name else "an unnamed slot"

    def running(self, gate):
        """The request that runs: where it comes from, and how many are taken out of the queue with it."""
        work = gate + self.at["gate_work"]
        kind, shared = number(work, 4), number(work + POINTER)
        if kind == 1:
            return origin(shared + self.at["request_origin"]), 0
        if kind != 0:
            return None, 0
        begin, count = row(shared + self.at["block_entries"], shared + self.at["block_entries_pointer"])
        position = number(shared + self.at["block_position"])
        if position >= count:
            return None, 0
        caller = number(begin + position * self.at["entry"] + self.at["entry_caller"])
        return code(caller), count - position - 1

    def line(self, once, threads):
        """What is to be told of a once itself."""
        state, gate = number(once + STATE, 4), number(once + GATE)
        phase, name = state & PHASE, self.name(once, gate)
        head = "once \"%s\"" % name if name else "the process default" if once == self.default else "an unnamed once"
        head += " at %#x: %s" % (once, PHASES[phase] if phase < len(PHASES) else "no phase that this script knows (%d)" % phase)
        if gate == 0:
            return head
        head += self.since(number(gate + self.at["gate_since"]))
        preparing = number(gate + self.at["gate_preparing"], 4)
        queued = number(gate + self.at["gate_plain"]) + number(gate + self.at["gate_waiting"])
        attempt, waiting = number(gate + self.at["gate_latest"]), 0
        is_running = attempt != 0 and phase in (INITIALIZING, DRAINING)
        if is_running:
            head += ", on " + threads.called(number(attempt + self.at["attempt_owner"]))
        if attempt:
            head += ", attempt %d" % number(attempt + self.at["attempt_number"], 4)
            head += " started at " + origin(attempt + self.at["attempt_origin"])
        if is_running:
            waiting = number(attempt + self.at["attempt_waiters"], 4)
            request, taken = self.running(gate)
            queued += taken
            has_run = (once, number(attempt + self.at["attempt_owner"]), request) in self.released
            head += ", running a callback queued by " + request if request and not has_run else ""
        head += ", %d inside prepare" % preparing if preparing else ""
        head += ", %d inside can_init" % self.asking[once] if self.asking[once] else ""
        head += ", %d waiting, %d queued" % (waiting, queued)
        head += " (a thread is changing it at this moment)" if state & LOCKED else ""
        return head


def libraries():
    """Every copy of the library in the program, by its note."""
    sections = gdb.execute("info files", to_string=True)
    live = "Native process:" in sections
    main = gdb.current_progspace().filename
    for begin, file in re.findall(r"^\s*(0x[0-9a-f]+) - 0x[0-9a-f]+ is \.note\.lazyonce(?: in (.*))?$", sections, re.M):
        yield int(begin, 16), file or main, live


def tell():
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("lazyonce: there is no process, and no core")
    threads, found = Threads(), list(libraries())
    if not found and gdb.current_progspace().filename is None:  # the program's headers say which libraries are loaded
        raise gdb.GdbError("lazyonce: gdb has no program to find the library by: start it as gdb PROGRAM CORE")
    if not found:
        raise gdb.GdbError("lazyonce: the program has not loaded the library")
    for note, file, live in found:
        print("lazyonce, process %d, %s" % (gdb.selected_inferior().pid, file))
        try:
            library = Library(note, file, live)
            onces, stays = library.onces(), library.stays(threads)
        except Torn as problem:
            print("  %s" % problem)
            continue
        for once in onces:
            try:
                print("\n".join([library.line(once, threads), *stays.pop((ONCE, once), [])]))
            except Torn as problem:
                print("a once at %#x: %s" % (once, problem))
        for (kind, subject), lines in stays.items():  # of onces, those that own no memory
            head = library.bound(subject) if kind == ONCE else library.slot(subject) if kind == SLOT else "the observer"
            print("\n".join([head, *lines]))
        if number(library.untold, 4):
            print("and so on: %d more, which wait or are inside a callback, are not listed" % number(library.untold, 4))


class Lazyonce(gdb.Command):
    """How every once of lazyonce stands: who initializes it, since when and from where, what it runs, and which threads wait for it or for the
lock of a host; and of each slot whose values are being made or ended, by which thread, since when, and who waits.

A thread has its number in gdb, and the kernel's (LWP). A once that owns no memory, ready or fresh with nothing queued, is not shown."""

    def invoke(self, argument, from_tty):
        tell()


Lazyonce("lazyonce", gdb.COMMAND_STATUS)
Lazyonce("info lazyonce", gdb.COMMAND_STATUS)
