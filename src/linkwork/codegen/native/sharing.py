"""Machine code of threads that share a batch: the same for every function, without any part of Python.

``@shared`` has the signature of a NumPy inner loop. It offers the batch to workers, which sleep in machine code, and
then computes it piece by piece, together with the workers that wake up in time. Each thread takes the next piece when
it is free. An offer that no worker has taken is withdrawn, so a late worker, whose processor is busy, costs only its
wake-up. A worker that is suspended within a piece has to be waited for. After either event, or if one thread would have
been as fast, the calling thread computes the next batches alone, and more of them each time it happens again.

A worker's ``OFFER`` is 0 while it is free, or the address of a job, or that + 1 while it works on the job, or that + 3
while somebody sleeps until the job is done. It stays + 3 until the sleeper has woken up, because otherwise the next
sleeper might be woken by the release for the last one. The locks are Python's, which need no interpreter. Only sleeping
threads are woken: each release has one acquire.
"""

from __future__ import annotations

from collections.abc import Callable

from .blocks import SHORT
from .emit import Function, Module
from .target import Target

WORKERS = 255  # at most
ARRAYS = 64  # inputs and outputs of a function; NumPy takes no more
WORKER = 128  # bytes: two cache lines, which processors fetch together
OFFER, ASLEEP, WAKE, DONE = range(4)  # words of a worker; the last two are locks
# Words of the ``data`` that NumPy passes to @shared. ALONE: batches to be computed by one thread now, LONGER: the next
# time. RATES: the time that one thread took for a state, in batches of 1, of 2 to 3, of 4 to 7 states and so on
LOOP, ARGUMENTS, PIECE, HELPERS, LOOKS, ALONE, LONGER, RATES = range(8)
SIZES = 32
DATA = RATES + SIZES
COUNT, ARGS, STEPS, NEXT, FLAGS, JOB = range(4, 10)  # words of a job, after LOOP, ARGUMENTS, PIECE, HELPERS; how many
CAME = 1 << 32  # bit of FLAGS: a worker took part; the next bit is SHORT, and the lower bits are floating point flags
ACQUIRE, RELEASE, TAKE_FLAGS, CONTEXT = range(4)  # entries of @context: functions of Python and NumPy; how many

# Reads of a word before sleeping, 40 to 140 cycles each. A worker reads for some 20 us, so that consecutive calls find
# it awake (two threads on 4096 states of the Panda: 35 us, with a wake-up 49 us; one thread: 62 us). A thread that
# waits for a worker reads for longer than the worker's last piece takes.
IDLE, WAIT = 1000, 400
PIECES = 8  # a worker is woken only if the batch has this many pieces for it: 50 us; the wake-up takes 5 to 10 us
MOST_ALONE = 64  # batches computed by one thread after a worker had to be waited for
PAUSE = {"x86_64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32 1)", "arm64": "llvm.aarch64.hint(i32 1)"}
# Operations that raise the flags of TAKE_FLAGS, in its order: division by zero, overflow, underflow, invalid
NUMBERS = {"%zero": "0.0", "%one": "1.0", "%huge": "1.0e300", "%tiny": "1.0e-300"}
RAISING = (
    "fdiv double %one, %zero",
    "fmul double %huge, %huge",
    "fmul double %tiny, %tiny",
    "fdiv double %zero, %zero",
)


def sharing_text(target: Target) -> str:
    """Return the IR of ``@shared``, of ``@worker``, which a thread runs for ever, and of the table ``@workers``."""
    m = Module(target, "float64")
    m.functions += [
        f"@context = dso_local global [{CONTEXT} x ptr] zeroinitializer",
        f"@workers = dso_local global [{WORKERS} x [{WORKER} x i8]] zeroinitializer, align {WORKER}",
        "@started = dso_local global i64 0",  # how many of them there are
        "declare i64 @llvm.readcyclecounter()",
        "declare i64 @llvm.ctlz.i64(i64, i1)",
        "declare i64 @llvm.smin.i64(i64, i64)",
        "declare i64 @llvm.smax.i64(i64, i64)",
    ]
    if pause := _pause(m):
        m.functions.append(f"declare void @{pause.replace('i32 1', 'i32')}")
    _emit_pieces(m)
    _emit_raise(m)
    _emit_worker(m)
    _emit_shared(m)
    return m.text()


def _emit_pieces(m: Module):
    """Add ``@pieces(job)``, which takes pieces of the batch while there are any, and runs the loop on them."""
    with Function(m, "define internal void @pieces(ptr %job) noinline nounwind") as f:
        loop, args, steps = (f.word("%job", k, "ptr") for k in (LOOP, ARGS, STEPS))
        arguments, least, helpers, count = (f.word("%job", k) for k in (ARGUMENTS, PIECE, HELPERS, COUNT))
        moved, dimensions = f.let(f"alloca [{ARRAYS} x ptr]"), f.let("alloca i64")
        twice = f.let(f"shl i64 {f.let(f'add i64 {helpers}, 1')}, 1")
        shares = f.let(f"mul i64 {least}, {twice}")
        next_ = f.at("%job", 8 * NEXT)
        f.start("take")  # half of each thread's share of the rest: large pieces first, small ones last
        start = _seen(f, next_)
        left = f.let(f"sub i64 {count}, {start}")
        f.when(f.let(f"icmp sgt i64 {left}, 0"), "some", "end")
        times = _extreme(f, "smax", f.let(f"sdiv i64 {left}, {shares}"), 1)
        piece = _extreme(f, "smin", f.let(f"mul i64 {least}, {times}"), left)
        f.when(_swap(f, next_, start, f.let(f"add i64 {start}, {piece}")), "taken", "take")
        f.do(f"store i64 {piece}, ptr {dimensions}")
        with f.counted("argument", arguments) as k:
            base, step, place = (f.let(f"getelementptr i64, ptr {row}, i64 {k}") for row in (args, steps, moved))
            offset = f.let(f"mul i64 {start}, {f.let(f'load i64, ptr {step}')}")
            f.do(f"store ptr {f.at(f.let(f'load ptr, ptr {base}'), offset)}, ptr {place}")
        flags = f.at("%job", 8 * FLAGS)
        f.do(f"call void {loop}(ptr {moved}, ptr {dimensions}, ptr {steps}, ptr {flags})")
        f.do("br label %take")
        f.label("end")
        f.do("ret void")


def _emit_raise(m: Module):
    """Add ``@raise(flags)``, which raises the floating point flags of another thread in this one, for NumPy to read."""
    for name, number in NUMBERS.items():
        m.functions.append(f"@{name[1:]} = internal global double {number}")
    with Function(m, "define internal void @raise(i64 %flags) noinline nounwind") as f:
        result = f.let("alloca double")
        for name in NUMBERS:
            f.do(f"{name} = load volatile double, ptr @{name[1:]}")
        for k, operation in enumerate(RAISING):
            f.unless(f.let(f"icmp eq i64 {f.let(f'and i64 %flags, {1 << k}')}, 0"), f"raise{k}", f"after{k}")
            f.do(f"store volatile double {f.let(operation)}, ptr {result}")
            f.start(f"after{k}")
        f.do("ret void")


def _emit_worker(m: Module):
    with Function(m, "define dso_local void @worker(ptr %worker) nounwind") as f:
        asleep = f.at("%worker", 8 * ASLEEP)
        wake, done = (f.word("%worker", k, "ptr") for k in (WAKE, DONE))
        acquire, release, take_flags = (f.word("@context", k, "ptr") for k in (ACQUIRE, RELEASE, TAKE_FLAGS))
        f.start("free")
        offer = _watch(f, "offer", "%worker", "0", IDLE, "tired", "take", _offered)
        f.label("tired")
        f.do(f"store atomic i64 1, ptr {asleep} seq_cst, align 8")
        f.unless(f.let(f"icmp eq i64 {_offered(f, '%worker')}, 0"), "rise", "sleep")
        f.unless(_swap(f, asleep, 1, 0), "sleep", "free")  # otherwise another thread is about to wake this worker
        f.do(f"call i32 {acquire}(ptr {wake}, i32 1)")
        f.do("br label %free")
        f.label("take")
        working = f.let(f"add i64 {offer}, 1")
        f.when(_swap(f, "%worker", offer, working), "work", "free")
        job = f.let(f"inttoptr i64 {offer} to ptr")
        call = f"call i32 {take_flags}()"
        f.do(call)
        f.do(f"call void @pieces(ptr {job})")
        flags = f.let(f"or i64 {CAME}, {f.let(f'zext i32 {f.let(call)} to i64')}")
        f.let(f"atomicrmw or ptr {f.at(job, 8 * FLAGS)}, i64 {flags} seq_cst")
        f.unless(_swap(f, "%worker", working, 0), "tell", "free")  # from here on the job may be freed
        f.do(f"call void {release}(ptr {done})")
        f.do("br label %free")


def _emit_shared(m: Module):
    with Function(m, "define dso_local void @shared(ptr %args, ptr %dimensions, ptr %steps, ptr %data) nounwind") as f:
        job = f.let(f"alloca [{JOB} x i64], align 64")
        acquire, release = (f.word("@context", k, "ptr") for k in (ACQUIRE, RELEASE))
        loop, arguments = f.word("%data", LOOP, "ptr"), f.word("%data", ARGUMENTS)
        least, most, looks = (f.word("%data", k) for k in (PIECE, HELPERS, LOOKS))
        count, alone, last = f.word("%dimensions", 0), f.word("%data", ALONE), f.word("%data", LONGER)
        pieces = f.let(f"sdiv i64 {f.let(f'sdiv i64 {count}, {least}')}, {PIECES}")
        helpers = _extreme(f, "smin", most, pieces)
        f.when(f.let(f"icmp sgt i64 {helpers}, 0"), "enough", "one")
        size = _extreme(
            f, "smin", f.let(f"sub i64 63, {f.let(f'call i64 @llvm.ctlz.i64(i64 {count}, i1 true)')}"), SIZES - 1
        )
        place = f.let(f"getelementptr i64, ptr {f.at('%data', 8 * RATES)}, i64 {size}")
        last_rate = f.let(f"load i64, ptr {place}")
        sixteenth = f.let(f"lshr i64 {last_rate}, 4")
        began = f.let("call i64 @llvm.readcyclecounter()")
        f.when(f.let(f"icmp sgt i64 {alone}, 0"), "alone", "many")
        f.do(f"call void {loop}(ptr %args, ptr %dimensions, ptr %steps, ptr null)")
        f.do(f"store i64 {f.let(f'sub i64 {alone}, 1')}, ptr {f.at('%data', 8 * ALONE)}")
        rate, unknown = _rate(f, began, count), f.let(f"icmp eq i64 {last_rate}, 0")
        little_more = f.let(f"add i64 {last_rate}, {sixteenth}")  # forget slowly: it may no longer be as fast as it was
        best = _extreme(f, "smin", rate, little_more)
        f.do(f"store i64 {f.let(f'select i1 {unknown}, i64 {rate}, i64 {best}')}, ptr {place}")
        f.do("ret void")
        f.label("one")
        f.do(f"call void {loop}(ptr %args, ptr %dimensions, ptr %steps, ptr null)")
        f.do("ret void")

        f.label("many")
        job_words = {ARGUMENTS: arguments, PIECE: least, HELPERS: helpers, COUNT: count, NEXT: 0, FLAGS: 0}
        for k, value in job_words.items():
            f.do(f"store i64 {value}, ptr {f.at(job, 8 * k)}")
        for k, value in {LOOP: loop, ARGS: "%args", STEPS: "%steps"}.items():
            f.do(f"store ptr {value}, ptr {f.at(job, 8 * k)}")
        offer = f.let(f"ptrtoint ptr {job} to i64")
        working, waiting = (f.let(f"add i64 {offer}, {state}") for state in (1, 3))
        started = _seen(f, "@started")
        offers, slept = f.let("alloca i64"), f.let("alloca i64")
        for place in (offers, slept):
            f.do(f"store i64 0, ptr {place}")
        with f.counted("ask", started) as k:
            go_on = f"{k[1:]}.next"
            so_far = f.let(f"load i64, ptr {offers}")
            f.when(f.let(f"icmp slt i64 {so_far}, {helpers}"), "try", go_on)
            worker = f.let(f"getelementptr [{WORKER} x i8], ptr @workers, i64 {k}")
            f.when(_swap(f, worker, 0, offer), "asked", go_on)
            f.do(f"store i64 {f.let(f'add i64 {so_far}, 1')}, ptr {offers}")
            f.when(_swap(f, f.at(worker, 8 * ASLEEP), 1, 0), "wake", go_on)
            f.do(f"call void {release}(ptr {f.word(worker, WAKE, 'ptr')})")
        f.do(f"call void @pieces(ptr {job})")
        with f.counted("gather", started) as k:
            go_on = f"{k[1:]}.next"
            worker = f.let(f"getelementptr [{WORKER} x i8], ptr @workers, i64 {k}")
            f.unless(_swap(f, worker, offer, 0), "taken", go_on)
            _watch(f, "work", worker, working, looks, "wait", go_on)
            f.label("wait")
            f.when(_swap(f, worker, working, waiting), "sleep", go_on)
            f.do(f"call i32 {acquire}(ptr {f.word(worker, DONE, 'ptr')}, i32 1)")
            f.do(f"store atomic i64 0, ptr {worker} seq_cst, align 8")
            f.do(f"store i64 1, ptr {slept}")
        flags, rate = f.word(job, FLAGS), _rate(f, began, count)
        nobody = f.let(f"icmp ult i64 {flags}, {CAME}")
        waited = f.let(f"icmp ne i64 {f.let(f'load i64, ptr {slept}')}, 0")
        slow = f.let(f"icmp sgt i64 {rate}, {f.let(f'sub i64 {last_rate}, {sixteenth}')}")
        slow = f.let(f"and i1 {slow}, {f.let(f'icmp ne i64 {last_rate}, 0')}")
        bad = f.let(f"or i1 {f.let(f'or i1 {nobody}, {waited}')}, {slow}")
        more = _extreme(f, "smin", f.let(f"shl i64 {last}, 1"), MOST_ALONE)
        less = _extreme(f, "smax", f.let(f"lshr i64 {last}, 1"), 1)
        for k, then, otherwise in ((ALONE, last, 0), (LONGER, more, less)):
            f.do(f"store i64 {f.let(f'select i1 {bad}, i64 {then}, i64 {otherwise}')}, ptr {f.at('%data', 8 * k)}")
        f.do(f"call void @raise(i64 {flags})")
        short = f.let(f"icmp ne i64 {f.let(f'and i64 {flags}, {SHORT}')}, 0")
        f.unless(short, "end", "one")  # all of it again; a lasting lack of memory raises this thread's exception
        f.do("ret void")


def _seen(f: Function, place: str) -> str:
    """Load a word that other threads change."""
    return f.let(f"load atomic i64, ptr {place} seq_cst, align 8")


def _offered(f: Function, worker: str) -> str:
    """Return the job that a worker may take, or 0; an odd value is a finished job whose sleeper still wakes up."""
    seen = _seen(f, worker)
    odd = f.let(f"trunc i64 {seen} to i1")
    return f.let(f"select i1 {odd}, i64 0, i64 {seen}")


def _watch(
    f: Function,
    name: str,
    place: str,
    value: str,
    looks: str | int,
    still: str,
    otherwise: str,
    look: Callable[[Function, str], str] = _seen,
) -> str:
    """Read a word for a while, and go to ``still`` if it stays ``value``; return the last value read."""
    f.start(f"{name}.enter")
    f.do(f"br label %{name}")
    f.label(name)
    f.do(f"%{name}.k = phi i64 [0, %{name}.enter], [%{name}.after, %{name}.pause]")
    seen = look(f, place)
    f.when(f.let(f"icmp eq i64 {seen}, {value}"), f"{name}.pause", otherwise)
    if pause := _pause(f.module):
        f.do(f"call void @{pause}")
    f.do(f"%{name}.after = add i64 %{name}.k, 1")
    again = f.let(f"icmp slt i64 %{name}.after, {looks}")
    f.do(f"br i1 {again}, label %{name}, label %{still}")
    return seen


def _rate(f: Function, began: str, count: str) -> str:
    """Return the time since ``began`` divided by the number of states, in 1/256 of a clock tick."""
    time = f.let(f"sub i64 {f.let('call i64 @llvm.readcyclecounter()')}, {began}")
    return f.let(f"sdiv i64 {f.let(f'shl i64 {time}, 8')}, {count}")


def _extreme(f: Function, name: str, a: str | int, b: str | int) -> str:
    """Return the smaller or larger of two numbers."""
    return f.let(f"call i64 @llvm.{name}.i64(i64 {a}, i64 {b})")


def _pause(m: Module) -> str:
    """Return the instruction that yields the processor while a thread reads a word repeatedly; empty if none."""
    return PAUSE.get(m.target.triple.split("-")[0], "")


def _swap(f: Function, place: str, old: str | int, new: str | int) -> str:
    """Replace the word if it is ``old``, and return whether it was."""
    pair = f.let(f"cmpxchg ptr {place}, i64 {old}, i64 {new} seq_cst seq_cst")
    return f.let(f"extractvalue {{i64, i1}} {pair}, 1")
