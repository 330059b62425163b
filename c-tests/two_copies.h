/* Another copy of the library in this process, and what must hold between the two: each has its own default and named onces and
   permits, and answers LAZY_E_INVALID, naming both files, to a once that the other one owns. For C11. */
#ifndef TWO_COPIES_H
#define TWO_COPIES_H
#include "callers.h"
#include "dumped.h"
#include "forked_child.h"
#include "requests.h"
#include <dlfcn.h>
#include <fcntl.h>

/* The functions of one copy. */
typedef struct copy {
    const char *file;
    lazy_once *(*get_default)(void);
    lazy_once *(*named)(const char *);
    lazy_status (*configure)(lazy_once *, const lazy_config *);
    lazy_status (*init)(lazy_once *);
    lazy_status (*init_timeout)(lazy_once *, uint64_t);
    lazy_status (*run)(lazy_once *, lazy_fn, void *);
    lazy_status (*call)(lazy_once *, lazy_fn, void *);
    lazy_status (*submit)(lazy_once *, const lazy_request *, lazy_receipt *);
    lazy_status (*cancel)(lazy_once *, uint64_t);
    size_t (*cancel_owner)(lazy_once *, const void *);
    lazy_status (*reset)(lazy_once *);
    lazy_status (*close)(lazy_once *);
    lazy_status (*info)(const lazy_once *, lazy_info *);
    bool (*is_initialized)(const lazy_once *);
    bool (*is_initializing)(const lazy_once *);
    lazy_status (*capture)(lazy_once *, lazy_permit *);
    lazy_status (*enter)(const lazy_permit *);
    lazy_status (*leave)(const lazy_permit *);
    lazy_status (*dump)(int);
    const lazy_error *(*last_error)(void);
} copy;

static inline copy copy_in(void *handle) {
    copy c;
    Dl_info where;
#define FIND(field, name) (*(void **)&c.field = dlsym(handle, name), CHECK(c.field != NULL))
    FIND(get_default, "lazy_default"), FIND(named, "lazy_once_named"), FIND(configure, "lazy_once_configure");
    FIND(init, "lazy_once_init"), FIND(init_timeout, "lazy_once_init_timeout"), FIND(run, "lazy_once_run");
    FIND(call, "lazy_once_call"), FIND(submit, "lazy_once_submit"), FIND(cancel, "lazy_once_cancel");
    FIND(cancel_owner, "lazy_once_cancel_owner"), FIND(reset, "lazy_once_reset"), FIND(close, "lazy_once_close");
    FIND(info, "lazy_once_info"), FIND(is_initialized, "lazy_once_is_initialized");
    FIND(is_initializing, "lazy_once_is_initializing"), FIND(capture, "lazy_permit_capture");
    FIND(enter, "lazy_permit_enter"), FIND(leave, "lazy_permit_leave"), FIND(dump, "lazy_dump");
    FIND(last_error, "lazy_last_error");
#undef FIND
    CHECK(dladdr(*(void **)&c.init, &where) != 0);
    c.file = where.dli_fname;
    return c;
}
/* Loads the library once more, from a file of its own that has the same in it. */
static inline void copy_file(const char *from_path, const char *to_path) {
    char bytes[65536];
    int from = open(from_path, O_RDONLY), to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    ssize_t size;
    CHECK(from >= 0 && to >= 0);
    while ((size = read(from, bytes, sizeof bytes)) > 0) CHECK_IS(write(to, bytes, (size_t)size), size);
    close(from);
    close(to);
}
static inline void *load_copy(const char *file) {
    char folder[] = "/tmp/lazyonce-copy-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libplugins-own.so", folder);
    copy_file(file, path);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    rmdir(folder);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    return handle;
}
static int tag; /* whose request is queued */

/* Everything that `other` says to a once of `owner`'s. */
static inline void check_refuses(const copy *owner, const copy *other, lazy_once *once) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_info info = LAZY_INFO_INIT;
    lazy_permit permit;
    lazy_once before = *once;
    request.fn = never;
#define REFUSED(status) (CHECK_IS(status, LAZY_E_INVALID), CHECK_HAS(other->last_error()->message, owner->file), \
                         CHECK_HAS(other->last_error()->message, other->file))
    REFUSED(other->init(once));
    REFUSED(other->init_timeout(once, 0));
    REFUSED(other->run(once, never, NULL));
    REFUSED(other->call(once, never, NULL));
    REFUSED(other->submit(once, &request, NULL));
    REFUSED(other->cancel(once, 1));
    REFUSED(other->reset(once));
    REFUSED(other->close(once));
    REFUSED(other->info(once, &info));
    REFUSED(other->configure(once, &config));
    REFUSED(other->configure(once, NULL));
    REFUSED(other->capture(once, &permit));
    CHECK_IS(other->cancel_owner(once, &tag), SIZE_MAX); /* 0 would mean that the owner may be unloaded */
    REFUSED(other->last_error()->status);
    CHECK(!other->is_initialized(once));
    CHECK(!other->is_initializing(once));
#undef REFUSED
    CHECK(memcmp(&before, once, sizeof before) == 0);
}

static const copy *owning, *foreign;
static lazy_once shared_once;
static int owned_ran;
static int32_t seven(void *ctx) {
    (void)ctx;
    return 7;
}
static int32_t owned(void *ctx) {
    (void)ctx;
    return owned_ran++, 0;
}
static lazy_permit lent_permit;
static int32_t meets_the_other(void *ctx) {
    (void)ctx;
    CHECK_IS(owning->capture(&shared_once, &lent_permit), LAZY_OK);
    CHECK_IS(foreign->enter(&lent_permit), LAZY_E_NOT_FOUND);
    check_refuses(owning, foreign, &shared_once);
    return 0;
}
static void copy_child(void) {
    check_refuses(owning, foreign, &shared_once);
    CHECK_IS(owning->init(&shared_once), LAZY_OK);
    CHECK_IS(owned_ran, 1);
}
/* Ready is ready to everybody: the inline path reads one word. What takes more than that is refused here, too. */
static inline void check_ready(const copy *owner, const copy *other) {
    lazy_request request = LAZY_REQUEST_INIT;
    CHECK(other->is_initialized(&shared_once));
    CHECK_IS(other->call(&shared_once, nothing, NULL), LAZY_OK);
    CHECK_IS(other->call(&shared_once, seven, NULL), LAZY_E_CALLBACK);
    CHECK_IS(other->last_error()->code, 7);
    CHECK(strstr(other->last_error()->message, "owned") == NULL); /* its name is the owner's */
    request.fn = never;
    request.flags = LAZY_REQUEST_HOLD_HOST; /* the owner's host */
    CHECK_IS(other->submit(&shared_once, &request, NULL), LAZY_E_INVALID);
    CHECK_HAS(other->last_error()->message, owner->file);
    CHECK_IS(other->cancel_owner(&shared_once, &tag), SIZE_MAX);
    CHECK_IS(other->reset(&shared_once), LAZY_E_INVALID);
    CHECK_IS(other->close(&shared_once), LAZY_E_INVALID);
}
/* A once of the one in the hands of the other: queued, configured, in an attempt, drained, failed, ready, in a child, closed. */
static inline void check_owned(const copy *owner, const copy *other) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    owning = owner, foreign = other;
    owned_ran = 0;
    shared_once = (lazy_once)LAZY_ONCE_INIT;
    config.name = "owned";
    config.initialize = meets_the_other;
    request.fn = owned;
    request.owner = &tag;
    CHECK_IS(owner->call(&shared_once, meets_the_other, NULL), LAZY_QUEUED);
    CHECK_IS(owner->submit(&shared_once, &request, NULL), LAZY_QUEUED);
    check_refuses(owner, other, &shared_once);
    CHECK_IS(owner->configure(&shared_once, &config), LAZY_OK);
    check_refuses(owner, other, &shared_once);
    in_child(copy_child);
    CHECK_IS(owner->init(&shared_once), LAZY_OK);
    CHECK_IS(owned_ran, 1);
    check_ready(owner, other);
    CHECK_IS(owner->close(&shared_once), LAZY_OK);
}
static inline void check_apart(const copy *one, const copy *two) {
    lazy_once *named[2] = { one->named("cuda"), two->named("cuda") };
    CHECK(one->get_default() != two->get_default());
    CHECK(named[0] && named[1] && named[0] != named[1]);
    CHECK_IS(one->init(one->get_default()), LAZY_OK);
    CHECK(!two->is_initialized(two->get_default()));
    CHECK_IS(one->init(named[0]), LAZY_OK);
    CHECK(!two->is_initialized(named[1]));
    CHECK_IS(two->init(named[1]), LAZY_OK);
}
static inline void check_two(const copy *one, const copy *two) {
    CHECK(one->init != two->init);
    check_apart(one, two);
    check_owned(one, two);
    check_owned(two, one);
}
#endif
