/** A fresh once: `static lazy_once once = LAZY_ONCE_INIT;`. It has no initializer of its own. */
#define LAZY_ONCE_INIT { 0, LAZY_ONCE_ABI, NULL, NULL, NULL }

/** A fresh once with a constant configuration: `static lazy_once once = LAZY_ONCE_WITH(&config);`. */
#define LAZY_ONCE_WITH(config) { 0, LAZY_ONCE_ABI, (config), NULL, NULL }

/** A `lazy_config` with `size` set and the rest zero: `lazy_config config = LAZY_CONFIG_INIT;`. */
#define LAZY_CONFIG_INIT { sizeof(lazy_config), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 }
/** The same for a `lazy_host`. */
#define LAZY_HOST_INIT { sizeof(lazy_host), NULL, NULL, NULL, NULL }
/** The same for a `lazy_request`. */
#define LAZY_REQUEST_INIT { sizeof(lazy_request), NULL, NULL, NULL, NULL, 0, 0, 0, { NULL, 0, NULL }, NULL }
/** The same for a `lazy_receipt`. */
#define LAZY_RECEIPT_INIT { sizeof(lazy_receipt), 0, 0 }
/** The same for a `lazy_info`. */
#define LAZY_INFO_INIT \
    { sizeof(lazy_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, { NULL, 0, NULL }, { NULL, 0, NULL }, 0 }
/** A `lazy_observer` with `size` set and the rest zero. */
#define LAZY_OBSERVER_INIT { sizeof(lazy_observer), NULL, NULL }

/** A `lazy_cuda_options` with `size` set and the rest zero. */
#define LAZY_CUDA_OPTIONS_INIT { sizeof(lazy_cuda_options), 0 }
/** A `lazy_cuda_info` with `size` set and the rest zero. */
#define LAZY_CUDA_INFO_INIT { sizeof(lazy_cuda_info), 0, 0, NULL }

/** A slot with a constant configuration: `static lazy_slot slot = LAZY_SLOT_INIT(&config);`. */
#define LAZY_SLOT_INIT(config) { LAZY_SLOT_ABI, 0, (config), NULL, NULL }
/** A `lazy_slot_config` with `size` set and the rest zero. */
#define LAZY_SLOT_CONFIG_INIT { sizeof(lazy_slot_config), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** This place in the program, as an expression of type `lazy_site`; inside a function only. */
#ifdef __cplusplus
#define LAZY_HERE (lazy_site{ __FILE__, __LINE__, __func__ })
#else
#define LAZY_HERE ((lazy_site){ __FILE__, __LINE__, __func__ })
#endif

/**
 * Makes a `lazy_fn` of a function that returns nothing: after `LAZY_VOID_FN(refresh);` at file scope,
 * `lazy_call(refresh_lazy_fn, ctx)` calls `refresh(ctx)` and counts it as a success. A cast instead would read a result
 * that was never written.
 */
#define LAZY_VOID_FN(name) \
    static int32_t name##_lazy_fn(void *ctx) { \
        name(ctx); \
        return 0; \
    } \
    struct lazy_site

#if defined(__GNUC__)

/*
 * The inline paths: one load and a compare when initialized, the library otherwise. They are laid over the prototypes
 * above as gnu_inline definitions, which never become functions of their own: the address of each is the library's.
 * For the same reason the library's function needs a second name here, or a definition would call itself.
 */
#define LAZY_INLINE_ extern inline __attribute__((__gnu_inline__, __always_inline__))

/* clang takes a plain label of the same name for a recursion and drops the definition; it reads \01 as "literally". */
#if defined(__clang__)
#define LAZY_SYMBOL_(name) __asm__("\01" name)
#else
#define LAZY_SYMBOL_(name) __asm__(name)
#endif

#if defined(__SANITIZE_THREAD__)
#define LAZY_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LAZY_TSAN_ 1
#endif
#endif

/* Programs that compile with -Wzero-as-null-pointer-constant have this code in theirs. */
#ifdef __cplusplus
#define LAZY_NULL_ nullptr
extern "C" {
#else
#define LAZY_NULL_ NULL
#endif

LAZY_API extern lazy_status lazy_once_init_exported_(lazy_once *once) LAZY_SYMBOL_("lazy_once_init");
LAZY_API extern lazy_status lazy_once_run_exported_(lazy_once *once, lazy_fn initializer, void *ctx)
    LAZY_SYMBOL_("lazy_once_run");
LAZY_API extern lazy_status lazy_once_call_exported_(lazy_once *once, lazy_fn fn, void *ctx)
    LAZY_SYMBOL_("lazy_once_call");

/* A NULL that the compiler can see goes to the library, which answers LAZY_E_INVALID; another one is not looked for. */
#ifdef __OPTIMIZE__
#define LAZY_IS_NULL_(fn) (__builtin_constant_p((fn) == NULL) && (fn) == NULL)
#else
#define LAZY_IS_NULL_(fn) ((fn) == NULL)
#endif

LAZY_INLINE_ bool lazy_once_is_initialized(const lazy_once *once) {
    return __atomic_load_n(&once->state, __ATOMIC_ACQUIRE) == LAZY_READY;
}

LAZY_INLINE_ lazy_status lazy_once_init(lazy_once *once) {
    return __builtin_expect(lazy_once_is_initialized(once), 1) ? LAZY_OK : lazy_once_init_exported_(once);
}

LAZY_INLINE_ lazy_status lazy_once_run(lazy_once *once, lazy_fn initializer, void *ctx) {
    if (LAZY_IS_NULL_(initializer) || __builtin_expect(!lazy_once_is_initialized(once), 0))
        return lazy_once_run_exported_(once, initializer, ctx);
    return LAZY_OK;
}

LAZY_INLINE_ lazy_status lazy_once_call(lazy_once *once, lazy_fn fn, void *ctx) {
    int32_t code;
    if (LAZY_IS_NULL_(fn) || __builtin_expect(!lazy_once_is_initialized(once), 0))
        return lazy_once_call_exported_(once, fn, ctx);
    code = fn(ctx);
    return __builtin_expect(code == 0, 1) ? LAZY_OK : lazy_once_callback_failed(once, code, LAZY_NULL_);
}

/* The parts of a LAZY_HERE, put together only where they are needed: as a struct they would be stored on every call. */
LAZY_INLINE_ lazy_status lazy_once_init_at_(lazy_once *once, const char *file, uint32_t line, const char *function) {
    if (__builtin_expect(!lazy_once_is_initialized(once), 0)) {
        lazy_site site;
        site.file = file;
        site.line = line;
        site.function = function;
        return lazy_once_init_slow(once, &site);
    }
    return LAZY_OK;
}

LAZY_INLINE_ lazy_status lazy_once_submit_at_(lazy_once *once, lazy_fn fn, void *ctx, uint32_t flags,
                                              const char *file, uint32_t line, const char *function) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.ctx = ctx;
    request.flags = flags;
    request.site.file = file;
    request.site.line = line;
    request.site.function = function;
    return lazy_once_submit(once, &request, LAZY_NULL_);
}

LAZY_INLINE_ lazy_status lazy_once_call_at_(lazy_once *once, lazy_fn fn, void *ctx,
                                            const char *file, uint32_t line, const char *function) {
    lazy_site site;
    int32_t code;
    if (LAZY_IS_NULL_(fn) || __builtin_expect(!lazy_once_is_initialized(once), 0))
        return lazy_once_submit_at_(once, fn, ctx, 0, file, line, function);
    code = fn(ctx);
    if (__builtin_expect(code == 0, 1)) return LAZY_OK;
    site.file = file;
    site.line = line;
    site.function = function;
    return lazy_once_callback_failed(once, code, &site);
}

#ifdef LAZY_TSAN_
/*
 * ThreadSanitizer sees the acquire only where the load is compiled with it, so the three short names take the inline paths as well.
 * The library itself tells the sanitizer the rest.
 */
LAZY_INLINE_ bool lazy_is_initialized(void) { return lazy_once_is_initialized(lazy_default()); }
LAZY_INLINE_ lazy_status lazy_init(void) { return lazy_once_init(lazy_default()); }
LAZY_INLINE_ lazy_status lazy_call(lazy_fn fn, void *ctx) { return lazy_once_call(lazy_default(), fn, ctx); }
#endif

#ifdef __cplusplus
}
#endif

/** `lazy_once_init(once)` that also records this place in the program, for errors. An expression. */
#define LAZY_INIT(once) lazy_once_init_at_((once), __FILE__, __LINE__, __func__)

/** `lazy_once_call(once, fn, ctx)` that also records this place in the program, for errors. An expression. */
#define LAZY_CALL(once, fn, ctx) lazy_once_call_at_((once), (fn), (ctx), __FILE__, __LINE__, __func__)

/** `LAZY_CALL` with `LAZY_REQUEST_HOLD_HOST`: `fn` holds the host lock whenever it runs. An expression. */
#define LAZY_CALL_HELD(once, fn, ctx) \
    lazy_once_submit_at_((once), (fn), (ctx), LAZY_REQUEST_HOLD_HOST, __FILE__, __LINE__, __func__)

#else

#define LAZY_INIT(once) lazy_once_init((once))
#define LAZY_CALL(once, fn, ctx) lazy_once_call((once), (fn), (ctx))

#endif

/**
 * The short name of `lazy_is_initialized`. It is the header's own and binds to no symbol, so a function of that name in
 * somebody else's library is never called by mistake. A file with its own `is_initialized` defines
 * `LAZY_NO_SHORT_NAMES` before it includes this header; and it links the shared library, because the static one brings the
 * symbol that dlsym users ask for.
 */
#ifndef LAZY_NO_SHORT_NAMES
static inline bool is_initialized(void) { /* yours? define LAZY_NO_SHORT_NAMES before the include */
    return lazy_is_initialized();
}
#endif
