/* Memory that ends where an unreadable page begins: whoever reads or writes a byte too many is killed. */
#ifndef PAGE_END_H
#define PAGE_END_H
#include "check.h"
#include <sys/mman.h>

/* A copy of `size` bytes that ends there; the same memory each time. */
static inline void *at_page_end(const void *bytes, size_t size) {
    static char *pages;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!pages) {
        pages = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(pages != MAP_FAILED);
        CHECK_IS(mprotect(pages + page, page, PROT_NONE), 0);
    }
    return memcpy(pages + page - size, bytes, size);
}
#endif
