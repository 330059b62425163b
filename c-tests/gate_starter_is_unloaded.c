// Guards against a crash after a plugin that started a once has been unloaded: the file and function of LAZY_INIT stood in the
// plugin, and are still told by info, the dump, a waiter's time-out and LAZY_E_TOO_LATE when its memory is gone.
#include "check.h"
#include <sys/mman.h>

static int code;
static int32_t initialize(void *ctx) {
    (void)ctx;
    return code;
}
static lazy_config config = { .size = sizeof(lazy_config), .name = "started by a plugin", .initialize = initialize };

/* As LAZY_INIT in an object that is unloaded afterwards. */
static lazy_status start_and_unload(lazy_once *once) {
    char *rodata = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(rodata != MAP_FAILED);
    strcpy(rodata, "plugin.c");
    strcpy(rodata + 100, "plugin_init");
    lazy_site site = { rodata, 77, rodata + 100 };
    lazy_status status = lazy_once_init_slow(once, &site);
    CHECK_IS(munmap(rodata, 4096), 0);
    return status;
}
static void check_told(lazy_once *once) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(once, &info), LAZY_OK);
    CHECK(!strcmp(info.init_site.file, "plugin.c") && info.init_site.line == 77);
    CHECK(!strcmp(info.init_site.function, "plugin_init"));
    int fd = memfd_create("dump", 0);
    char text[4096] = "";
    CHECK_IS(lazy_dump(fd), LAZY_OK);
    CHECK(pread(fd, text, sizeof text - 1, 0) > 0);
    CHECK_HAS(text, "started at plugin.c:77 (plugin_init)");
    close(fd);
    lazy_config other = LAZY_CONFIG_INIT;
    CHECK_IS(lazy_once_configure(once, &other), LAZY_E_TOO_LATE);
    CHECK_HAS(lazy_last_error()->message, "plugin.c:77");
    CHECK(!strcmp(lazy_last_error()->init_site.function, "plugin_init"));
}

int main(void) {
    static lazy_once failed, ready;
    CHECK_IS(lazy_once_configure(&failed, &config), LAZY_OK);
    CHECK_IS(lazy_once_configure(&ready, &config), LAZY_OK);
    CHECK_IS(start_and_unload(&ready), LAZY_OK);
    code = 3;
    CHECK_IS(start_and_unload(&failed), LAZY_E_INIT);
    check_told(&ready);
    check_told(&failed);
    return finish();
}
