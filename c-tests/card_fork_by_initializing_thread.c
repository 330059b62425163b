// Guards against a child that forgets what its own thread is in the middle of: forked from inside the initializer or a
// queued callback, under KEEP it still owns the attempt, finishes it, and is ready, as its parent is.
#include "forked_child.h"

static int requests;
static pid_t children[2];

static int32_t fork_here(void *number) {
    children[(intptr_t)number] = fork();
    CHECK(children[(intptr_t)number] >= 0);
    if (children[(intptr_t)number] == 0) alarm(20);
    return 0;
}
static const lazy_config configs[2] = {
    { sizeof(lazy_config), "forks in the initializer", fork_here, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
    { sizeof(lazy_config), "forks in the drain", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
};
static lazy_once onces[2] = { LAZY_ONCE_WITH(&configs[0]), LAZY_ONCE_WITH(&configs[1]) };

static int32_t count(void *once) {
    ++requests;
    CHECK(lazy_once_is_initializing((lazy_once *)once));
    CHECK_IS(lazy_once_init((lazy_once *)once), LAZY_IN_PROGRESS);
    return 0;
}

int main(void) {
    for (intptr_t which = 0; which < 2; ++which) {
        requests = 0;
        if (which == 1) CHECK_IS(lazy_once_call(&onces[1], fork_here, (void *)1), LAZY_QUEUED);
        CHECK_IS(lazy_once_call(&onces[which], count, &onces[which]), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&onces[which]), LAZY_OK);
        CHECK(lazy_once_is_initialized(&onces[which]));
        CHECK(!lazy_once_is_initializing(&onces[which]));
        CHECK_IS(requests, 1);
        if (children[which] == 0) _exit(0);
        int status = 0;
        CHECK_IS(waitpid(children[which], &status, 0), children[which]);
        CHECK(WIFEXITED(status));
        CHECK_IS(WEXITSTATUS(status), 0);
    }
    return finish();
}
