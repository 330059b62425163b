// Guards against messages that nobody has read: each failure is provoked, and its text, with numbers and folders taken out, is what a
// person is meant to read: what happened, to which once, who did it, from where, and what to do.
#include "callers.h"
#include "forked_child.h"
#include <ctype.h>

/* Every number is a #, every folder is gone. */
static const char *masked(const char *message) {
    static _Thread_local char text[2048];
    char *to = text, *word = text;
    for (const char *at = message; *at && to < text + sizeof text - 1;) {
        if (strchr(" (", *at)) word = to + 1;
        if (*at == '/') {
            to = word;
            at++;
        } else if (isdigit((unsigned char)*at)) {
            bool is_hexadecimal = at[0] == '0' && at[1] == 'x';
            if (is_hexadecimal) at += 2;
            while (is_hexadecimal ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
                at++;
            *to++ = '#';
        } else {
            *to++ = *at++;
        }
    }
    *to = 0;
    return text;
}
static void check_said(int line, lazy_status status, lazy_status wanted, const char *message) {
    check_is(__FILE__, line, "the status", status, wanted);
    const char *text = masked(lazy_last_error()->message);
    if (strcmp(text, message)) check_fail(__FILE__, line, "the message", text, message);
}
#define SAYS(wanted, message, call) check_said(__LINE__, (call), (wanted), (message))

static lazy_status (*volatile exported_init)(lazy_once *) = lazy_once_init;
static lazy_status (*volatile exported_call)(lazy_once *, lazy_fn, void *) = lazy_once_call;

static int32_t no_device(void *ctx) {
    (void)ctx;
    return lazy_fail(7, "no such device");
}
static int32_t not_yet(void *ctx) {
    (void)ctx;
    return 1;
}
static lazy_once *with(lazy_once *once, lazy_config config) {
    config.size = sizeof config;
    config.name = "gpu";
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    return once;
}

static void bad_arguments(void) {
    static lazy_once once;
    lazy_config config = { .size = sizeof config, .on_fork = 9 };
    lazy_request request = { .size = sizeof request, .fn = nothing, .flags = 64 };
    lazy_observer observer = { .size = sizeof observer };
    lazy_host host = { .size = sizeof host };
    SAYS(LAZY_E_INVALID, "the once is NULL, or its abi is one that this library does not know: memory that is no lazy_once, or a header "
         "newer than the library", exported_init(NULL));
    SAYS(LAZY_E_INVALID, "the callback is NULL", exported_call(&once, NULL, NULL));
    SAYS(LAZY_E_INVALID, "lazy_config.on_fork has no value #", lazy_once_configure(&once, &config));
    config.size = 3;
    SAYS(LAZY_E_INVALID, "lazy_config.size: # is too small, it has to be at least #", lazy_once_configure(&once, &config));
    SAYS(LAZY_E_INVALID, "lazy_request.flags has unknown bits: #", lazy_once_submit(&once, &request, NULL));
    SAYS(LAZY_E_INVALID, "the process default cannot be closed: use lazy_once_cancel_owner and lazy_once_reset",
         lazy_once_close(lazy_default()));
    SAYS(LAZY_E_INVALID, "the observer: its on_event is NULL", lazy_set_observer(&observer));
    SAYS(LAZY_E_INVALID, "the host: its run_attached is NULL", lazy_set_host(&host));
    SAYS(LAZY_E_INVALID, "cannot write to descriptor -#: Bad file descriptor (os error #)", lazy_dump(-1));
    SAYS(LAZY_E_INVALID, "this thread is not inside an attempt of an unnamed once: only the initializing thread can lend its permit",
         lazy_permit_capture(&once, &(lazy_permit){ { 0 } }));
    SAYS(LAZY_E_NOT_FOUND, "the attempt of this permit has ended, or it is no permit of a running one",
         lazy_permit_enter(&(lazy_permit){ { 1, 2, 3, 4 } }));
    SAYS(LAZY_E_NOT_FOUND, "an unnamed once has no request with the ticket #: it has run, has been cancelled, or was never queued",
         lazy_once_cancel(&once, 77));
    SAYS(LAZY_E_INVALID, "the snapshot (lazy_thread_state) is NULL", lazy_thread_state_enter(NULL));
}

static void describe(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    snprintf(buffer, capacity, "seed of generator 3");
}
static void failures(void) {
    static lazy_once starts, queued, sticky, asks, prepares, closed;
    lazy_config other = { .size = sizeof other, .name = "other" };
    lazy_request request = { .size = sizeof request, .fn = no_device, .describe = describe };
    request.site = LAZY_HERE;
    SAYS(LAZY_E_INIT, "the initializer of once \"gpu\" failed with code #: no such device (attempt # on thread #, started at "
         "error_messages.c:# (failures), after # s; nothing queued was lost, a new call tries again)",
         LAZY_INIT(with(&starts, (lazy_config){ .initialize = no_device })));
    SAYS(LAZY_E_TOO_LATE, "once \"gpu\" cannot be configured any more: an attempt to initialize it has been made (attempt # by thread #, "
         "started at error_messages.c:# (failures), # s ago); configure it before its first use", lazy_once_configure(&starts, &other));
    CHECK_IS(lazy_once_submit(with(&queued, (lazy_config){ .name = NULL }), &request, NULL), LAZY_QUEUED);
    SAYS(LAZY_E_DEFERRED, "a callback (seed of generator #) queued on once \"gpu\" by error_messages.c:# (failures) failed with code #: no "
         "such device (ticket #, attempt # on thread #, started at error_messages.c:# (failures)); it stays at the head of the queue and the "
         "next attempt resumes there", LAZY_INIT(&queued));
    CHECK_IS(lazy_once_cancel_owner(&queued, &queued), 0);
    SAYS(LAZY_E_INIT, "the initializer of once \"gpu\" failed with code #: no such device (attempt # on thread #, started at "
         "error_messages.c:# (failures), after # s; that is final: LAZY_FAIL_STICKY)",
         LAZY_INIT(with(&sticky, (lazy_config){ .initialize = no_device, .on_failure = LAZY_FAIL_STICKY })));
    SAYS(LAZY_E_NOT_NOW, "once \"gpu\" cannot be initialized now: its can_init answered # (no attempt was made, nothing queued was lost; try "
         "again later)", LAZY_INIT(with(&asks, (lazy_config){ .can_init = not_yet })));
    SAYS(LAZY_E_INIT, "the prepare of once \"gpu\" failed with code #: no such device (no attempt was made; a new call tries again)",
         LAZY_INIT(with(&prepares, (lazy_config){ .prepare = no_device })));
    CHECK_IS(lazy_once_close(with(&closed, (lazy_config){ .name = NULL })), LAZY_OK);
    SAYS(LAZY_E_CLOSED, "an unnamed once at # is closed, and stays so", LAZY_INIT(&closed));
}
static void ready(void) {
    static lazy_once once;
    CHECK_IS(LAZY_INIT(with(&once, (lazy_config){ .name = NULL })), LAZY_OK);
    SAYS(LAZY_E_CALLBACK, "a callback given to once \"gpu\" by error_messages.c:# (ready) ran at once and failed with code #: no such device",
         LAZY_CALL(&once, no_device, NULL));
}

static int32_t refuses(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    (void)body;
    (void)arg;
    return 5;
}
static int32_t attaches(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    body(arg);
    return 0;
}
static int32_t gives_up(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    (void)park;
    (void)interrupt;
    return refuses(ctx, NULL, arg);
}
static void *owns(void *once) {
    CHECK_IS(LAZY_INIT((lazy_once *)once), LAZY_OK);
    return NULL;
}
static void waits(void) {
    static const lazy_host refuser = { .size = sizeof(lazy_host), .name = "engine", .run_attached = refuses };
    static const lazy_host giver = { .size = sizeof(lazy_host), .name = "engine", .run_attached = attaches, .wait_detached = gives_up };
    static lazy_once refused, once;
    static hold inside = HOLD_INIT;
    SAYS(LAZY_E_HOST, "the host \"engine\": it refused this thread (its hook returned #); once \"gpu\" was not touched",
         LAZY_INIT(with(&refused, (lazy_config){ .host = &refuser })));
    with(&once, (lazy_config){ .initialize = held, .ctx = &inside, .host = &giver });
    pthread_t owner = start(owns, &once);
    gate_wait(&inside.inside);
    SAYS(LAZY_E_INTERRUPTED, "the host \"engine\" gave up the wait for once \"gpu\", as at Ctrl-C; nothing was run or queued", LAZY_INIT(&once));
    SAYS(LAZY_E_TIMEOUT, "waited # s for once \"gpu\": thread # is initializing (attempt #, started # s ago at error_messages.c:# (owns))",
         lazy_once_init_timeout(&once, 0));
    gate_open(&inside.go);
    join(owner);
}

static lazy_once one = LAZY_ONCE_INIT, two = LAZY_ONCE_INIT;
static caller owner_of_two;
static int32_t wants_one(void *ctx) {
    (void)ctx;
    CHECK_IS(LAZY_INIT(&one), LAZY_E_INIT);
    return 0;
}
static lazy_status owns_two(void *arg) {
    (void)arg;
    return LAZY_INIT(&two);
}
static int32_t wants_two(void *ctx) {
    (void)ctx;
    begin(&owner_of_two, owns_two, NULL);
    until_waiting(&owner_of_two);
    SAYS(LAZY_E_DEADLOCK, "waiting would never end: thread # waits for once \"two\", initialized by thread # (attempt #, started at "
         "error_messages.c:# (owns_two)); thread # waits for once \"one\", initialized by thread # (attempt #, started at error_messages.c:# "
         "(circle)). Nobody slept. Start them in one order, or limit the wait", LAZY_INIT(&two));
    return 3;
}
static void circle(void) {
    lazy_config first = { .size = sizeof first, .name = "one", .initialize = wants_two };
    lazy_config second = { .size = sizeof second, .name = "two", .initialize = wants_one };
    CHECK_IS(lazy_once_configure(&one, &first), LAZY_OK);
    CHECK_IS(lazy_once_configure(&two, &second), LAZY_OK);
    CHECK_IS(LAZY_INIT(&one), LAZY_E_INIT);
    CHECK_IS(ended(&owner_of_two), LAZY_OK);
}

static lazy_once poisoned = LAZY_ONCE_INIT;
static void child(void) {
    SAYS(LAZY_E_FORKED, "once \"gpu\" cannot be used in this forked child: process # used it before the fork (attempt # by its thread #, started "
         "at error_messages.c:# (main), # s ago). Start the child with exec (in Python's multiprocessing: \"spawn\"); only if "
         "what it guards can be started twice after a fork, lazy_once_reset makes it fresh", lazy_once_init(&poisoned));
}

static int32_t no_handle(void *ctx, uint32_t index, void **value) {
    (void)index;
    (void)value;
    return no_device(ctx);
}
static void slots(void) {
    static const lazy_slot_config config = { .size = sizeof config, .name = "handle", .create = no_handle };
    static lazy_slot fails = LAZY_SLOT_INIT(&config), empty = LAZY_SLOT_INIT(NULL);
    void *value;
    SAYS(LAZY_E_CALLBACK, "the factory of slot \"handle\" returned # for index #: no such device. Nothing was kept; the next call tries again",
         lazy_slot_get(&fails, 3, &value));
    SAYS(LAZY_E_NOT_FOUND, "an unnamed slot has no value at index # and no factory: store one with lazy_slot_set, or configure a factory",
         lazy_slot_get(&empty, 3, &value));
    SAYS(LAZY_E_INVALID, "the place for the value is NULL", lazy_slot_get(&fails, 3, NULL));
}

int main(void) {
    bad_arguments();
    failures();
    ready();
    waits();
    circle();
    slots();
    SAYS(LAZY_E_NOT_NOW, "this process has not initialized the CUDA driver yet: initialize a once of lazy_cuda_setup first",
         lazy_cuda_bind_thread(0));
    CHECK_IS(LAZY_INIT(with(&poisoned, (lazy_config){ .on_fork = LAZY_FORK_POISON })), LAZY_OK);
    in_child(child);
    return finish();
}
