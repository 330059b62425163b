// Guards against a reset that makes a plain once own memory: generation and attempts are kept in the once itself, so
// after any number of resets its storage may still end without a close.
#include "callers.h"

int main(void) {
    atomic_int runs = 0;
    lazy_once *once = (lazy_once *)calloc(1, sizeof *once);
    CHECK(once != NULL);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_IS(lazy_once_run(once, count, &runs), LAZY_OK);
        CHECK_IS(info_of(once).attempts, i + 1);
        CHECK_IS(info_of(once).generation, i);
        CHECK_IS(lazy_once_reset(once), LAZY_OK);
        CHECK_IS(info_of(once).attempts, i + 1);
        CHECK_IS(info_of(once).generation, i + 1);
        CHECK_IS(info_of(once).phase, LAZY_FRESH);
        CHECK(once->impl == NULL);
    }
    CHECK_IS(lazy_once_run(once, count, &runs), LAZY_OK);
    CHECK_IS(atomic_load(&runs), 101);
    CHECK(once->impl == NULL);
    memset(once, 0xcd, sizeof *once);
    free(once);
    return finish();
}
