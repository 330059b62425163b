// flags: -std=c++11 -pedantic
// Guards against LAZY_CALL and LAZY_CALL_HELD that lose the line, evaluate an argument twice, or are no expressions: the error
// of a queued callback that fails has the file, line and function of the macro; C++11, pedantic.
#include "call_sites.h"

int main() {
    queue_and_fail();
    use_as_expressions();
    return finish();
}
