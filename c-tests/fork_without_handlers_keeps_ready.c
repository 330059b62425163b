// Guards against a check that costs or breaks what needs none: a READY once stays READY in a child of vfork's parent, of _Fork
// and of a bare clone, through the inline and the exported paths, as the header says; a vfork changes nothing in the parent,
// whatever it is in the middle of, and its child ends untouched; a fork from such a child is a fork like any other.
#include "callers.h"
#include "raw_fork.h"

static lazy_once ready = LAZY_ONCE_INIT, fresh = LAZY_ONCE_INIT, busy = LAZY_ONCE_INIT;
static hold stopped = HOLD_INIT;
static atomic_int ran;
static raw_way way;
static lazy_status (*volatile exported_call)(lazy_once *, lazy_fn, void *) = lazy_once_call;
static bool (*volatile exported_look)(const lazy_once *) = lazy_once_is_initialized;

static void grandchild(void) {
    CHECK_IS(lazy_once_call(&ready, count, &ran), LAZY_OK);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(lazy_once_run(&busy, nothing, NULL), LAZY_OK);
}
static void raw_grandchild(void) { in_raw_child(way, grandchild); }
static void child(void) {
    CHECK(lazy_once_is_initialized(&ready) && exported_look(&ready));
    CHECK_IS(lazy_once_call(&ready, count, &ran), LAZY_OK);
    CHECK_IS(exported_call(&ready, count, &ran), LAZY_OK);
    CHECK_IS(LAZY_CALL(&ready, count, &ran), LAZY_OK);
    CHECK_IS(lazy_once_init_timeout(&ready, 0), LAZY_OK);
    in_child(grandchild);
    in_child(raw_grandchild);
    raw_grandchild();
    grandchild();
}
static int32_t vforks(void *ctx) {
    int status = -1;
    pid_t pid = vfork();
    if (pid == 0) _exit(0);
    CHECK_IS(waitpid(pid, &status, 0), pid);
    CHECK_IS(status, 0);
    CHECK(lazy_once_is_initialized(&ready));
    CHECK_IS(lazy_once_is_initializing(&fresh), ctx != NULL);
    CHECK_IS(info_of(&busy).phase, LAZY_INITIALIZING);
    CHECK_IS(lazy_once_init_timeout(&busy, 0), LAZY_E_TIMEOUT);
    return 0;
}

int main(void) {
    caller owner;
    lazy_config config = LAZY_CONFIG_INIT;
    config.initialize = held;
    config.ctx = &stopped;
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_once_configure(&busy, &config), LAZY_OK);
    begin(&owner, in_init, &busy);
    gate_wait(&stopped.inside);
    vforks(NULL);
    for (int w = 0; w < RAW_WAYS; w++) {
        way = (raw_way)w;
        if (has_way(way)) in_raw_child(way, child);
    }
    CHECK_IS(lazy_once_run(&fresh, vforks, &fresh), LAZY_OK);
    gate_open(&stopped.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(lazy_once_close(&busy), LAZY_OK);
    return finish();
}
