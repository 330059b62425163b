/* The same for C++. An exception from a callback tells whether the shared unwinder is there. */
#include <lazyonce.hpp>
#include <cstdio>

int main() {
    static lazyonce::once_flag flag;
    int runs = 0;
    try {
        lazyonce::call_once(flag, [] { throw 7; });
    } catch (int number) {
        runs = number;
    }
    lazyonce::call_once(flag, [&] { ++runs; });
    return runs != 8 || std::puts("done") < 0;
}
