// Guards against a worker that ended without leaving its permit and counts as free for ever: the circle that is left, the
// initializing thread and its other worker against b, is certain, and is refused once.
#include "lent_circle.h"

static gate lost = GATE_INIT;

static void *ends_under_permit(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&a_permit), LAZY_OK);
    return NULL;
}
static void loses_a_worker(void) {
    join(start(ends_under_permit, NULL));
    gate_open(&lost);
    CHECK_IS(lazy_once_init(&b), LAZY_OK);
}
static void comes_last(void) {
    gate_wait(&lost);
    sleeps(A);
    sleeps(W);
    CHECK_IS(lazy_once_init(&a), LAZY_E_DEADLOCK);
    alarm_names_everybody();
    atomic_fetch_add(&alarms, 1);
}
static const struct part all[PARTS] = {
    { 1, 0, 0, 0, loses_a_worker }, { 1, 0, 0, 0, comes_last }, { 1, 0, LAZY_OK, 0, 0 }, { 0, 0, 0, 0, 0 },
};

int main(void) {
    CHECK_IS(play_all(all), 1);
    return finish();
}
