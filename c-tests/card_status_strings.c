// Guards against a status without a text, or one that crashes: the string is never NULL, and each status has its own.
#include "check.h"

int main(void) {
    enum { LOWEST = LAZY_E_INTERRUPTED, HIGHEST = LAZY_IN_PROGRESS };
    for (lazy_status a = LOWEST; a <= HIGHEST; ++a) {
        CHECK(lazy_status_string(a) != NULL && *lazy_status_string(a) != 0);
        CHECK(lazy_status_string(a) == lazy_status_string(a));
        for (lazy_status b = LOWEST; b < a; ++b) CHECK(strcmp(lazy_status_string(a), lazy_status_string(b)) != 0);
    }
    const lazy_status unknown[] = { LOWEST - 1, HIGHEST + 1, 12345, INT32_MIN, INT32_MAX };
    for (int i = 0; i < 5; ++i) {
        CHECK(lazy_status_string(unknown[i]) != NULL && *lazy_status_string(unknown[i]) != 0);
        CHECK(strcmp(lazy_status_string(unknown[i]), lazy_status_string(LAZY_OK)) != 0);
    }
    CHECK(lazy_version() != 0);
    CHECK_IS(lazy_fail(7, "text"), 7);
    CHECK_IS(lazy_fail(7, NULL), 7);
    CHECK_IS(lazy_fail(0, "a failure is never 0"), -1);
    return finish();
}
