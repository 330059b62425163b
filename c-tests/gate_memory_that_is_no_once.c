// Guards against a loop without end on memory whose state is no phase, and against a configuration that LAZY_ONCE_WITH bound and
// that is refused when it is given again to a ready once that owns nothing.
#include "check.h"

static int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "bound", .initialize = nothing };

int main(void) {
    lazy_once stray = { 99, 1, NULL, NULL, NULL }, bound = LAZY_ONCE_WITH(&config);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = nothing;
    CHECK_IS(lazy_once_init(&stray), LAZY_E_INVALID);
    CHECK_HAS(lazy_last_error()->message, "no lazy_once");
    CHECK_IS(lazy_once_call(&stray, nothing, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_once_submit(&stray, &request, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_once_init(&bound), LAZY_OK);
    CHECK_IS(lazy_once_configure(&bound, &config), LAZY_OK);
    lazy_config equal = config, other = config;
    CHECK_IS(lazy_once_configure(&bound, &equal), LAZY_OK);
    other.timeout_ns = 1;
    CHECK_IS(lazy_once_configure(&bound, &other), LAZY_E_TOO_LATE);
    CHECK(bound.impl == NULL);
    return finish();
}
