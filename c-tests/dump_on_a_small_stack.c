// not-under: valgrind tsan asan: the tool's own frames need more
// Guards against a signal that kills the program it is to explain: the dump at a signal fits on an alternate stack of the usual size, with a
// guard page below it as Rust's standard library makes them, and on a thread that has the smallest stack and uses some of it.
#include "warned.h"
#include <signal.h>
#include <sys/mman.h>

enum { ALTERNATE = 8192, SMALLEST = 16384 };
static lazy_once onces[10], early;
static hold inside = HOLD_INIT;

static hold hooked = HOLD_INIT;
static hold starting = HOLD_INIT;
static int32_t attached(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    body(arg);
    return 0;
}
static int32_t stays_behind(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    (void)interrupt;
    park(arg);
    return held(ctx);
}
static const lazy_host host = { sizeof(lazy_host), "host", &hooked, attached, stays_behind };
static const lazy_config bound_config = { .size = sizeof(lazy_config), .name = "\"one\" that owns no memory", .initialize = held,
                                          .ctx = &starting, .host = &host };
static lazy_once bound = LAZY_ONCE_WITH(&bound_config);

static void *raises(void *ctx) {
    volatile char used[2048];
    used[0] = 1;
    raise(SIGQUIT);
    return used[0] ? ctx : NULL;
}
static int work(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "with a name that is as long as names are, or longer still, so that the line which tells of it is a long one";
    for (int i = 0; i < 10; i++) {
        CHECK_IS(lazy_once_configure(&onces[i], &config), LAZY_OK);
        if (i % 2) CHECK_IS(LAZY_INIT(&onces[i]), LAZY_OK);
    }
    caller waiter, starter, taker;
    begin(&starter, in_init, &bound);
    gate_wait(&starting.inside);
    begin(&taker, in_init, &bound);
    until_waiting(&taker);
    gate_open(&starting.go);
    CHECK_IS(ended(&starter), LAZY_OK);
    gate_wait(&hooked.inside);
    config.prepare = held;
    config.ctx = &inside;
    CHECK_IS(lazy_once_configure(&early, &config), LAZY_OK);
    begin(&waiter, in_init, &early);
    gate_wait(&inside.inside);
    char *pages = (char *)mmap(NULL, 4096 + ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_IS(mprotect(pages, 4096, PROT_NONE), 0);
    stack_t alternate = { .ss_sp = pages + 4096, .ss_size = ALTERNATE };
    CHECK_IS(sigaltstack(&alternate, NULL), 0);
    raise(SIGQUIT);
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK_IS(pthread_attr_init(&attributes), 0);
    CHECK_IS(pthread_attr_setstacksize(&attributes, SMALLEST), 0);
    CHECK_IS(pthread_create(&thread, &attributes, raises, NULL), 0);
    join(thread);
    gate_open(&inside.go);
    gate_open(&hooked.go);
    CHECK_IS(ended(&taker), LAZY_OK);
    CHECK_IS(ended(&waiter), LAZY_OK);
    return 0;
}

int main(int argc, char **arguments) {
    (void)arguments;
    if (argc > 1) return work();
    warned_with("LAZYONCE_DUMP_SIGNAL", "QUIT", "small");
    CHECK_IS(warning_count("lazyonce 0."), 2);
    CHECK_IS(warning_count(" has been inside prepare of "), 2);
    CHECK_IS(warning_count(", on its way back from a wait for once \"\\\"one\\\" that owns no memory\" at 0x"), 2);
    CHECK(warning_count(" is as long as names are") >= 10);
    return finish();
}
