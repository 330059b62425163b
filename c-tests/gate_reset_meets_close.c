// Guards against a waiting reset that revives a once which was closed meanwhile, or that sleeps on: it gets
// LAZY_E_CLOSED.
#include "callers.h"

int main(void) {
    for (int code = 0; code < 2; code++) {
        hold stay = HOLD_INIT;
        lazy_once once = LAZY_ONCE_INIT;
        lazy_config config = LAZY_CONFIG_INIT;
        caller owner, resetters[8];
        config.name = "closed under a reset";
        config.initialize = held;
        config.ctx = &stay;
        atomic_store(&stay.code, code);
        CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
        begin(&owner, in_init, &once);
        gate_wait(&stay.inside);
        for (int i = 0; i < 8; i++) begin(&resetters[i], in_reset, &once);
        for (int i = 0; i < 8; i++) until_waiting(&resetters[i]);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        gate_open(&stay.go);
        CHECK_IS(ended(&owner), LAZY_E_CLOSED);
        for (int i = 0; i < 8; i++) CHECK_IS(ended(&resetters[i]), LAZY_E_CLOSED);
        CHECK_IS(info_of(&once).phase, LAZY_CLOSED);
        CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED);
    }
    return finish();
}
