/* An allocator that refuses after so many calls: preloaded by programs that look at what happens without memory. */
#include <stddef.h>

void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_calloc(size_t count, size_t size);

static long left = -1; /* negative: never refuses */

void allocations_left(long count) {
    left = count;
}
static int refuses(void) {
    if (left < 0) return 0;
    if (left == 0) return 1;
    left--;
    return 0;
}
void *malloc(size_t size) {
    return refuses() ? NULL : __libc_malloc(size);
}
void *realloc(void *old, size_t size) {
    return refuses() ? NULL : __libc_realloc(old, size);
}
void *calloc(size_t count, size_t size) {
    return refuses() ? NULL : __libc_calloc(count, size);
}
