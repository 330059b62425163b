// expect: hang
// not-under: tsan valgrind asan: the tool's own threads and locks would be taken for the program's
// Documents what lazyonce::call_once answers with an error: std::call_once inside its own call.
#include "call_once.hpp"

int main() {
    static std::once_flag flag;
    std::call_once(flag, [] { std::call_once(flag, [] {}); });
    return finish();
}
