// Guards against a lock shared between onces that is held while user code runs or somebody waits: one thread each sits
// in can_init, prepare, an initializer, a request, a drop, a describe and a callback on a ready once, others wait for
// them; and everything else can be done with other onces, and with those same ones whatever does not wait.
#include "callers.h"
#include "dumped.h"

enum { CAN_INIT, PREPARE, INITIALIZE, REQUEST, DROP, DESCRIBE, READY_CALLBACK, PLACES };
static hold places[PLACES] = { HOLD_INIT, HOLD_INIT, HOLD_INIT, HOLD_INIT, HOLD_INIT, HOLD_INIT, HOLD_INIT };
static lazy_once onces[PLACES];
static caller owners[PLACES], waiters[PLACES];

static int32_t fails(void *ctx) {
    (void)ctx;
    return 1;
}
static void drop(void *ctx) { held(ctx); }
static void describe(void *ctx, char *buffer, size_t capacity) {
    held(ctx);
    snprintf(buffer, capacity, "described at length");
}
static lazy_status calls(void *ctx) { return lazy_once_call(&onces[READY_CALLBACK], held, ctx); }

static void occupy(int place) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    char name[24];
    snprintf(name, sizeof name, "place %d", place);
    config.name = name;
    config.ctx = &places[place];
    config.can_init = place == CAN_INIT ? held : NULL;
    config.prepare = place == PREPARE ? held : NULL;
    config.initialize = place == INITIALIZE ? held : NULL;
    CHECK_IS(lazy_once_configure(&onces[place], &config), LAZY_OK);
    request.ctx = &places[place];
    request.fn = place == REQUEST ? held : place == DESCRIBE ? fails : nothing;
    request.drop = place == DROP ? drop : NULL;
    request.describe = place == DESCRIBE ? describe : NULL;
    if (place >= REQUEST && place <= DESCRIBE) CHECK_IS(lazy_once_submit(&onces[place], &request, NULL), LAZY_QUEUED);
    if (place == READY_CALLBACK) CHECK_IS(lazy_once_init(&onces[place]), LAZY_OK);
    if (place == READY_CALLBACK) begin(&owners[place], calls, &places[place]);
    else begin(&owners[place], in_init, &onces[place]);
    gate_wait(&places[place].inside);
    if (place >= INITIALIZE && place <= DROP) {
        begin(&waiters[place], in_init, &onces[place]);
        until_waiting(&waiters[place]);
    }
}
static void use_everything(lazy_once *once) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    config.name = "undelayed";
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    request.fn = nothing;
    request.owner = once;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(lazy_once_cancel(once, receipt.ticket), LAZY_OK);
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(lazy_once_cancel_owner(once, once), 1);
    CHECK_IS(lazy_once_run(once, fails, NULL), LAZY_E_INIT);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(lazy_once_call(once, fails, NULL), LAZY_E_CALLBACK);
    CHECK_IS(lazy_once_configure(once, NULL), LAZY_OK);
}
static lazy_status uses_its_own(void *ctx) {
    lazy_once *once = (lazy_once *)ctx;
    use_everything(once);
    return lazy_once_close(once);
}

int main(void) {
    static lazy_once own = LAZY_ONCE_INIT, here = LAZY_ONCE_INIT;
    caller other;
    for (int place = 0; place < PLACES; place++) occupy(place);
    begin(&other, uses_its_own, &own);
    use_everything(&here);
    use_everything(lazy_once_named("made beside seven others"));
    use_everything(lazy_default());
    CHECK_IS(lazy_once_close(&here), LAZY_OK);
    CHECK_IS(ended(&other), LAZY_OK);
    char *text = dumped();
    for (int place = 0; place < PLACES; place++) {
        char name[24];
        snprintf(name, sizeof name, "place %d", place);
        CHECK_HAS(text, name);
        lazy_info info = info_of(&onces[place]);
        CHECK(!strcmp(info.name, name));
        if (place >= INITIALIZE && place <= DESCRIBE) CHECK_IS(info.owner_thread, atomic_load(&owners[place].id));
        CHECK_IS(lazy_once_init_timeout(&onces[INITIALIZE], 0), LAZY_E_TIMEOUT);
        CHECK_IS(lazy_once_cancel(&onces[place], 999999), LAZY_E_NOT_FOUND);
    }
    free(text);
    for (int place = 0; place < PLACES; place++) {
        gate_open(&places[place].go);
        CHECK_IS(ended(&owners[place]), place == DESCRIBE ? LAZY_E_DEFERRED : LAZY_OK);
        if (place >= INITIALIZE && place <= DROP) CHECK_IS(ended(&waiters[place]), LAZY_OK);
    }
    return finish();
}
