// Guards against a close from inside that waits for itself, or that is undone when the attempt ends: out of prepare,
// out of the initializer, out of a queued request and out of a callback on a ready once. The caller gets LAZY_E_CLOSED,
// the rest of the queue is dropped, and the storage may end as soon as that call has returned.
#include "callers.h"

enum { IN_PREPARE, IN_INITIALIZER, IN_REQUEST, IN_READY_CALLBACK, PLACES };
typedef struct device { lazy_once once; int place; atomic_int initialized, ran, dropped, others_dropped; } device;

static int32_t closes(device *d, int place) {
    if (d->place == place) {
        CHECK_IS(lazy_once_close(&d->once), LAZY_OK);
        CHECK_IS(atomic_load(&d->dropped), 0);
        CHECK(!lazy_once_is_initialized(&d->once));
    }
    return 0;
}
static int32_t prepare(void *d) { return closes((device *)d, IN_PREPARE); }
static int32_t initialize(void *ctx) {
    device *d = (device *)ctx;
    atomic_fetch_add(&d->initialized, 1);
    return closes(d, IN_INITIALIZER);
}
static int32_t request_closes(void *ctx) {
    device *d = (device *)ctx;
    atomic_fetch_add(&d->ran, 1);
    return closes(d, IN_REQUEST);
}
static int32_t callback_closes(void *d) { return closes((device *)d, IN_READY_CALLBACK); }
static void drop(void *ctx) { atomic_fetch_add(&((device *)ctx)->dropped, 1); }

int main(void) {
    for (int place = 0; place < PLACES; place++) {
        device *d = (device *)calloc(1, sizeof *d);
        lazy_config config = LAZY_CONFIG_INIT;
        lazy_request first = LAZY_REQUEST_INIT, other = LAZY_REQUEST_INIT;
        CHECK(d != NULL);
        d->place = place;
        config.name = "closes itself";
        config.prepare = prepare;
        config.initialize = initialize;
        config.ctx = d;
        CHECK_IS(lazy_once_configure(&d->once, &config), LAZY_OK);
        first.fn = request_closes;
        first.ctx = d;
        if (place == IN_REQUEST) first.drop = drop;
        other.fn = place == IN_READY_CALLBACK ? nothing : never;
        other.ctx = &d->others_dropped;
        other.drop = count_drop;
        if (place >= IN_REQUEST) CHECK_IS(lazy_once_submit(&d->once, &first, NULL), LAZY_QUEUED);
        for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_submit(&d->once, &other, NULL), LAZY_QUEUED);

        if (place == IN_READY_CALLBACK) {
            CHECK_IS(lazy_once_init(&d->once), LAZY_OK);
            CHECK_IS(lazy_once_call(&d->once, callback_closes, d), LAZY_OK);
        } else {
            CHECK_IS(lazy_once_init(&d->once), LAZY_E_CLOSED);
            CHECK_IS(lazy_last_error()->status, LAZY_E_CLOSED);
        }
        CHECK(!lazy_once_is_initialized(&d->once));
        CHECK(!lazy_once_is_initializing(&d->once));
        CHECK_IS(atomic_load(&d->initialized), place != IN_PREPARE);
        CHECK_IS(atomic_load(&d->ran), place >= IN_REQUEST);
        CHECK_IS(atomic_load(&d->dropped), place == IN_REQUEST);
        CHECK_IS(atomic_load(&d->others_dropped), 3);
        CHECK_IS(lazy_once_init(&d->once), LAZY_E_CLOSED);
        memset(d, 0xcd, sizeof *d); /* nobody may look at it any more */
        free(d);
        int null = open("/dev/null", O_WRONLY);
        CHECK_IS(lazy_dump(null), LAZY_OK);
        close(null);
    }
    return finish();
}
