// not-under: tsan: it allows no new threads in a child of a process with threads
// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that goes on referring to a once whose storage went with its thread: an unconfigured once on another
// thread's stack, whose initializer runs while the process forks, owns nothing in the child. There a new thread uses the
// stack again, another time it is gone altogether, and neither a grandchild's fork nor a dump may touch it.
#include "callers.h"
#include "forked_child.h"
#include <sys/mman.h>

enum { STACK = 256 * 1024, WAYS = 3 };
static const lazy_config bound = { .size = sizeof(lazy_config), .name = "bound", .initialize = held };
static hold holds[WAYS] = { HOLD_INIT, HOLD_INIT, HOLD_INIT };
static char *stacks[WAYS];
static int way;

/* The ways in which a once on the stack can be in the middle: by run, bound to a configuration, and in its second attempt. */
static int32_t fails(void *ctx) {
    (void)ctx;
    return 1;
}
static void *uses_a_once_of_its_stack(void *number) {
    int which = (int)(intptr_t)number;
    lazy_once once = LAZY_ONCE_INIT;
    CHECK((char *)&once >= stacks[which] && (char *)&once < stacks[which] + STACK);
    if (which == 1) once.config = &bound;
    if (which == 2) CHECK_IS(lazy_once_run(&once, fails, NULL), LAZY_E_INIT);
    CHECK_IS(lazy_once_run(&once, held, &holds[which]), LAZY_OK);
    return NULL;
}
static pthread_t on_stack(char *stack, void *(*body)(void *), void *arg) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK_IS(pthread_attr_init(&attributes), 0);
    CHECK_IS(pthread_attr_setstack(&attributes, stack, STACK), 0);
    CHECK_IS(pthread_create(&thread, &attributes, body, arg), 0);
    return thread;
}
static void *fills_its_stack(void *ctx) {
    volatile unsigned char filler[STACK / 2];
    (void)ctx;
    for (size_t i = 0; i < sizeof filler; i++) filler[i] = 0xaa;
    return NULL;
}
static void grandchild(void) {
    lazy_once own = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_call(&own, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&own), LAZY_OK);
}
static void fork_and_dump(void) {
    int null = open("/dev/null", O_WRONLY);
    in_child(grandchild);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    close(null);
}
static void stack_is_used_again(void) {
    char *stack = stacks[way];
    join(on_stack(stack, fills_its_stack, NULL));
    memset(stack, 0xaa, STACK);
    fork_and_dump();
    for (size_t i = 0; i < STACK; i++) CHECK_IS((unsigned char)stack[i], 0xaa);
}
static void stack_is_gone(void) {
    CHECK_IS(mprotect(stacks[way], STACK, PROT_NONE), 0);
    fork_and_dump();
}

int main(void) {
    pthread_t threads[WAYS];
    for (way = 0; way < WAYS; way++) {
        stacks[way] = (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK((void *)stacks[way] != MAP_FAILED);
        threads[way] = on_stack(stacks[way], uses_a_once_of_its_stack, (void *)(intptr_t)way);
        gate_wait(&holds[way].inside);
        in_child(stack_is_gone);
        in_child(stack_is_used_again);
        gate_open(&holds[way].go);
        join(threads[way]);
    }
    return finish();
}
