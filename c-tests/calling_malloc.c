/* An allocator that calls back into the program from inside: preloaded by programs that look at what a profiler's
   allocator may do. Each thread is armed for itself, and a hook's own allocations call nothing. */
#include <stddef.h>

void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static __thread void (*hook)(void) __attribute__((tls_model("initial-exec")));
static __thread int is_inside __attribute__((tls_model("initial-exec")));
static __thread long again __attribute__((tls_model("initial-exec")));

void call_from_malloc(void (*from_now_on)(void)) {
    hook = from_now_on;
}
/* How often it was called while a hook of this thread ran: an allocator that holds a lock of its own would have hung. */
long called_again(void) {
    return again;
}
static void call(void) {
    if (is_inside) again++;
    if (!hook || is_inside) return;
    is_inside = 1;
    hook();
    is_inside = 0;
}
void *malloc(size_t size) {
    call();
    return __libc_malloc(size);
}
void *realloc(void *old, size_t size) {
    call();
    return __libc_realloc(old, size);
}
void *calloc(size_t count, size_t size) {
    call();
    return __libc_calloc(count, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    call();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
    call();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : 12;
}
void free(void *block) {
    call();
    __libc_free(block);
}
