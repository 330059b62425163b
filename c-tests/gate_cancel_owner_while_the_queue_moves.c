// Guards against requests that cancel_owner overlooks because the queue moves under it: each `drop` that it calls withdraws
// others' requests, which stood before or behind, and queues new ones in earlier and later phases. Everything of the owner is
// withdrawn and counted all the same, and of the others nothing.
#include "requests.h"

enum { most = 12 };
static lazy_once *once;
static char owner;
static job owned[most], strangers[most], late[most];
static uint64_t tickets[most];
static int drops, cancelled, in_queue;
static uint64_t seed = 88172645463325252u;

static int draw(int below) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)below);
}
static uint64_t add(job *j, const void *whose, int32_t phase, void (*drop)(void *)) {
    lazy_request request = request_for(j);
    request.owner = whose;
    request.phase = phase;
    request.drop = drop;
    return queue_request(once, request);
}
static void moves_the_queue(void *ctx) {
    int call = drops++;
    drop_job(ctx);
    for (int more = draw(4); more > 0 && cancelled < in_queue; more--)
        CHECK_IS(lazy_once_cancel(once, tickets[cancelled++]), LAZY_OK);
    if (draw(3) == 0) add(&late[call], NULL, draw(5) - 2, drop_job);
}
static void check_round(void) {
    lazy_once storage = LAZY_ONCE_INIT;
    int owned_in_queue = 0, phases = 1 + draw(2);
    once = &storage;
    drops = cancelled = in_queue = 0;
    memset(owned, 0, sizeof owned);
    memset(strangers, 0, sizeof strangers);
    memset(late, 0, sizeof late);
    for (int i = draw(2 * most); i >= 0; i--) {
        if (draw(2) && in_queue < most) {
            tickets[in_queue] = add(&strangers[in_queue], &strangers, draw(phases), drop_job);
            in_queue++;
        } else if (owned_in_queue < most) {
            add(&owned[owned_in_queue++], &owner, draw(phases), moves_the_queue);
        }
    }
    CHECK_IS(lazy_once_cancel_owner(once, &owner), owned_in_queue);
    for (int i = 0; i < owned_in_queue; i++) CHECK_JOB(owned[i], 0, 1);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    for (int i = 0; i < owned_in_queue; i++) CHECK_JOB(owned[i], 0, 1);
    for (int i = 0; i < in_queue; i++) CHECK_JOB(strangers[i], i >= cancelled, 1);
    for (int i = 0; i < drops; i++) CHECK_IS(late[i].ran, late[i].dropped);
}

int main(void) {
    for (long round = rounds(5000); round > 0; round--) check_round();
    return finish();
}
