/* A plugin with the static library inside: it must be linked so that it is never unloaded. */
#include <lazyonce.h>

int module_is_ready(void);
int module_is_ready(void) {
    static lazy_once once = LAZY_ONCE_INIT;
    return lazy_once_init(&once) == LAZY_OK;
}
