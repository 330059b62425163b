// expect: hang
// not-under: tsan valgrind asan: the tool's own threads and locks would be taken for the program's
// Documents what lazyonce::call_once answers with an error: two threads in std::call_once, each with the flag that the other wants.
#include "call_once.hpp"

static std::once_flag one, two;
static gate has_one = GATE_INIT, has_two = GATE_INIT;

int main() {
    running other([] {
        std::call_once(two, [] {
            gate_open(&has_two);
            gate_wait(&has_one);
            std::call_once(one, [] {});
        });
    });
    std::call_once(one, [] {
        gate_open(&has_one);
        gate_wait(&has_two);
        std::call_once(two, [] {});
    });
    other.join();
    return finish();
}
