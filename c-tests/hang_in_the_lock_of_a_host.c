// flags: -fexceptions
// not-under: valgrind: the program that it starts once more would be valgrind itself
// TransformerEngine's hang, as it is left where the library cannot help: an initializer that has the host's lock waits for a thread that needs
// it. Guards against a hang that is not explained: a third thread, which waits in the library, warns of the one in the host's lock, which
// cannot; dump and trace name all three.
#include "hung.h"
#include "big_lock.h"

static lazy_once once = LAZY_ONCE_INIT;
static big_lock lock;
static caller bystander, locked;
static lazy_status inits(void *arg) { return LAZY_INIT((lazy_once *)arg); }
static int32_t imports_and_joins(void *ctx) {
    int depth = big_let_go(&lock);
    begin(&bystander, inits, &once);
    until_waiting(&bystander);
    big_take_back(&lock, depth);
    tell("owner", thread_id());
    tell("bystander", atomic_load(&bystander.id));
    begin(&locked, inits, &once);
    start(tells_that_it_hangs, &locked);
    ended(&locked);
    (void)ctx;
    return 0;
}
static int work(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "engine";
    config.initialize = imports_and_joins;
    big_begin(&lock, 0, "GIL");
    config.host = &lock.host;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    return LAZY_INIT(&once) != LAZY_OK;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    static const char in_lock[] = " s for the lock of the host \"GIL\", on its way into once \"engine\" at 0x";
    pid_t child = hang();
    int owner = told("owner"), bystander_id = told("bystander"), locked_id = told("waiter");
    until_said_of(bystander_id, "has waited 0.");
    until_said_of(owner, "is initializing (attempt 1, started ");
    until_said_of(locked_id, "has waited 0.");
    until_said(in_lock);
    until_said("hang_in_the_lock_of_a_host.c:");
    ask_for_dump(child);
    until_said_of(locked_id, "has waited ");
    until_said(in_lock);
    until_said_of(bystander_id, "has waited ");
    until_said("once \"engine\" at 0x");
    until_said(": initializing for ");
    char on[64];
    snprintf(on, sizeof on, ", on thread %d, attempt 1 started at ", owner);
    until_said(on);
    until_said("(inits)\n");
    end_hang(child);
    CHECK_IS(strcmp(left_open(owner, 0)->name, "initialize once \\\"engine\\\""), 0);
    CHECK_IS(strcmp(left_open(bystander_id, 0)->cat, "wait"), 0);
    CHECK_IS(strcmp(left_open(locked_id, 0)->name, "host lock for once \\\"engine\\\""), 0);
    return finish();
}
