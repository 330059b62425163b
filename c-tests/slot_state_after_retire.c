// Guards against a copy that outlives its slot's code: retire destroys the copies in captured states too, whether somebody is
// inside or not, before it returns; then get inside the state is LAZY_E_CLOSED, other slots of the state are still found, and
// free destroys only those.
#include "slots.h"

static const lazy_slot_config configs[2] = { SHARED_ITEMS("going"), SHARED_ITEMS("staying") };
static lazy_slot going = LAZY_SLOT_INIT(&configs[0]), staying = LAZY_SLOT_INIT(&configs[1]);
static lazy_thread_state *entered, *idle;
static item *stays;
static pthread_barrier_t inside, retired;

static void *is_inside(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(entered), LAZY_OK);
    get_present(&going, 0);
    pthread_barrier_wait(&inside);
    pthread_barrier_wait(&retired);
    CHECK(!lazy_slot_has(&going, 0));
    check_get(&going, 0, LAZY_E_CLOSED);
    CHECK_IS(lazy_slot_set(&going, 0, stays), LAZY_E_CLOSED);
    CHECK(get_present(&staying, 0) == stays);
    return ctx;
}

int main(void) {
    pthread_barrier_init(&inside, NULL, 2);
    pthread_barrier_init(&retired, NULL, 2);
    item *goes = get_new(&going, 0);
    stays = get_new(&staying, 0);
    CHECK_IS(lazy_thread_state_capture(&entered), LAZY_OK);
    CHECK_IS(lazy_thread_state_capture(&idle), LAZY_OK);
    CHECK_IS(COUNT(copied), 4);
    pthread_t thread = start(is_inside, NULL);
    pthread_barrier_wait(&inside);
    CHECK_IS(lazy_slot_retire(&going), LAZY_OK);
    CHECK_IS(COUNT(goes->references), 0);
    CHECK_IS(COUNT(destroyed), 3);
    pthread_barrier_wait(&retired);
    join(thread);
    CHECK_IS(COUNT(destroyed), 3);
    CHECK_IS(lazy_thread_state_enter(idle), LAZY_OK);
    check_get(&going, 0, LAZY_E_CLOSED);
    CHECK_IS(lazy_thread_state_leave(idle), LAZY_OK);
    lazy_thread_state_free(entered);
    lazy_thread_state_free(idle);
    CHECK_IS(COUNT(stays->references), 1);
    CHECK_IS(COUNT(goes->references), 0);
    CHECK_IS(lazy_slot_retire(&staying), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
