// Guards against values that are lost, or another thread's, where the library is loaded late: threads that were there before have none of
// its storage yet. Once with the room that glibc keeps for such libraries, which makes look-ups quick, and once without.
#include "two_copies.h"

typedef struct slots {
    lazy_status (*get)(lazy_slot *, uint32_t, void **);
    bool (*has)(const lazy_slot *, uint32_t);
    lazy_status (*retire)(lazy_slot *);
} slots;
enum { THREADS = 4, INDICES = 3 };
static slots late;
static atomic_int made, destroyed;
static gate loaded = GATE_INIT;
static pthread_barrier_t all;

static int32_t make(void *ctx, uint32_t index, void **value) {
    (void)ctx;
    uint32_t *own = (uint32_t *)malloc(sizeof *own);
    CHECK(own != NULL);
    *own = index;
    *value = own;
    atomic_fetch_add(&made, 1);
    return 0;
}
static void end(void *ctx, uint32_t index, void *value) {
    (void)ctx;
    CHECK_IS(*(uint32_t *)value, index);
    atomic_fetch_add(&destroyed, 1);
    free(value);
}
static const lazy_slot_config config = { sizeof(lazy_slot_config), "late", NULL, make, end, NULL, NULL, LAZY_SLOT_THREAD, LAZY_FORK_KEEP };
static lazy_slot slot = LAZY_SLOT_INIT(&config);

static void *uses(void *found) {
    void **values = (void **)found;
    gate_wait(&loaded);
    for (uint32_t i = 0; i < INDICES; i++) {
        CHECK(!late.has(&slot, i));
        CHECK_IS(late.get(&slot, i, &values[i]), LAZY_OK);
    }
    pthread_barrier_wait(&all); /* everybody has values */
    for (int round = 0; round < 1000; round++)
        for (uint32_t i = 0; i < INDICES; i++) {
            void *again = NULL;
            CHECK_IS(late.get(&slot, i, &again), LAZY_OK);
            CHECK(again == values[i]);
        }
    pthread_barrier_wait(&all);
    return NULL;
}
static void use_late_library(void) {
    void *values[2 * THREADS][INDICES];
    pthread_t threads[2 * THREADS];
    CHECK_IS(pthread_barrier_init(&all, NULL, 2 * THREADS), 0);
    for (int i = 0; i < THREADS; i++) threads[i] = start(uses, values[i]);
    void *handle = load_copy(copy_in(RTLD_DEFAULT).file);
    *(void **)&late.get = dlsym(handle, "lazy_slot_get");
    *(void **)&late.has = dlsym(handle, "lazy_slot_has");
    *(void **)&late.retire = dlsym(handle, "lazy_slot_retire");
    CHECK(late.get && late.has && late.retire && late.get != lazy_slot_get);
    for (int i = THREADS; i < 2 * THREADS; i++) threads[i] = start(uses, values[i]);
    gate_open(&loaded);
    for (int i = 0; i < 2 * THREADS; i++) join(threads[i]);
    for (int i = 0; i < 2 * THREADS; i++)
        for (int j = 0; j < i; j++) CHECK(values[i][0] != values[j][0]);
    CHECK_IS(atomic_load(&made), 2 * THREADS * INDICES);
    CHECK_IS(atomic_load(&destroyed), 2 * THREADS * INDICES);
    CHECK_IS(late.retire(&slot), LAZY_OK);
}
static char **arguments;
static void without_room(void) {
    CHECK_IS(setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0", 1), 0);
    execv(arguments[0], arguments);
    CHECK(!"the program starts again");
}

int main(int argc, char **argv) {
    CHECK_IS(argc, 1);
    arguments = argv;
    if (!getenv("GLIBC_TUNABLES")) in_child(without_room);
    use_late_library();
    return finish();
}
