/* How much memory this process holds, in three views: what malloc has given out, what is in main memory, and the most that
   ever was; an allocation that one of them does not see is seen by another. */
#ifndef MEMORY_USE_H
#define MEMORY_USE_H
#include "check.h"
#include <malloc.h>

static inline size_t allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
/* A line of /proc/self/status such as "VmRSS:", in bytes. */
static inline size_t memory_of(const char *field) {
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field))) sscanf(line + strlen(field), "%llu", &kib);
    fclose(file);
    CHECK(kib > 0);
    return (size_t)kib * 1024;
}
#endif
