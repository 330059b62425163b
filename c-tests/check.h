/* What every program here needs: checks that say what they saw, gates that order threads without sleeping, threads
   started and joined in one line. For C11 and C++17. Values shared by threads are atomic even where the library orders
   them: a sanitizer cannot see into the library. */
#ifndef CHECK_H
#define CHECK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <lazyonce.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, #condition, "false", "true"))
#define CHECK_IS(actual, expected) check_is(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define CHECK_HAS(text, part) check_has(__FILE__, __LINE__, #text, (text), (part))

static inline void check_fail(const char *file, int line, const char *what, const char *got, const char *wanted) {
    const lazy_error *e = lazy_last_error();
    fprintf(stderr, "%s:%d: %s is %s, not %s\nlast error: %s\n", file, line, what, got, wanted, e ? e->message : "none");
    fflush(NULL);
    _exit(1); /* not exit(): other threads still run, and an exit handler may be what is tested */
}
static inline void check_is(const char *file, int line, const char *what, long long got, long long wanted) {
    char a[32], b[32];
    if (got == wanted) return;
    snprintf(a, sizeof a, "%lld", got);
    snprintf(b, sizeof b, "%lld", wanted);
    check_fail(file, line, what, a, b);
}
static inline void check_has(const char *file, int line, const char *what, const char *text, const char *part) {
    if (!text || !strstr(text, part)) check_fail(file, line, what, text ? text : "NULL", part);
}
/* How often it is there. */
static inline int occurrences(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
    return count;
}
/* The last line of a program that passed: an exit status alone could come from an exit() nobody meant. */
static inline int finish(void) {
    return puts("done") < 0 || fflush(stdout) != 0;
}

/* Of CLOCK_MONOTONIC. */
static inline uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A gate opens once and stays open. */
typedef struct gate { pthread_mutex_t lock; pthread_cond_t opened; int open; } gate;
#define GATE_INIT { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }
static inline void gate_open(gate *g) {
    pthread_mutex_lock(&g->lock);
    g->open = 1;
    pthread_cond_broadcast(&g->opened);
    pthread_mutex_unlock(&g->lock);
}
static inline void gate_wait(gate *g) {
    pthread_mutex_lock(&g->lock);
    while (!g->open) pthread_cond_wait(&g->opened, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static inline pthread_t start(void *(*fn)(void *), void *arg) {
    pthread_t thread;
    CHECK_IS(pthread_create(&thread, NULL, fn, arg), 0);
    return thread;
}
static inline void *join(pthread_t thread) {
    void *result = NULL;
    CHECK_IS(pthread_join(thread, &result), 0);
    return result;
}
static inline int thread_id(void) { return (int)syscall(SYS_gettid); }

/* Returns when that thread sleeps in a futex: three looks at the same system call with the same arguments and stack. */
static inline void until_asleep(int thread) {
    char path[64], now[256], before[256] = "";
    int same = 0;
    for (snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread); same < 3; sched_yield()) {
        int fd = open(path, O_RDONLY);
        ssize_t size = read(fd, now, sizeof now - 1);
        now[size > 0 ? size : 0] = 0;
        close(fd);
        same = size > 0 && now[0] != 'r' && atol(now) == SYS_futex && !strcmp(now, before) ? same + 1 : 0;
        strcpy(before, now);
    }
}
/* `usual` rounds, or as few as CARD_ROUNDS says: a slow tool cannot make as many. */
static inline long rounds(long usual) {
    const char *most = getenv("CARD_ROUNDS");
    return most && atol(most) < usual ? atol(most) : usual;
}
#endif
