// expect: hang
// not-under: tsan valgrind asan: the tool's own threads and locks would be taken for the program's
// Documents the other order: A, inside std::call_once, asks for the host lock; B holds it and waits for the guard.
#include "big_lock.h"
#include <mutex>

static std::once_flag flag;
static big_lock lock;
static gate a_inside = GATE_INIT, b_holds = GATE_INIT;

static void initialize() {
    gate_open(&a_inside);
    gate_wait(&b_holds);
    big_take(&lock);
    big_give(&lock);
}
static void *a(void *) {
    std::call_once(flag, initialize);
    return nullptr;
}
static void *b(void *) {
    gate_wait(&a_inside);
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
