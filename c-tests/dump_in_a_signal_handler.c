// not-under: tsan valgrind asan: signals come where the tool likes, and its allocator is not the one below
// Guards against a dump that allocates or waits in a signal handler: at random instructions of a thread that is busy with the library, it is
// written whole, or refused where that thread holds a lock; it never allocates, and leaves errno and the last error alone.
#include "interrupted.h"
#include "dumped.h"

static lazy_once once = LAZY_ONCE_INIT, other = LAZY_ONCE_INIT;
static lazy_slot slot = LAZY_SLOT_INIT(NULL);
static int fd;
static volatile sig_atomic_t written, refused, faults, allocated, in_handler;

void *__libc_malloc(size_t size);
void __libc_free(void *block);
void *malloc(size_t size) {
    allocated += in_handler;
    return __libc_malloc(size);
}
void free(void *block) {
    allocated += in_handler;
    __libc_free(block);
}

static void handler(int number) {
    int before = errno;
    (void)number;
    errno = 77;
    in_handler = 1;
    lazy_status status = lazy_dump(fd);
    if (errno != 77) faults++;
    if (status == LAZY_OK) written++;
    else if (status == LAZY_E_DEADLOCK) refused++;
    else faults++;
    in_handler = 0;
    handled++;
    errno = before;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(3, "no");
}
static void work(int round) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_once brief = LAZY_ONCE_INIT;
    request.fn = nothing;
    config.name = "brief";
    switch (round % 6) {
        case 0: lazy_once_init(&once); lazy_once_reset(&once); break;
        case 1: lazy_once_submit(&once, &request, &receipt); lazy_once_cancel(&once, receipt.ticket); break;
        case 2: lazy_once_configure(&brief, &config); lazy_once_call(&brief, nothing, NULL); lazy_once_close(&brief); break;
        case 3: lazy_once_named("interrupted"); info_of(&once); break;
        case 4: lazy_slot_set(&slot, (uint32_t)round % 100, &slot); break;
        case 5:
            CHECK_IS(lazy_once_run(&other, fails, NULL), LAZY_E_INIT);
            CHECK_IS(lazy_last_error()->code, 3);
            CHECK_HAS(lazy_last_error()->message, "no");
            break;
    }
}

int main(int argc, char **arguments) {
    (void)argc;
    without_allocator_cache(arguments);
    fd = open("/dev/null", O_WRONLY);
    CHECK(fd >= 0);
    interrupt(handler, work, rounds(20000));
    CHECK_IS(faults, 0);
    CHECK_IS(allocated, 0);
    CHECK(written > 0);
    CHECK_HAS(dumped(), "interrupted");
    return finish();
}
