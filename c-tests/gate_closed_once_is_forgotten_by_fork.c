// Guards against a fork that walks over onces which no longer exist: the page of a closed once, of a ready one that nobody
// configured and of one that failed and then succeeded is gone when the process forks; parent and child go on.
#include "forked_child.h"
#include "callers.h"
#include <sys/mman.h>

enum { ONCES = 4 };
static lazy_once *onces;
static lazy_once kept = LAZY_ONCE_INIT;

static int32_t fails(void *ctx) {
    (void)ctx;
    return 1;
}
static void child(void) {
    lazy_once own = LAZY_ONCE_INIT;
    int null = open("/dev/null", O_WRONLY);
    CHECK_IS(lazy_once_call(&own, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&own), LAZY_OK);
    CHECK_IS(info_of(&kept).queued, 1);
    CHECK_IS(lazy_once_init(&kept), LAZY_OK);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    CHECK_IS(lazy_once_close(&kept), LAZY_OK);
}

int main(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    onces = (lazy_once *)mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)onces != MAP_FAILED);
    CHECK_IS(lazy_once_call(&kept, nothing, NULL), LAZY_QUEUED);
    for (int round = 0; round < 20; round++) {
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = "short-lived";
        CHECK_IS(lazy_once_configure(&onces[0], &config), LAZY_OK);
        if (round % 2) CHECK_IS(lazy_once_init(&onces[0]), LAZY_OK);
        CHECK_IS(lazy_once_call(&onces[1], never, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_call(&onces[2], nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&onces[2]), LAZY_OK);
        CHECK_IS(lazy_once_run(&onces[3], fails, NULL), LAZY_E_INIT);
        if (round % 3) CHECK_IS(lazy_once_init(&onces[3]), LAZY_OK);
        for (int i = 0; i < 2; i++) CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
        memset(onces, 0xcd, ONCES * sizeof *onces);
        CHECK_IS(mprotect(onces, page, PROT_NONE), 0);
        in_child(child);
        CHECK_IS(info_of(&kept).queued, 1);
        CHECK_IS(mprotect(onces, page, PROT_READ | PROT_WRITE), 0);
        memset(onces, 0, ONCES * sizeof *onces);
    }
    CHECK_IS(lazy_once_init(&kept), LAZY_OK);
    return finish();
}
