// flags: -O2
// Guards against an inline path that at this level calls itself, is left undefined, or does not fall into the library: a
// gnu_inline definition is resolved differently with and without optimization, and in C and C++.
#include "inline_paths.h"

int main(void) { return check_inline_paths(); }
