// One thread is inside the initializer when another one forks; the child needs the device too.
// GATE is lazyonce.h or a gate with the same names.
#include GATE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include "philox.h"

static lazy_once once = LAZY_ONCE_INIT;
static rng_state device_rng;
static flag inside, forked;
static pid_t parent, started_by;

static int32_t start_device(void *) {
    if (getpid() == parent) {
        raise_to(&inside, 1);
        await(&forked, 1);
    }
    device_rng = seeded(0);
    started_by = getpid();
    return 0;
}

static bool usable() {
    return lazy_once_run(&once, start_device, nullptr) == LAZY_OK && started_by == getpid() &&
           same(draw(&device_rng), known[0].answer);
}

int main() {
    check_known_answers();
    parent = getpid();
    step("init in a thread");
    bool parent_usable = false;
    std::thread initializing([&] { parent_usable = usable(); });
    await(&inside, 1);

    step("fork");
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        step("init in child");
        _exit(usable() ? 0 : 1);
    }

    raise_to(&forked, 1);
    initializing.join();
    CHECK(parent_usable);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    show("child initialized its own device");
    show("parent's attempt ended well");
    return done();
}
