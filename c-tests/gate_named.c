// Guards against two frameworks that do not meet under one name, or meet under two: the same text, wherever it lies,
// gives the same once, another text another one, NULL none; the name is the library's own copy and is what info shows,
// whatever a configuration calls itself.
#include "callers.h"

int main(void) {
    CHECK(lazy_once_named(NULL) == NULL);
    char name[32] = "gate_named backend";
    lazy_once *once = lazy_once_named(name);
    CHECK(once != NULL);
    CHECK_IS(info_of(once).phase, LAZY_FRESH);
    CHECK(!strcmp(info_of(once).name, "gate_named backend"));
    memset(name, 'x', sizeof name - 1); /* it was copied */
    CHECK(!strcmp(info_of(once).name, "gate_named backend"));
    CHECK(lazy_once_named("gate_named backend") == once);
    CHECK(lazy_once_named("gate_named backend ") != once);
    CHECK(lazy_once_named("gate_named backen") != once);
    CHECK(lazy_once_named("Gate_named backend") != once);
    CHECK(once != lazy_default());

    /* Long names, of which one begins the other, and bytes that are no text. */
    static char longer[5001], shorter[5000];
    memset(longer, 'n', 5000);
    memset(shorter, 'n', 4999);
    CHECK(lazy_once_named(longer) != lazy_once_named(shorter));
    CHECK(lazy_once_named(longer) == lazy_once_named(longer));
    CHECK(!strcmp(info_of(lazy_once_named(longer)).name, longer));
    CHECK(lazy_once_named("\xff\xfe") != lazy_once_named("\xff\xfd"));
    CHECK(!strcmp(info_of(lazy_once_named("\xff\xfe")).name, "\xff\xfe"));

    atomic_int initialized = 0, ran = 0;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "what the framework calls it";
    config.initialize = count;
    config.ctx = &initialized;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    CHECK(!strcmp(info_of(once).name, "gate_named backend"));
    CHECK_IS(lazy_once_call(lazy_once_named("gate_named backend"), count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK(lazy_once_is_initialized(lazy_once_named("gate_named backend")));
    CHECK(!strcmp(info_of(once).name, "gate_named backend"));
    lazy_once *unconfigured = lazy_once_named("gate_named, never configured");
    CHECK_IS(lazy_once_init(unconfigured), LAZY_OK);
    CHECK(!strcmp(info_of(unconfigured).name, "gate_named, never configured"));
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    return finish();
}
