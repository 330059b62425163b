// not-under: valgrind: what the fork takes away from a thread of the child is left there, as documented
// Guards against an initializer, or a queued call, that runs in a child in which its attempt is void, because on_event, which is told that it
// begins, forked; and against one that never runs there: under RESET the next attempt runs each of them once.
#include "callers.h"
#include "forked_child.h"

static pid_t parent, child;
static uint32_t told;   /* at which event on_event forks */
static int events_left; /* at how many of that kind */
static int started, ran[3];

static void forks(void *ctx, const lazy_event *event) {
    (void)ctx;
    if (event->kind != told || event->duration_ns || getpid() != parent || events_left-- != 0) return;
    child = fork();
    if (child == 0) alarm(20);
}
static int32_t starts(void *ctx) {
    (void)ctx;
    started++;
    return 0;
}
static int32_t counts(void *ctx) {
    ++*(int *)ctx;
    return 0;
}
static void forks_at(uint32_t kind, int number, uint32_t policy) {
    lazy_config config = { .size = sizeof config, .initialize = starts, .on_fork = policy };
    lazy_once once = LAZY_ONCE_WITH(&config);
    lazy_request request = { .size = sizeof request, .fn = counts, .ctx = &ran[2] };
    lazy_observer observer = { .size = sizeof observer, .on_event = forks };
    told = kind;
    events_left = number;
    started = ran[0] = ran[1] = ran[2] = 0;
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_once_call(&once, counts, &ran[i]), LAZY_QUEUED);
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
    lazy_status status = lazy_once_init(&once);
    CHECK_IS(lazy_set_observer(NULL), LAZY_OK);
    if (getpid() != parent) {
        int before = kind == LAZY_EVENT_REQUEST ? number : 0;
        CHECK_IS(status, policy == LAZY_FORK_KEEP ? LAZY_OK : LAZY_E_FORKED);
        if (policy != LAZY_FORK_KEEP) {
            CHECK_IS(started, kind == LAZY_EVENT_REQUEST);
            for (int i = 0; i < 3; i++) CHECK_IS(ran[i], i < before);
        }
        if (policy == LAZY_FORK_POISON) CHECK_IS(lazy_once_reset(&once), LAZY_OK);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        for (int i = 0; i < 3; i++) CHECK_IS(ran[i], 1);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        _exit(0);
    }
    CHECK_IS(status, LAZY_OK);
    CHECK(child > 0);
    check_child(child);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    parent = getpid();
    fflush(NULL);
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) {
        forks_at(LAZY_EVENT_ATTEMPT, 0, policy);
        for (int number = 0; number < 3; number++) forks_at(LAZY_EVENT_REQUEST, number, policy);
    }
    return finish();
}
