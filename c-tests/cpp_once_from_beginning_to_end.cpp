// Guards against an `once` that is less than the C functions behind it: constant-initialized, nothing to destroy, not copied,
// as large as a lazy_once; queued, drained in order, run at once; reset, closed; requests with phase, key, owner and ticket.
#include "caught.hpp"
#include <vector>

using lazyonce::once;
static_assert(sizeof(once) == sizeof(lazy_once) && std::is_trivially_destructible_v<once>);
static_assert(!std::is_copy_constructible_v<once> && !std::is_copy_assignable_v<once> && !std::is_move_constructible_v<once>);
static_assert(std::is_nothrow_default_constructible_v<once> && !std::is_convertible_v<const lazy_config *, once>);
static_assert(std::is_same_v<lazyonce::status, lazy_status> && std::is_base_of_v<std::exception, lazyonce::error>);
static_assert(std::is_base_of_v<lazyonce::error, lazyonce::deferred_error> && std::is_nothrow_copy_constructible_v<lazyonce::error>);

static std::vector<int> order;
static once *inside;
static int32_t initialize(void *ctx) {
    order.push_back(*static_cast<int *>(ctx));
    CHECK_IS(inside->init(), LAZY_IN_PROGRESS);
    CHECK(inside->init_for(std::chrono::nanoseconds::zero()));
    CHECK(!inside->is_initialized());
    CHECK_IS(inside->reset(), LAZY_IN_PROGRESS);
    CHECK_IS(inside->call([] { order.push_back(3); }), LAZY_QUEUED);
    return 0;
}
static int zero = 0;
static const lazy_config config = {sizeof(lazy_config), "device", initialize, &zero, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};
static once driver(&config);
static constexpr once constant;

static auto pushes(int number) {
    return [number] { order.push_back(number); };
}

static void in_order() {
    inside = &driver;
    CHECK(!driver.is_initialized() && !constant.is_initialized());
    CHECK_IS(driver.call(pushes(1)), LAZY_QUEUED);
    CHECK_IS(driver.call([] {
        order.push_back(2);
        CHECK_IS(driver.call(pushes(21)), LAZY_OK); /* inside the drain: at once */
        CHECK_IS(driver.init(), LAZY_IN_PROGRESS);
        CHECK_IS(driver.cancel(info_of(driver.native_handle()).queued + 1000), LAZY_OK);
    }),
             LAZY_QUEUED);
    throws_status([] { driver.init(); }, LAZY_E_DEFERRED); /* the cancel finds nothing, and says so by throwing */
    CHECK_IS(driver.cancel(lazy_last_error()->ticket), LAZY_OK);
    CHECK_IS(driver.init(), LAZY_OK);
    CHECK_IS(driver.init(), LAZY_OK);
    CHECK(driver.is_initialized() && driver.init_for(std::chrono::seconds(1)));
    CHECK_IS(driver.call(pushes(4)), LAZY_OK);
    CHECK((order == std::vector<int>{0, 1, 2, 21, 3, 4}));
    CHECK_HAS(info_of(driver.native_handle()).name, "device");
}

static void requests() {
    static once other;
    order.clear();
    lazyonce::options last;
    last.phase = LAZY_PHASE_LAST;
    last.key = 7;
    lazyonce::options owned;
    owned.owner = &order;
    owned.site = LAZY_HERE;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(other.submit(pushes(9), last), LAZY_QUEUED);
    CHECK_IS(other.submit(pushes(5), owned), LAZY_QUEUED);
    CHECK_IS(other.submit(pushes(1), {}, &receipt), LAZY_QUEUED);
    CHECK_IS(receipt.outcome, LAZY_OUTCOME_QUEUED);
    CHECK_IS(other.submit(pushes(2)), LAZY_QUEUED);
    CHECK_IS(other.submit(pushes(10), last), LAZY_QUEUED); /* in place of 9 */
    CHECK_IS(other.cancel(receipt.ticket), LAZY_OK);
    throws_status([&] { other.cancel(receipt.ticket); }, LAZY_E_NOT_FOUND);
    CHECK_IS(other.cancel_owner(&order), 1);
    CHECK_IS(other.cancel_owner(&order), 0);
    throws_status([] { other.cancel_owner(nullptr); }, LAZY_E_INVALID);
    CHECK_IS(other.init(), LAZY_OK);
    CHECK_IS(other.submit(pushes(3), {}, &receipt), LAZY_OK);
    CHECK_IS(receipt.outcome, LAZY_RAN_READY);
    CHECK((order == std::vector<int>{2, 10, 3}));
    lazyonce::options unknown;
    unknown.flags = 1u << 31;
    throws_status([&] { other.submit(pushes(0), unknown); }, LAZY_E_INVALID);
}

static void ends() {
    CHECK_IS(driver.reset(), LAZY_OK);
    CHECK(!driver.is_initialized());
    order.clear();
    CHECK_IS(driver.call(pushes(8)), LAZY_QUEUED);
    CHECK_IS(driver.init(), LAZY_OK);
    CHECK((order == std::vector<int>{0, 8, 3}));
    CHECK_IS(driver.close(), LAZY_OK);
    CHECK_IS(driver.close(), LAZY_OK);
    throws_status([] { driver.init(); }, LAZY_E_CLOSED);
    throws_status([] { driver.init_for(std::chrono::seconds(1)); }, LAZY_E_CLOSED);
    throws_status([] { driver.call(pushes(0)); }, LAZY_E_CLOSED);
    throws_status([] { driver.reset(); }, LAZY_E_CLOSED);
}

int main() {
    in_order();
    requests();
    ends();
    return finish();
}
