"""Forked and spawned children, thread pools, asyncio, sub-interpreters."""
import asyncio
import concurrent.futures
import multiprocessing
import os
import sys
import threading

import pytest
from alone import alone, in_fork
from child import run_threads, start_daemon, until_asleep

import lazyonce
from lazyonce import Once

runs = []
shared = Once("shared", lambda: runs.append(os.getpid()))


def use_shared(task=None):
    """In a child: whether it was initialized there before, and where."""
    before = shared.is_initialized()
    assert shared.call(lambda: None) is before and shared.init()
    return before, runs[-1] == os.getpid()


@alone
def test_a_forked_child_keeps_what_is_ready_and_what_is_queued():
    seen, once = [], Once("gpu")
    once.call(lambda: seen.append(os.getpid()))
    in_fork(lambda: (once.init(), seen.index(os.getpid())))
    assert seen == [] and once.init() and len(seen) == 1
    in_fork(lambda: seen.index(os.getppid()) if once.call(lambda: None) else seen.index(0))


@alone
def test_a_child_forked_while_another_thread_initializes_does_it_itself():
    parent, inside, over, seen = os.getpid(), threading.Event(), threading.Event(), []

    def start():
        seen.append(os.getpid())
        if os.getpid() == parent:
            inside.set()
            over.wait()

    once = Once("gpu", start)
    once.call(lambda: seen.append("queued"))
    first = start_daemon(once.init)
    inside.wait()

    def child():
        assert once.init() and seen == [parent, os.getpid(), "queued"]
        once.reset()
        assert once.init()

    in_fork(child)
    over.set()
    first.join()
    assert seen == [parent, "queued"]


@alone
def test_a_child_forked_while_another_thread_drains_runs_the_rest():
    parent, inside, over, seen = os.getpid(), threading.Event(), threading.Event(), []

    def slow():
        seen.append("slow")
        if os.getpid() == parent:
            inside.set()
            over.wait()

    once = Once("gpu")
    once.call(slow)
    once.call(lambda: seen.append("next"))
    first = start_daemon(once.init)
    inside.wait()

    def child():
        assert once.init() and seen == ["slow", "slow", "next"]

    in_fork(child)
    over.set()
    first.join()
    assert seen == ["slow", "next"]


@alone
def test_a_callable_that_forks_goes_on_in_the_child():
    seen = []
    once = Once("gpu")

    def fork():
        child = os.fork()
        seen.append(child)
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    once.call(fork)
    once.call(lambda: seen.append("next"))
    code = 1
    try:
        assert once.init() and len(seen) == 2
        code = 0
    finally:
        if 0 in seen:
            os._exit(code)


@alone
def test_multiprocessing():
    assert use_shared() == (False, True)
    for method, before in (("fork", True), ("spawn", False), ("forkserver", False)):
        with multiprocessing.get_context(method).Pool(2) as pool:
            seen = pool.map(use_shared, range(8), chunksize=1)
        assert all(inside is not before for _, inside in seen), (method, seen)
        assert any(ready is before for ready, _ in seen), (method, seen)


def fail_in_worker():
    once = Once("gpu")
    once.call(lambda: 1 / 0)
    once.init()


@alone
def test_an_error_comes_back_from_a_process_pool():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        with pytest.raises(lazyonce.DeferredCallError, match="ZeroDivisionError"):
            pool.submit(fail_in_worker).result()


@alone
def test_a_thread_pool_starts_it_once():
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(shared.call, int) for _ in range(100)] + [pool.submit(shared.init) for _ in range(100)]
        assert all(each.result() in (True, False) for each in futures) and len(runs) == 1


@alone
def test_asyncio_goes_on_while_an_executor_thread_waits():
    inside, over, seen = threading.Event(), threading.Event(), []

    def start():
        inside.set()
        over.wait()

    async def main():
        loop = asyncio.get_running_loop()
        first = loop.run_in_executor(None, once.init)
        await loop.run_in_executor(None, inside.wait)
        others = [loop.run_in_executor(None, once.call, lambda: seen.append(1)) for _ in range(3)]
        for _ in range(10):
            await asyncio.sleep(0)
        over.set()
        assert await asyncio.gather(first, *others) == [True] * 4

    once = Once("gpu", start)
    asyncio.run(main())
    assert len(seen) == 3


@alone
def test_the_main_thread_can_end_while_a_daemon_is_inside():
    inside = threading.Event()

    def start():
        inside.set()
        threading.Event().wait()

    once = Once("gpu", start)
    start_daemon(once.init)
    inside.wait()


@alone
def test_a_queue_that_nobody_ran_is_no_trouble_at_exit():
    globals()["kept"] = Once("gpu", print)
    globals()["kept"].call(print, owner=object())
    lazyonce.lazy_call(print)


@alone
def test_threads_that_wait_let_the_initializer_import():
    """It needs the GIL again and again, which those that come in holding it must let go."""
    def start():
        import decimal
        import email.mime.multipart
        import xml.dom.minidom
        assert decimal and email and xml

    once, barrier = Once("gpu", start), threading.Barrier(8)
    run_threads(*[lambda: (barrier.wait(), once.init())] * 8)


@alone
def test_a_sub_interpreter_is_refused():
    """Its objects are of no use in another, and the default and named onces belong to all of them."""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    new = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(isolated=False)
    script = """if True:
        import sys
        sys.path[:] = %r
        try:
            import lazyonce
        except ImportError as failure:
            assert "main interpreter only" in str(failure), failure
        else:
            raise AssertionError("not refused")
    """ % (sys.path,)
    assert interpreters.run_string(new, script) is None


@alone
def test_a_once_of_c_on_the_default_host_lets_the_gil_go():
    """A named once that nobody configured has the host that the package sets for the process."""
    ids, inside = [], threading.Event()
    once = lazyonce.named("cuda")

    def slow():
        inside.set()
        while not ids:
            pass
        until_asleep(ids[0])

    once.call(slow)
    first = start_daemon(once.init)
    inside.wait()
    ids.append(threading.get_native_id())
    assert once.init()
    first.join()
