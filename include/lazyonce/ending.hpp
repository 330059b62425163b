/* How a slot that is destroyed learns whether exit() does it, or the unloading of a plugin, or its scope. A part of lazyonce.hpp, which
 * includes it.
 *
 * exit() destroys what is static while other threads go on. They may use a slot and its values, and may be inside a factory for ever, so
 * such a slot is left alone. Any other one is not: what its values refer to, or their code, is gone right after it.
 *
 * - A mark among the functions that exit() calls tells the thread that runs it. exit() calls the latest first, so the mark is put on top
 *   again when a slot makes its first value: then it is called before whatever destroys a slot that was complete by then. There is one
 *   in the process, or in each object that shares no symbols, however many slots come and go.
 * - exit() also destroys the slots of a plugin, which may be unloaded after that, by a static of the program. So what was left alone is
 *   listed, and retired then. The functions of an object that have the destructor attribute run when it is unloaded, around its static
 *   destructors, and at the very end of exit(); which of the two it is, only the stack tells.
 */
#ifndef LAZYONCE_ENDING_HPP
#define LAZYONCE_ENDING_HPP

namespace lazyonce {

namespace detail {

/* Functions of the C library: one has exit() call a function, the other calls and forgets those of one tag. The object of this code. */
extern "C" int lazy_at_exit_(void (*fn)(void *), void *ctx, void *tag) noexcept LAZY_SYMBOL_("__cxa_atexit");
extern "C" void lazy_finalize_(void *tag) LAZY_SYMBOL_("__cxa_finalize");
extern "C" __attribute__((__visibility__("hidden"))) void *lazy_object_ LAZY_SYMBOL_("__dso_handle");

/* What makes the values of a slot, and what is left of one that exit() has left alone. */
struct maker {
    void (*drop)(maker *) noexcept;
    const void *object = &lazy_object_;
    bool expects_exit = false;
    lazy_slot left = LAZY_SLOT_INIT(nullptr);
    maker *next = nullptr;
};

/* The mark on its way to the top: its new tag, or NULL if it is to go for good. */
struct moving {
    void *tag;
    bool is_put;
};

/* All of it is of one object, the one whose symbols were found, which may be unloaded. */
struct exit_mark {
    void (*mark)(void *);
    const void *object;
    maker *left;
    unsigned turns;
    char tags[2];
    bool is_over;
};

extern LAZY_SHARED_ __thread bool runs_exit;
extern LAZY_SHARED_ __thread bool unloads;
extern LAZY_SHARED_ __thread moving *moves;
extern LAZY_SHARED_ exit_mark process_exit;

/* What exit() calls, and whoever moves the mark. */
static void mark_exit(void *) {
    moving *to = moves;
    if (!to) {
        runs_exit = true;
    } else if (to->tag && !to->is_put) {
        to->is_put = true;
        lazy_at_exit_(process_exit.mark, nullptr, to->tag);
    }
}

LAZY_SHARED_ __thread bool runs_exit = false;
LAZY_SHARED_ __thread bool unloads = false;
LAZY_SHARED_ __thread moving *moves = nullptr;
LAZY_SHARED_ exit_mark process_exit = {mark_exit, &lazy_object_, nullptr, 0, {0, 0}, false};

/* Before the first value of a slot: puts the mark on top. It has two tags in turn, since whatever has a tag is forgotten with it; and it is
 * put back where it is forgotten, so that an exit() meanwhile finds it. */
inline void expect_exit(maker &made_by) noexcept {
    if (__atomic_exchange_n(&made_by.expects_exit, true, __ATOMIC_RELAXED)) return;
    exit_mark &its = process_exit;
    unsigned turn = __atomic_fetch_add(&its.turns, 1, __ATOMIC_RELAXED);
    moving to = {&its.tags[turn % 2], false};
    moves = &to;
    lazy_finalize_(&its.tags[(turn + 1) % 2]);
    its.mark(nullptr);
    moves = nullptr;
}

inline void list_left(maker *first, maker *last) noexcept {
    last->next = __atomic_load_n(&process_exit.left, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&process_exit.left, &last->next, first, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

/* Leaves a slot alone if it is destroyed by exit(). */
inline bool is_left(const lazy_slot &slot, maker *made_by) noexcept {
    if (!runs_exit || unloads) return false;
    made_by->left = slot;
    list_left(made_by, made_by);
    return true;
}

/* Retires what was left alone of an object that is unloaded. The loader's lock is held, so there is one such thread at a time. */
inline void retire_left(const void *object) noexcept {
    maker *next = __atomic_exchange_n(&process_exit.left, nullptr, __ATOMIC_ACQUIRE);
    while (maker *at = next) {
        next = at->next;
        if (at->object != object)
            list_left(at, at);
        else if (lazy_slot_retire(&at->left) == LAZY_OK)
            at->drop(at);
    }
}

struct search {
    unsigned frames;
    bool is_found;
};

inline _Unwind_Reason_Code look_for_dlclose(_Unwind_Context *frame, void *ctx) {
    auto *its = static_cast<search *>(ctx);
    Dl_info function;
    bool is_known = dladdr(reinterpret_cast<void *>(_Unwind_GetIP(frame) - 1), &function) && function.dli_sname;
    its->is_found = is_known && !std::strcmp(function.dli_sname, "dlclose");
    return its->is_found || !--its->frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Is this object being unloaded? Between dlclose and its functions stand some ten frames of the loader. */
inline bool is_in_dlclose() noexcept {
    search its = {20, false};
    _Unwind_Backtrace(look_for_dlclose, &its);
    return its.is_found;
}

/* The first and the last function of an object. After exit() has come to the first, nothing is unloaded. */
__attribute__((__destructor__)) static inline void begin_unloading() {
    bool concerns_it = runs_exit || __atomic_load_n(&process_exit.left, __ATOMIC_RELAXED);
    if (!concerns_it || unloads || process_exit.is_over) return;
    unloads = is_in_dlclose();
    process_exit.is_over = !unloads;
    if (unloads) retire_left(&lazy_object_);
}
__attribute__((__destructor__(101))) static inline void end_unloading() {
    unloads = false;
    if (process_exit.object != &lazy_object_ || process_exit.is_over) return;
    moving nowhere = {nullptr, true};
    moves = &nowhere;
    for (char &tag : process_exit.tags) lazy_finalize_(&tag);
    moves = nullptr;
}

}  // namespace detail

}  // namespace lazyonce

#endif /* LAZYONCE_ENDING_HPP */
