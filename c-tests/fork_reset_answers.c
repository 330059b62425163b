// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that takes its parent's success, failure or attempt for its own: under LAZY_FORK_RESET it finds the
// once fresh, the queue whole, whatever the parent was at; only what is closed stays closed.
#include "fork_answers.h"

/* In the parent; what the child finds, and what is left to run there: i for the initializer, a, b and c for requests. */
static const situation rows[] = {
    { "fresh",                           .init = NO_INIT, .finds = FRESH, .left = "iabc" },
    { "fresh again after a reset",       .init = LAZY_OK, .then = lazy_once_reset, .finds = FRESH, .left = "i" },
    { "another thread is in prepare",    .stops = IN_PREPARE, .init = NO_INIT, .finds = FRESH, .left = "iabc" },
    { "this thread is in prepare",       .forks = IN_PREPARE, .finds = FRESH, .left = "iabc" },
    { "prepare has failed",              .fails = IN_PREPARE, .init = LAZY_E_INIT, .finds = FRESH, .left = "iabc" },
    { "prepare has succeeded",           .fails = IN_CAN_INIT, .init = LAZY_E_NOT_NOW, .finds = FRESH, .left = "iabc" },
    { "another thread is in can_init",   .stops = IN_CAN_INIT, .init = NO_INIT, .finds = FRESH, .left = "iabc" },
    { "another thread initializes",      .stops = IN_INITIALIZER, .init = NO_INIT, .finds = FRESH, .left = "iabc" },
    { "another one waits for it",        .stops = IN_INITIALIZER, .waited = 1, .init = NO_INIT, .finds = FRESH, .left = "iabc" },
    { "this thread initializes",         .forks = IN_INITIALIZER, .finds = FRESH, .left = "iabc" },
    { "and another one waits for it",    .forks = IN_INITIALIZER, .waited = 1, .finds = FRESH, .left = "iabc" },
    { "a holder of its permit forks",    .lends = 1, .finds = FRESH, .left = "iabc" },
    { "another thread drains",           .stops = IN_REQUEST, .init = NO_INIT, .finds = FRESH, .left = "ibc" },
    { "another one waits for that",      .stops = IN_REQUEST, .waited = 1, .init = NO_INIT, .finds = FRESH, .left = "ibc" },
    { "another thread releases",         .stops = IN_DROP, .init = NO_INIT, .finds = FRESH, .left = "ic" },
    { "this thread drains",              .forks = IN_REQUEST, .finds = FRESH, .left = "ic" },
    { "this thread releases",            .forks = IN_DROP, .finds = FRESH, .left = "ic" },
    { "ready",                           .init = LAZY_OK, .finds = FRESH, .left = "i" },
    { "the initializer has failed",      .fails = IN_INITIALIZER, .init = LAZY_E_INIT, .finds = FRESH, .left = "iabc" },
    { "a request has failed",            .fails = IN_REQUEST, .init = LAZY_E_DEFERRED, .finds = FRESH, .left = "ibc" },
    { "failed for good",                 .fails = IN_INITIALIZER, .init = LAZY_E_INIT, .on_failure = LAZY_FAIL_STICKY, .finds = FRESH, .left = "iabc" },
    { "closed",                          .init = LAZY_OK, .then = lazy_once_close, .finds = CLOSED, .left = "" },
    { .what = NULL },
};

int main(void) {
    return be_in_all(LAZY_FORK_RESET, rows);
}
