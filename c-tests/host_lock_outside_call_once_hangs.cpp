// expect: hang
// not-under: tsan valgrind asan: the tool's own threads and locks would be taken for the program's
// Documents the published hang: with std::call_once under a host lock, A lets the lock go inside the guard, B holds it and
// waits for the guard, and A never gets it back.
#include "big_lock.h"
#include <mutex>

static std::once_flag flag;
static big_lock lock;
static gate a_let_go = GATE_INIT, b_holds = GATE_INIT;

static void initialize() {
    int depth = big_let_go(&lock);
    gate_open(&a_let_go);
    gate_wait(&b_holds);
    big_take_back(&lock, depth);
}
static void *a(void *) {
    big_take(&lock);
    std::call_once(flag, initialize);
    big_give(&lock);
    return nullptr;
}
static void *b(void *) {
    gate_wait(&a_let_go);
    big_take(&lock);
    gate_open(&b_holds);
    std::call_once(flag, initialize);
    big_give(&lock);
    return nullptr;
}

int main() {
    big_begin(&lock, 0, "the big lock");
    pthread_t threads[] = {start(a, nullptr), start(b, nullptr)};
    for (pthread_t thread : threads) join(thread);
    return finish();
}
