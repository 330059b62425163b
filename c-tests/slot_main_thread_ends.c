// Guards against a main thread whose values are forgotten because it has no start function that returns: it leaves by
// pthread_exit, its values are destroyed by it, those of the process and of the thread that goes on are not.
#include "slots.h"

static const lazy_slot_config own_config = ITEMS("own", LAZY_SLOT_THREAD), common_config = ITEMS("common", LAZY_SLOT_PROCESS);
static lazy_slot own = LAZY_SLOT_INIT(&own_config), common = LAZY_SLOT_INIT(&common_config);
static item *of_main[2], *of_all;

/* What remains of a main thread that has ended while others go on. */
static void until_main_is_gone(void) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    do {
        int fd = open(path, O_RDONLY);
        ssize_t size = read(fd, text, sizeof text - 1);
        text[size > 0 ? size : 0] = 0;
        close(fd);
        sched_yield();
    } while (!strstr(text, ") Z "));
}
static void *goes_on(void *ctx) {
    (void)ctx;
    item *mine = get_new(&own, 0);
    until_main_is_gone();
    CHECK_IS(COUNT(destroyed), 2);
    for (int i = 0; i < 2; i++) CHECK_IS(COUNT(of_main[i]->destroyer), getpid());
    CHECK(get_present(&own, 0) == mine);
    CHECK(get_present(&common, 0) == of_all);
    exit(finish());
}

int main(void) {
    for (uint32_t i = 0; i < 2; i++) of_main[i] = get_new(&own, i);
    of_all = get_new(&common, 0);
    start(goes_on, NULL);
    pthread_exit(NULL);
}
