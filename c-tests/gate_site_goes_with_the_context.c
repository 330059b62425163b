// Guards against a look at a place that is gone: the strings of a request's site are the caller's, who may free them as soon as submit returns,
// or with the context. While the request runs, and while its drop does, a dump, a timeout, a cancellation that waits and the failure tell the
// place nevertheless; and a message says which of the two a thread is in.
#include "callers.h"
#include "dumped.h"
#include "requests.h"
#include <sys/mman.h>

static lazy_once once;
static hold running, dropping;
static uint64_t ticket;
enum { PAGE = 4096 };

static void drops(void *page) {
    CHECK_IS(munmap(page, PAGE), 0);
    held(&dropping);
}
static int32_t runs(void *page) {
    (void)page;
    return held(&running);
}
static lazy_status cancels(void *arg) { return lazy_once_cancel((lazy_once *)arg, ticket); }
static lazy_status impatient(void *arg) { return lazy_once_init_timeout((lazy_once *)arg, 1000000); }

/* In a page of its own, which goes with the context, or is gone at once. */
static void submits(bool is_kept) {
    char *page = (char *)mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    strcpy(page, "plugin.c");
    strcpy(page + 64, "load");
    lazy_request request = { .size = sizeof request, .fn = runs, .ctx = page, .site = { page, 7, page + 64 } };
    if (is_kept) request.drop = drops;
    ticket = queue_request(&once, request);
    if (!is_kept) CHECK_IS(munmap(page, PAGE), 0);
}
static void check_dump(const char *part) {
    char *text = dumped();
    CHECK_HAS(text, part);
    CHECK_HAS(text, "queued by plugin.c:7 (load)");
    free(text);
}
static void check_timeout(const char *part) {
    caller c;
    begin(&c, impatient, &once);
    CHECK_IS(ended(&c), LAZY_E_TIMEOUT);
    CHECK_HAS(c.message, part);
    CHECK_HAS(c.message, "plugin.c:7 (load)");
}

int main(void) {
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        caller owner, canceller;
        once = (lazy_once)LAZY_ONCE_INIT;
        running = dropping = (hold)HOLD_INIT;
        atomic_store(&running.code, 3);
        submits(is_kept);
        begin(&owner, in_init, &once);
        gate_wait(&running.inside);
        check_dump("running a callback ");
        check_timeout("it runs a callback queued by ");
        lazy_info info = LAZY_INFO_INIT;
        CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
        begin(&canceller, cancels, &once);
        until_waiting(&canceller);
        gate_open(&running.go);
        if (is_kept) {
            gate_wait(&dropping.inside);
            check_dump("inside the drop of a request of ");
            check_timeout("it is inside the drop of a request queued by ");
            gate_open(&dropping.go);
        }
        CHECK_IS(ended(&owner), LAZY_E_DEFERRED);
        CHECK_HAS(owner.message, "plugin.c:7 (load)");
        CHECK_IS(ended(&canceller), LAZY_E_NOT_FOUND);
        CHECK(!strcmp(info.running.file, "plugin.c") && !strcmp(info.running.function, "load")); /* until the next look */
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    return finish();
}
