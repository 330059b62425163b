// A, which does not hold the host lock, initializes; its import lets the lock go in the middle, and B comes with it.
// HOST is a header with that lock: CPython's, or a mutex. GATE is lazyonce.h or a gate with the same names.
#include GATE
#include HOST
#include <thread>

static lazy_once once = LAZY_ONCE_INIT;
static flag importing, taken;
static int imported;

static int32_t import_module(void *) {
    step("A imports");
    raise_to(&importing, 1);
    import_until(&taken);
    step("A has it back");
    imported++;
    return 0;
}

static void arrive() {
    await(&importing, 1);
    const holding lock;
    ask_rarely();
    step("B holds it");
    raise_to(&taken, 1);
    CHECK(lazy_once_init(&once) == LAZY_OK);
    CHECK(is_held());
    step("B goes on");
}

// Python calls it as it calls a binding that has let the GIL go.
int main() {
    show_host();
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "extension";
    config.initialize = import_module;
    config.host = host_lock();
    CHECK(lazy_once_configure(&once, &config) == LAZY_OK);

    std::thread b(arrive);
    CHECK(lazy_once_init(&once) == LAZY_OK);
    b.join();

    CHECK(imported == 1);
    CHECK(strcmp(order, "A imports > B holds it > A has it back > B goes on") == 0);
    show("A imports > B holds it");
    show("  > A has it back > B goes on");
    return done();
}
