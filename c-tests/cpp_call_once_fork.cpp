// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// not-under: tsan: a child forked beside other threads is not supported there
// Guards against a child that hangs in a flag whose call another thread of its parent was making: there the flag is uncalled and the
// child calls for itself; one that was called stays so; a thread that forks inside its call is still inside it in the child.
// Both call_onces are checked alike, as far as std promises anything.
#include "call_once.hpp"
extern "C" {
#include "forked_child.h"
}

template <class Once> struct scene {
    static typename Once::flag held, done, forking;
    static gate inside, go;
    static int ran;
};
template <class Once> typename Once::flag scene<Once>::held;
template <class Once> typename Once::flag scene<Once>::done;
template <class Once> typename Once::flag scene<Once>::forking;
template <class Once> gate scene<Once>::inside = GATE_INIT;
template <class Once> gate scene<Once>::go = GATE_INIT;
template <class Once> int scene<Once>::ran;

template <class Once> static void during_the_call() {
    using it = scene<Once>;
    Once::call(it::done, [] {});
    running other([] {
        Once::call(it::held, [] {
            gate_open(&it::inside);
            gate_wait(&it::go);
        });
    });
    gate_wait(&it::inside);
    in_child([] {
        Once::call(it::done, [] { CHECK(!"it was called before the fork"); });
        Once::call(it::held, [] { ++it::ran; });
        Once::call(it::held, [] { ++it::ran; });
        CHECK_IS(it::ran, 1);
    });
    gate_open(&it::go);
    other.join();
    CHECK_IS(it::ran, 0);
}

static void by_the_caller() {
    using it = scene<ours>;
    lazyonce::call_once(it::forking, [] {
        in_child([] {
            throws_status([] { lazyonce::call_once(it::forking, [] {}); }, LAZY_E_DEADLOCK);
        });
    });
    fflush(nullptr);
    pid_t child = -1;
    lazyonce::once_flag left;
    lazyonce::call_once(left, [&] { child = fork(); });
    if (child == 0) { /* the call has ended in the child as well */
        lazyonce::call_once(left, [] { CHECK(!"it ran twice"); });
        _exit(0);
    }
    check_child(child);
}

int main() {
    during_the_call<ours>();
    during_the_call<standard>();
    by_the_caller();
    return finish();
}
