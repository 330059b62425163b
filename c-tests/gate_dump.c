// Guards against a dump that says "one once, busy": while attempts are held it names every once with its phase, the
// thread inside, how many wait, how many requests are queued and the place where the running one was made; it waits for
// nobody, also not from inside, and needs no name or initializer.
#include "callers.h"
#include "dumped.h"

enum { WAITERS = 13, QUEUED = 7654 };
static hold start_up = HOLD_INIT, request = HOLD_INIT, unnamed = HOLD_INIT;
static const lazy_config starting = { .size = sizeof(lazy_config), .name = "the starting one", .initialize = held,
                                      .ctx = &start_up };
static lazy_once initializing = LAZY_ONCE_WITH(&starting), draining = LAZY_ONCE_INIT, plain = LAZY_ONCE_INIT;

static lazy_status in_counting_call(void *once) {
    static atomic_int ran;
    return lazy_once_call((lazy_once *)once, count, &ran);
}
static int32_t dumps_inside(void *ctx) {
    char *text = dumped();
    CHECK_HAS(text, "the dumping one");
    CHECK(has_number(text, thread_id()));
    free(text);
    return *(int *)ctx;
}

/* While an initializer runs, the once has one, whoever brought it. */
static int32_t dumps(void *ctx) {
    char *text = dumped(), *line = line_about(text, "brought along");
    (void)ctx;
    CHECK_HAS(line, "initializing");
    CHECK(strstr(line, "no initializer") == NULL);
    free(line);
    free(text);
    return 0;
}

int main(void) {
    caller owners[3], waiters[WAITERS];
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "the draining one";
    CHECK_IS(lazy_once_configure(&draining, &config), LAZY_OK);
    int line = __LINE__ + 1;
    CHECK_IS(LAZY_CALL(&draining, held, &request), LAZY_QUEUED);
    for (int i = 0; i < QUEUED; i++) CHECK_IS(lazy_once_call(&draining, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&plain, held, &unnamed), LAZY_QUEUED);
    CHECK(lazy_once_named("the shared one") != NULL);
    lazy_once *shared = lazy_once_named("the shared one");
    CHECK_IS(lazy_once_call(shared, nothing, NULL), LAZY_QUEUED);
    begin(&owners[0], in_init, &initializing);
    begin(&owners[1], in_init, &draining);
    begin(&owners[2], in_init, &plain);
    gate_wait(&start_up.inside);
    gate_wait(&request.inside);
    gate_wait(&unnamed.inside);
    for (int i = 0; i < WAITERS; i++) {
        begin(&waiters[i], i % 2 ? in_init : in_counting_call, i < 2 ? &draining : &initializing);
        until_waiting(&waiters[i]);
    }
    char *text = dumped(), site[64];
    char *first = line_about(text, "the starting one"), *second = line_about(text, "the draining one");
    CHECK_HAS(first, "initializing");
    CHECK(has_number(first, atomic_load(&owners[0].id)));
    CHECK(has_number(first, WAITERS - 2));
    CHECK(strstr(first, "no initializer") == NULL);
    CHECK_HAS(second, "draining");
    CHECK_HAS(second, "no initializer");
    CHECK(has_number(second, atomic_load(&owners[1].id)));
    CHECK(has_number(second, 2));
    CHECK(has_number(second, QUEUED) || has_number(second, QUEUED + 1)); /* without or with the one that runs */
    snprintf(site, sizeof site, "gate_dump.c:%d", line);
    CHECK_HAS(second, site);
    CHECK(has_number(text, atomic_load(&owners[2].id))); /* the one without a name */
    CHECK_HAS(text, "the shared one");
    CHECK(strlen(text) < 8192); /* the queue is counted, not listed */
    free(first);
    free(second);
    free(text);

    gate_open(&start_up.go);
    gate_open(&request.go);
    gate_open(&unnamed.go);
    for (int i = 0; i < 3; i++) CHECK_IS(ended(&owners[i]), LAZY_OK);
    for (int i = 0; i < WAITERS; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    text = dumped();
    CHECK_HAS(text, "the draining one"); /* ready, and still the library's to know */
    free(text);
    CHECK_IS(lazy_once_run(lazy_once_named("brought along"), dumps, NULL), LAZY_OK);
    CHECK_IS(lazy_once_close(&draining), LAZY_OK);
    text = dumped();
    CHECK(strstr(text, "the draining one") == NULL);
    free(text);

    static lazy_once dumping = LAZY_ONCE_INIT;
    int fails = 1;
    config.name = "the dumping one";
    config.initialize = dumps_inside;
    config.ctx = &fails;
    CHECK_IS(lazy_once_configure(&dumping, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&dumping, dumps_inside, &fails), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&dumping), LAZY_E_INIT);
    fails = 0;
    CHECK_IS(lazy_once_init(&dumping), LAZY_OK);
    return finish();
}
