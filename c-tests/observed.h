/* An observer that keeps every event, and checks of what it saw. For C11 and C++17. */
#ifndef OBSERVED_H
#define OBSERVED_H
#include "requests.h"

enum { MOST_EVENTS = 4096, DEEPEST_EVENT = 16 };
typedef struct seen_event { lazy_event event; char once[32], file[512], function[64]; } seen_event;
static seen_event events[MOST_EVENTS];
static int event_count;
static pthread_mutex_t events_mutex = PTHREAD_MUTEX_INITIALIZER;

static inline void keep_text(char *to, size_t size, const char *text) {
    snprintf(to, size, "%s", text ? text : "");
}
static inline void keep_event(void *ctx, const lazy_event *event) {
    (void)ctx;
    CHECK_IS(event->size, sizeof *event);
    CHECK_IS(event->thread, thread_id());
    pthread_mutex_lock(&events_mutex);
    CHECK(event_count < MOST_EVENTS);
    seen_event *seen = &events[event_count++];
    seen->event = *event;
    keep_text(seen->once, sizeof seen->once, event->once);
    keep_text(seen->file, sizeof seen->file, event->site.file);
    keep_text(seen->function, sizeof seen->function, event->site.function);
    pthread_mutex_unlock(&events_mutex);
}
static inline void observe_with(void (*on_event)(void *ctx, const lazy_event *event), void *ctx) {
    lazy_observer observer = LAZY_OBSERVER_INIT;
    observer.on_event = on_event;
    observer.ctx = ctx;
    CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
}
static inline void observe(void) {
    observe_with(keep_event, NULL);
}
static inline void observe_no_more(void) {
    CHECK_IS(lazy_set_observer(NULL), LAZY_OK);
}
/* How many there are while other threads may still add to them. */
static inline int events_so_far(void) {
    pthread_mutex_lock(&events_mutex);
    int count = event_count;
    pthread_mutex_unlock(&events_mutex);
    return count;
}
static inline int is_end(const seen_event *seen) {
    return seen->event.duration_ns != 0;
}
/* The first event of this kind from `*from` on, at its end or at its beginning; `*from` is then behind it. */
static inline seen_event *next_event(int *from, uint32_t kind, int end) {
    while (*from < event_count) {
        seen_event *seen = &events[(*from)++];
        if (seen->event.kind == kind && is_end(seen) == end) return seen;
    }
    return NULL;
}
static inline int count_events(uint32_t kind, int end) {
    int from = 0, count = 0;
    while (next_event(&from, kind, end)) count++;
    return count;
}
#define CHECK_EVENTS(kind, count) (CHECK_IS(count_events(kind, 0), count), CHECK_IS(count_events(kind, 1), count))

/* What this thread's events say: each end belongs to the latest beginning that is still open, and time never runs backwards. */
static inline void check_nesting_of(uint64_t thread) {
    const seen_event *open[DEEPEST_EVENT];
    int depth = 0;
    uint64_t latest = 0;
    for (int i = 0; i < event_count; i++) {
        const lazy_event *event = &events[i].event;
        if (event->thread != thread || event->kind == LAZY_EVENT_FORK) continue;
        CHECK(event->time_ns + event->duration_ns >= latest);
        latest = event->time_ns + event->duration_ns;
        if (!is_end(&events[i])) {
            CHECK(depth < DEEPEST_EVENT);
            CHECK_IS(event->status, LAZY_OK);
            open[depth++] = &events[i];
            continue;
        }
        CHECK(depth > 0);
        const seen_event *began = open[--depth];
        CHECK_IS(event->kind, began->event.kind);
        CHECK_IS(event->time_ns, began->event.time_ns);
        CHECK_IS(event->ticket, began->event.ticket);
        CHECK_IS(strcmp(events[i].once, began->once), 0);
        CHECK_IS(strcmp(events[i].file, began->file), 0);
        CHECK_IS(event->site.line, began->event.site.line);
    }
    CHECK_IS(depth, 0);
}
static inline void check_nesting(void) {
    for (int i = 0; i < event_count; i++) check_nesting_of(events[i].event.thread);
}
#endif
