/* State that every thread has, or every device, as a class; and a thread's state lent to others. A part of lazyonce.hpp, which
 * includes it.
 *
 *     static lazyonce::slot<cache> caches([](uint32_t device) { return cache(device); }, {LAZY_SLOT_THREAD, nullptr, true});
 *     void parent() {
 *         caches.get(0).add(1);                                       // this thread's, made now
 *         auto state = lazyonce::thread_state::capture();
 *         std::thread worker([&state] {
 *             lazyonce::thread_state::scope in(state);
 *             caches.get(0).add(2);                                   // the parent's, until the scope ends
 *         });
 *         worker.join();
 *     }
 */
#ifndef LAZYONCE_SLOT_HPP
#define LAZYONCE_SLOT_HPP

namespace lazyonce {

/** What can be said about a slot, as in `lazy_slot_config`. */
struct slot_options {
    /** LAZY_SLOT_THREAD: a value for each thread and index. LAZY_SLOT_PROCESS: one for each index. */
    std::uint32_t scope = LAZY_SLOT_THREAD;
    /** The host lock that making and destroying a value holds; none for NULL. Kept by pointer. */
    const lazy_host *host = nullptr;
    /**
     * Whether `thread_state::capture` takes this thread's values along. A snapshot then holds the object itself, not a copy: it is
     * destroyed when its own thread has ended and every snapshot that has it is gone. Threads that share it use it at the same time.
     */
    bool share = false;
    /** Names the slot in messages; must stay valid until the first use. */
    const char *name = nullptr;
    /** What a forked child finds: LAZY_FORK_KEEP, LAZY_FORK_POISON or LAZY_FORK_RESET. */
    std::uint32_t on_fork = LAZY_FORK_KEEP;
};

namespace detail {
inline namespace LAZY_MODE_ {

#if LAZY_EXCEPTIONS_
template <class T> using got = T &;
#else
template <class T> using got = T *;
#endif

/* A value, and how many hold it: its thread or the process, and each snapshot that has it. */
template <class T> struct held {
    template <class F> held(F &f, std::uint32_t index) : value(static_cast<T>(f(index))) {}

    static void destroy(void *, std::uint32_t, void *value) noexcept {
        auto *self = static_cast<held *>(value);
        if (self->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
    }
    static void *share(void *, void *value) noexcept {
        static_cast<held *>(value)->holders.fetch_add(1, std::memory_order_relaxed);
        return value;
    }

    T value;
    std::atomic<std::size_t> holders{1};
};

/* Makes the values of a slot. A `maker` is the context of its callbacks. */
template <class T, class F> struct factory : maker {
    F f;

    explicit factory(F given) : maker{drop_it}, f(std::move(given)) {}
    static std::int32_t create(void *ctx, std::uint32_t index, void **value) {
        auto *self = static_cast<factory *>(static_cast<maker *>(ctx));
        expect_exit(*self);
        auto body = [&] {
            auto *made = new (std::nothrow) held<T>(self->f, index);
            *value = made;
            return made ? 0 : lazy_fail(LAZY_E_NOMEM, "no memory for the value");
        };
        return guarded(body, [&](auto thrown) { collect(ctx, index, std::move(thrown)); });
    }
    static void drop_it(maker *self) noexcept { delete static_cast<factory *>(self); }
};

template <class T> got<T> get(lazy_slot *slot, const void *ctx, std::uint32_t index) {
    void *value = nullptr;
#if LAZY_EXCEPTIONS_
    collector call(ctx, index);
    status result = lazy_slot_get(slot, index, &value);
    if (__builtin_expect(result < 0, 0)) {
        if (call.thrown) std::rethrow_exception(std::move(call.thrown));
        raise(result);
    }
    return static_cast<held<T> *>(value)->value;
#else
    static_cast<void>(ctx);
    return lazy_slot_get(slot, index, &value) < 0 ? nullptr : &static_cast<held<T> *>(value)->value;
#endif
}

}  // namespace LAZY_MODE_
}  // namespace detail

/**
 * A value of each thread at each index, such as a device ordinal, or of the process at each index; made when it is first asked for, and
 * destroyed at the end of its thread or with the slot.
 *
 * `T` need be neither movable nor copyable. As a local variable, a member or a static of a program or plugin; not copied or moved.
 */
template <class T> class slot {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "slot: T is an object type");

public:
    /**
     * Its values are what `f(index)` returns, which runs as said at `get`, on several threads at a time: for different threads, or
     * different indices. `f` is kept on the heap and may be move-only. Makes no value. Throws an `error` with LAZY_E_NOMEM; without
     * exceptions such a slot has no factory, and `get` fails with LAZY_E_NOT_FOUND.
     */
    template <class F> LAZY_MEMBER_ explicit slot(F f, const slot_options &how = {});
    slot(const slot &) = delete;
    slot &operator=(const slot &) = delete;

    /**
     * `lazy_slot_retire`: destroys every value, whoever holds it, on this thread, and waits for factories and destructors that run on
     * other threads. No thread may still use the slot or a value. Where retiring fails or this is inside one of the slot's own callbacks,
     * `f` is leaked and the values are destroyed as their threads end; then a plugin must not be unloaded.
     *
     * A slot that is destroyed by exit() is left as it is, since other threads go on meanwhile: nothing is destroyed or waited for, and
     * they may use it to the end. That takes a slot that was complete, as a static or within one, before its first value was made, and
     * before exit() began. Every other one is retired beside exit(), too: on another thread, in an exit handler, or of a plugin that is
     * unloaded, be it after exit() has destroyed its slots.
     */
    LAZY_MEMBER_ ~slot();

    /**
     * `lazy_slot_get`: the value at `index`: of the innermost snapshot that this thread has entered and that has one, of this thread or the
     * process, or made now. Valid until its thread ends, the snapshot is freed, or the slot is destroyed.
     *
     * Throws what `f` throws, as itself, in the thread that ran it; an `error` with LAZY_E_CALLBACK in those that waited for it, and where
     * the slot belongs to another plugin, whose weak symbols are its own; LAZY_E_DEADLOCK inside the making of that very value, or where
     * waiting would never end; any other as `lazy_slot_get`. Nothing is kept then, and the next call tries again.
     * Without exceptions it returns a `T *`: NULL on failure, and `lazy_last_error()` tells which.
     * Blocks for `f`, here or, for a value of the process, in another thread. A value that is there: a look-up without a lock.
     */
    LAZY_MEMBER_ detail::got<T> get(std::uint32_t index = 0) { return detail::get<T>(&slot_, config_.ctx, index); }

    /** `lazy_slot_has`: would `get` find a value without making one? Never blocks, never throws. */
    LAZY_MEMBER_ bool has(std::uint32_t index = 0) const noexcept { return lazy_slot_has(&slot_, index); }

private:
    detail::maker *maker_;
    lazy_slot_config config_;
    lazy_slot slot_;
    bool is_late_ = detail::runs_exit; /* made by exit(), such as in one of its handlers, and gone before that is over */
};

/** What `thread_state::capture` took of a thread, for others. Move-only; one that was moved from is empty. */
class thread_state {
public:
    class scope;

    /**
     * `lazy_thread_state_capture`: this thread's values of every slot that is shared. Throws an `error` as that says; what the `share` of a
     * slot in C throws comes through the library. Without exceptions the result is empty then, and `lazy_last_error()` tells why.
     */
    LAZY_MEMBER_ static thread_state capture() {
        lazy_thread_state *captured = nullptr;
        detail::checked(lazy_thread_state_capture(&captured));
        return thread_state(captured);
    }
    thread_state(const thread_state &) = delete;
    thread_state &operator=(const thread_state &) = delete;
    /** Leaves `other` empty. */
    LAZY_MEMBER_ thread_state(thread_state &&other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    /** Leaves `other` empty, and gives up what this one had. */
    LAZY_MEMBER_ thread_state &operator=(thread_state &&other) noexcept {
        thread_state former(std::move(other));
        std::swap(state_, former.state_);
        return *this;
    }
    /** `lazy_thread_state_free`: threads that are inside keep what they have; the last one to leave gives it up. */
    LAZY_MEMBER_ ~thread_state() { lazy_thread_state_free(state_); }

    /** Is it not empty? */
    LAZY_MEMBER_ explicit operator bool() const noexcept { return state_; }
    /** For what lazyonce.h has beyond this; NULL if it is empty. */
    LAZY_MEMBER_ lazy_thread_state *native_handle() const noexcept { return state_; }

private:
    LAZY_MEMBER_ explicit thread_state(lazy_thread_state *captured) noexcept : state_(captured) {}
    lazy_thread_state *state_;
};

/** While it lives, this thread finds what the state has instead of its own. Scopes nest; each ends on the thread that began it. */
class thread_state::scope {
public:
    /**
     * `lazy_thread_state_enter`. Many threads may have entered one state. Throws an `error`: with LAZY_E_INVALID if the state is empty,
     * or with LAZY_E_NOMEM. Without exceptions it is false then, and nothing has been entered.
     */
    LAZY_MEMBER_ explicit scope(const thread_state &state) : state_(state.state_) {
        if (detail::checked(lazy_thread_state_enter(state_)) < 0) state_ = nullptr;
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    /** `lazy_thread_state_leave`. The state itself may be gone by then. */
    LAZY_MEMBER_ ~scope() {
        if (state_) lazy_thread_state_leave(state_);
    }
    /** Has it entered? */
    LAZY_MEMBER_ explicit operator bool() const noexcept { return state_; }

private:
    lazy_thread_state *state_;
};

template <class T>
template <class F>
LAZY_MEMBER_ slot<T>::slot(F f, const slot_options &how)
    : maker_(nullptr),
      config_{sizeof(lazy_slot_config), how.name, nullptr,   nullptr,    detail::held<T>::destroy,
              how.share ? detail::held<T>::share : nullptr, how.host, how.scope, how.on_fork},
      slot_ LAZY_SLOT_INIT(&config_) {
    static_assert(std::is_invocable_v<F &, std::uint32_t>, "slot: f(index) cannot be called");
    using result = std::invoke_result_t<F &, std::uint32_t>;
    static_assert(std::is_same_v<result, T> || std::is_convertible_v<result, T>, "slot: f(index) is no T");
    using factory = detail::factory<T, F>;
    maker_ = new (std::nothrow) factory(std::move(f));
    if (maker_) {
        config_.ctx = maker_;
        config_.create = factory::create;
    } else {
        detail::checked(LAZY_E_NOMEM);
    }
}

template <class T> LAZY_MEMBER_ slot<T>::~slot() {
    if (slot_.impl && maker_ && !is_late_ && detail::is_left(slot_, maker_)) return;
    if (slot_.impl && lazy_slot_retire(&slot_) != LAZY_OK) return;
    if (maker_) maker_->drop(maker_);
}

}  // namespace lazyonce

#endif /* LAZYONCE_SLOT_HPP */
