/* A library of somebody else's that exports the short name and comes first in the search order. */
#include <stdbool.h>

int stranger_asked;
bool is_initialized(void);
bool is_initialized(void) {
    ++stranger_asked;
    return true;
}
