// Guards against a `static inline` of the same name: each translation unit would then have its own address for a function
// of the library, and a table of pointers would not compare equal to what dlsym finds.
#include "addresses.h"

int main(void) { return check_addresses(); }
