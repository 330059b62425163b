/* What the programs about requests share: a trail of letters that tells the order in which things ran, jobs that count what
   became of them, and places where a request stops until the program lets it go on. For C11 and C++17. */
#ifndef REQUESTS_H
#define REQUESTS_H
#include "check.h"

#define COUNT(counter) __atomic_load_n(&(counter), __ATOMIC_SEQ_CST)
#define ADD(counter, amount) __atomic_fetch_add(&(counter), (amount), __ATOMIC_SEQ_CST)
#define SET(counter, value) __atomic_store_n(&(counter), (value), __ATOMIC_SEQ_CST)
#define CHECK_TRAIL(wanted) check_trail(__FILE__, __LINE__, wanted)

static char trail[256];
static int trail_length;

static inline void note(char letter) {
    int at = ADD(trail_length, 1);
    CHECK(at + 1 < (int)sizeof trail);
    SET(trail[at], letter);
}
/* Compares with what was noted since the last look. */
static inline void check_trail(const char *file, int line, const char *wanted) {
    if (strcmp(trail, wanted)) check_fail(file, line, "the trail", trail, wanted);
    memset(trail, 0, sizeof trail);
    SET(trail_length, 0);
}

/* `failures`: how often it fails, with code 7, before it succeeds. The rest counts. */
typedef struct job { char letter; int failures, ran, dropped, described; } job;
static inline int32_t run_job(void *ctx) {
    job *j = (job *)ctx;
    if (j->letter) note(j->letter);
    ADD(j->ran, 1);
    if (COUNT(j->failures) <= 0) return 0;
    ADD(j->failures, -1);
    return lazy_fail(7, "the job had no luck");
}
static inline void drop_job(void *ctx) {
    ADD(((job *)ctx)->dropped, 1);
}
static inline void describe_job(void *ctx, char *buffer, size_t capacity) {
    ADD(((job *)ctx)->described, 1);
    snprintf(buffer, capacity, "job %c", ((job *)ctx)->letter);
}
static inline lazy_request request_for(job *j) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run_job;
    request.ctx = j;
    request.drop = drop_job;
    request.describe = describe_job;
    return request;
}
/* Submits what must be queued, and gives its ticket. */
static inline uint64_t queue_request(lazy_once *once, lazy_request request) {
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(receipt.outcome, LAZY_OUTCOME_QUEUED);
    CHECK(receipt.ticket != 0);
    return receipt.ticket;
}
static inline uint64_t queue_job(lazy_once *once, job *j) {
    return queue_request(once, request_for(j));
}
static inline uint64_t queued_in(const lazy_once *once) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(once, &info), LAZY_OK);
    return info.queued;
}
#define CHECK_JOB(job, runs, drops) (CHECK_IS(COUNT((job).ran), runs), CHECK_IS(COUNT((job).dropped), drops))

/* A callback stays here until `go_on` opens. */
typedef struct stop { gate reached, go_on; int result; } stop;
#define STOP_INIT { GATE_INIT, GATE_INIT, 0 }
static inline int32_t run_stop(void *ctx) {
    stop *s = (stop *)ctx;
    gate_open(&s->reached);
    gate_wait(&s->go_on);
    return s->result;
}
static inline void queue_stop(lazy_once *once, stop *s, int32_t phase, uint32_t flags) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run_stop;
    request.ctx = s;
    request.phase = phase;
    request.flags = flags;
    queue_request(once, request);
}

/* Bodies of threads. */
static inline void *initializes(void *once) {
    CHECK_IS(lazy_once_init((lazy_once *)once), LAZY_OK);
    return NULL;
}
static inline void *fails_deferred(void *once) {
    CHECK_IS(lazy_once_init((lazy_once *)once), LAZY_E_DEFERRED);
    return NULL;
}
#endif
