/* A thread calls just when the drain ends. Its call must run, whichever side of the end it meets.
   GATE is lazyonce.h or a hand-written gate with the same names. */
#include GATE
#include <pthread.h>
#include <time.h>
#include "demo.h"

enum { FORCED = 1000, RACING = 20000, ROUNDS = FORCED + RACING };

static lazy_once onces[ROUNDS]; /* zero is a fresh once */
static flag opened, returned;
static int round_now, windows, ran, forcing = 1;

static int32_t start_device(void *ctx) { (void)ctx; return 0; }
static int32_t count(void *ctx) { (void)ctx; __atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED); return 0; }
static int32_t last_of_the_drain(void *ctx) { (void)ctx; raise_to(&opened, round_now); return 0; }

/* Called by a gate that has a moment between its drain and its flag: puts the other thread's call there. */
__attribute__((unused)) static void between_drain_and_flag(void) {
    if (!forcing) return;
    windows++;
    await(&returned, round_now);
}

static void *caller(void *ctx) {
    (void)ctx;
    for (int round = 1; round <= ROUNDS; round++) {
        await(&opened, round);
        CHECK(lazy_once_call(&onces[round - 1], count, 0) >= 0);
        raise_to(&returned, round);
    }
    return 0;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Returns how many calls of these rounds were lost. A busy machine gets fewer rounds, and `to` says how many. */
static int play(int from, int *to) {
    const double limit = seconds() + 1.5;
    const int before = ran;
    for (round_now = from + 1; round_now <= *to; round_now++) {
        lazy_once *once = &onces[round_now - 1];
        CHECK(lazy_once_call(once, last_of_the_drain, 0) == LAZY_QUEUED);
        CHECK(lazy_once_run(once, start_device, 0) == LAZY_OK);
        await(&returned, round_now);
        if (seconds() > limit) *to = round_now;
    }
    return *to - from - (ran - before);
}

int main(void) {
    pthread_t thread;
    int forced = FORCED;
    CHECK(pthread_create(&thread, 0, caller, 0) == 0);
    int lost_forced = play(0, &forced);
    forcing = 0;
    int racing = forced + RACING;
    int lost_racing = play(forced, &racing);
    if (windows) {
        show("LOST %d of %d", lost_forced, forced);
        show("  (order forced)");
    }
    show("%s %d of %d, racing", lost_racing ? "LOST" : "lost", lost_racing, racing - forced);
    CHECK(lost_forced == 0 && lost_racing == 0);
    return done();
}
