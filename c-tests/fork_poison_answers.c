// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that uses what does not survive a fork: under LAZY_FORK_POISON, once an attempt has begun, every call
// is refused, within a second and with the parent's process in the message, until a reset; what is untouched stays usable.
#include "fork_answers.h"

/* In the parent; what the child finds, and what is left to run there: i for the initializer, a, b and c for requests. */
static const situation rows[] = {
    { "fresh",                           .init = NO_INIT, .finds = FRESH, .left = "iabc" },
    { "fresh again after a reset",       .init = LAZY_OK, .then = lazy_once_reset, .finds = FRESH, .left = "i" },
    { "another thread is in prepare",    .stops = IN_PREPARE, .init = NO_INIT, .finds = FORKED, .left = "iabc" },
    { "this thread is in prepare",       .forks = IN_PREPARE, .finds = FORKED, .left = "iabc" },
    { "prepare has failed",              .fails = IN_PREPARE, .init = LAZY_E_INIT, .finds = FRESH, .left = "iabc" },
    { "prepare has succeeded",           .fails = IN_CAN_INIT, .init = LAZY_E_NOT_NOW, .finds = FORKED, .left = "iabc" },
    { "another thread is in can_init",   .stops = IN_CAN_INIT, .init = NO_INIT, .finds = FORKED, .left = "iabc" },
    { "another thread initializes",      .stops = IN_INITIALIZER, .init = NO_INIT, .finds = FORKED, .left = "iabc" },
    { "another one waits for it",        .stops = IN_INITIALIZER, .waited = 1, .init = NO_INIT, .finds = FORKED, .left = "iabc" },
    { "this thread initializes",         .forks = IN_INITIALIZER, .finds = FORKED, .left = "iabc" },
    { "and another one waits for it",    .forks = IN_INITIALIZER, .waited = 1, .finds = FORKED, .left = "iabc" },
    { "a holder of its permit forks",    .lends = 1, .finds = FORKED, .left = "iabc" },
    { "another thread drains",           .stops = IN_REQUEST, .init = NO_INIT, .finds = FORKED, .left = "ibc" },
    { "another one waits for that",      .stops = IN_REQUEST, .waited = 1, .init = NO_INIT, .finds = FORKED, .left = "ibc" },
    { "another thread releases",         .stops = IN_DROP, .init = NO_INIT, .finds = FORKED, .left = "ic" },
    { "this thread drains",              .forks = IN_REQUEST, .finds = FORKED, .left = "ic" },
    { "this thread releases",            .forks = IN_DROP, .finds = FORKED, .left = "ic" },
    { "ready",                           .init = LAZY_OK, .finds = FORKED, .left = "i" },
    { "the initializer has failed",      .fails = IN_INITIALIZER, .init = LAZY_E_INIT, .finds = FORKED, .left = "iabc" },
    { "a request has failed",            .fails = IN_REQUEST, .init = LAZY_E_DEFERRED, .finds = FORKED, .left = "ibc" },
    { "failed for good",                 .fails = IN_INITIALIZER, .init = LAZY_E_INIT, .on_failure = LAZY_FAIL_STICKY, .finds = FORKED, .left = "iabc" },
    { "closed",                          .init = LAZY_OK, .then = lazy_once_close, .finds = CLOSED, .left = "" },
    { .what = NULL },
};

int main(void) {
    return be_in_all(LAZY_FORK_POISON, rows);
}
