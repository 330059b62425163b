/* What every program of the demo needs: steps that are seen even if the next one never comes, flags that order threads
   without sleeping, and checks. C and C++. */
#ifndef DEMO_H
#define DEMO_H

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char order[512];

/* The demo shows the last step of a program that hangs, so nothing may stay in a buffer. */
static inline void step(const char *name) {
    if (order[0]) strcat(order, " > ");
    strcat(order, name);
    dprintf(1, "step %s\n", name);
}

/* One line of the table's cell. */
static inline void show(const char *format, ...) {
    char line[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    dprintf(1, "show %s\n", line);
}

/* What the demo compares between the old way and lazyonce; a program that could not measure has none. */
static inline void figure(double value) { dprintf(1, "figure %.1f\n", value); }

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            dprintf(2, "line %d: not true: %s; order: %s\n", __LINE__, #condition, order); \
            _exit(1);                                                                      \
        }                                                                                  \
    } while (0)

static inline int done(void) {
    dprintf(1, "done\n");
    return 0;
}

/* A flag only grows. Waiting yields instead of sleeping: a thread seen asleep in a lock sleeps in the gate. */
typedef int flag;
static inline void raise_to(flag *f, int value) { __atomic_store_n(f, value, __ATOMIC_RELEASE); }
static inline int value_of(flag *f) { return __atomic_load_n(f, __ATOMIC_ACQUIRE); }
static inline void await(flag *f, int value) {
    while (value_of(f) < value) sched_yield();
}

static inline int thread_id(void) { return (int)syscall(SYS_gettid); }

/* Returns once the kernel shows that thread of this process asleep. */
static inline void await_asleep(int thread) {
    char path[64], stat[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    for (;;) {
        FILE *file = fopen(path, "r");
        size_t length = file ? fread(stat, 1, sizeof stat - 1, file) : 0;
        if (file) fclose(file);
        stat[length] = 0;
        const char *name_end = strrchr(stat, ')');
        if (name_end && name_end[1] && name_end[2] == 'S') return;
        sched_yield();
    }
}

/* A program that printed nothing within the limit started slowly, and one outlives a killed demo by 30 s at most. */
__attribute__((constructor)) static void start(void) {
    dprintf(1, "start\n");
    alarm(30);
}

#endif
