// Guards against a library that remembers an unconfigured once: ready, or fresh with nothing queued, it owns nothing,
// info gives its name, phase, attempts and generation and 0 or NULL for the rest, and its page may go away without a
// close, while a dump and other onces walk over whatever the library remembers.
#include "callers.h"
#include <sys/mman.h>

static int32_t fails(void *ctx) {
    (void)ctx;
    return 1;
}
static void check(const lazy_once *once, const char *name, uint32_t phase, uint32_t attempts, uint32_t generation) {
    lazy_info info;
    memset(&info, 0xee, sizeof info);
    info.size = sizeof info;
    CHECK_IS(lazy_once_info(once, &info), LAZY_OK);
    CHECK_IS(info.size, sizeof info);
    CHECK(name ? info.name && !strcmp(info.name, name) : info.name == NULL);
    CHECK_IS(info.phase, phase);
    CHECK_IS(info.attempts, attempts);
    CHECK_IS(info.generation, generation);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(info.queued, 0);
    CHECK_IS(info.owner_thread, 0);
    CHECK_IS(info.since_ns, 0);
    CHECK_IS(info.init_ns, 0);
    CHECK(info.running.file == NULL && info.running.line == 0 && info.running.function == NULL);
    CHECK(info.init_site.file == NULL && info.init_site.line == 0 && info.init_site.function == NULL);
    CHECK_IS(info.init_pid, 0);
}

int main(void) {
    static const lazy_config bound = { .size = sizeof(lazy_config), .name = "bound" };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int null = open("/dev/null", O_WRONLY);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    lazy_once *onces = (lazy_once *)memory;
    onces[0] = (lazy_once)LAZY_ONCE_INIT;
    onces[1] = (lazy_once)LAZY_ONCE_WITH(&bound); /* the third is zeroed, the fourth fails, the fifth is only looked at */
    for (int i = 0; i < 5; i++) {
        lazy_once *once = &onces[i];
        const char *name = i == 1 ? "bound" : NULL;
        check(once, name, LAZY_FRESH, 0, 0);
        if (i == 4) continue;
        CHECK_IS(lazy_once_call(once, nothing, NULL), LAZY_QUEUED);
        if (i == 3) {
            CHECK_IS(lazy_once_run(once, fails, NULL), LAZY_E_INIT); /* keeps its history: it has a queue */
            CHECK_IS(info_of(once).queued, 1);
        }
        CHECK_IS(LAZY_INIT(once), LAZY_OK);
        check(once, name, LAZY_READY, i == 3 ? 2 : 1, 0);
        CHECK_IS(lazy_once_reset(once), LAZY_OK);
        check(once, name, LAZY_FRESH, i == 3 ? 2 : 1, 1);
        CHECK_IS(LAZY_INIT(once), LAZY_OK);
        CHECK_IS(lazy_once_call(once, nothing, NULL), LAZY_OK);
        check(once, name, LAZY_READY, i == 3 ? 3 : 2, 1);
    }
    memset(memory, 0xcd, sizeof *onces * 5);
    CHECK_IS(munmap(memory, page), 0);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    lazy_once other = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_call(&other, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    CHECK_IS(lazy_once_init(&other), LAZY_OK);

    lazy_once *block = (lazy_once *)calloc(1, sizeof *block); /* what a sanitizer and valgrind look at */
    CHECK(block != NULL);
    CHECK_IS(lazy_once_run(block, nothing, NULL), LAZY_OK);
    free(block);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    close(null);
    return finish();
}
