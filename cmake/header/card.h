/* lazyonce: starts something expensive once, when it is first needed, and runs what had to wait for it.
 *
 * 1. The card
 * ===========
 *
 *     lazy_status lazy_init(void);                        start it now, unless it is started
 *     lazy_status lazy_call(lazy_fn fn, void *ctx);       run fn(ctx) when it is started: now, or as soon as it is
 *     bool        is_initialized(void);                   is it started, and has everything that waited run?
 *
 *     typedef int32_t (*lazy_fn)(void *ctx);              0 is success, anything else a failure code
 *
 *     LAZY_OK           0    done: started, or the callback ran and succeeded
 *     LAZY_QUEUED       1    the callback waits; it runs when somebody calls lazy_init
 *     LAZY_IN_PROGRESS  2    you are inside the start that you asked for; it is not done again
 *     LAZY_E_INIT      -3    the initializer failed; call again to try again
 *     LAZY_E_DEFERRED  -4    a queued callback failed; the next lazy_init goes on from there
 *     LAZY_E_CALLBACK  -5    your callback ran now and failed
 *
 * Every failure is negative, and lazy_last_error()->message says what happened in a sentence. Callbacks may call all
 * of this again, from any depth: lazy_call inside a queued callback runs at once, lazy_init returns LAZY_IN_PROGRESS.
 *
 *     #include <lazyonce.h>
 *     #include <stdio.h>
 *     static int32_t start(void *ctx) { (void)ctx; return puts("driver started") < 0; }
 *     static int32_t seed(void *ctx) { return printf("seed %d\n", *(int *)ctx) < 0; }
 *     int main(void) {
 *         int first = 1, second = 2;
 *         lazy_config config = LAZY_CONFIG_INIT;
 *         config.initialize = start;
 *         if (lazy_once_configure(lazy_default(), &config) < 0 || lazy_call(seed, &first) < 0) return 1;
 *         if (lazy_init() < 0) { puts(lazy_last_error()->message); return 1; }
 *         return lazy_call(seed, &second) < 0;
 *     }
 *
 * It prints "driver started", "seed 1", "seed 2". Build it with: cc program.c -llazyonce;
 * where it is not installed, with -I, -L and -Wl,-rpath for its folders.
 *
 * Everything above is enough for most programs. What follows says it exactly, and adds onces of one's own: a library
 * keeps a `static lazy_once` and leaves the default to the application.
 */
