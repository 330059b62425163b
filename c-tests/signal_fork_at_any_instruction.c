// not-under: tsan asan valgrind: the processor's single steps are not for the tool's own code
// Guards against a child that dies of a fork in a signal handler: at one instruction in eleven that the library executes for an attempt with
// queued calls of both kinds, others in each run, its thread forks; whatever the policy, the child goes on and its init ends honestly.
#include "callers.h"
#include <link.h>
#include <signal.h>
#include <sys/wait.h>
#if defined __x86_64__
#include <ucontext.h>

enum { STRIDE = 11 };
static uintptr_t first, last;
static long steps, target;
static volatile sig_atomic_t is_child;

static int find(struct dl_phdr_info *object, size_t size, void *ctx) {
    (void)size;
    for (int i = 0; strstr(object->dlpi_name, "liblazyonce") && i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD || !(object->dlpi_phdr[i].p_flags & PF_X)) continue;
        first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        last = first + object->dlpi_phdr[i].p_memsz;
    }
    return ctx != NULL;
}
static void step(int number, siginfo_t *info, void *context) {
    ucontext_t *interrupted = (ucontext_t *)context;
    uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
    (void)number;
    (void)info;
    /* Only in the library: in the middle of glibc's allocator its own fork hangs. */
    if (at < first || at >= last || steps++ != target) return;
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        alarm(20);
        return;
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        dprintf(2, "at instruction %ld, in the library at 0x%lx, the child ended with status 0x%x\n", target, (long)(at - first), (unsigned)status);
        _exit(1);
    }
}
static void any_instruction(uint32_t policy) {
    lazy_config config = { .size = sizeof config, .initialize = nothing, .on_fork = policy };
    lazy_request request = { .size = sizeof request, .fn = nothing, .key = 5 };
    for (target = getpid() % STRIDE;; target += STRIDE) {
        lazy_once once = LAZY_ONCE_WITH(&config);
        CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
        steps = 0;
        __asm__ volatile("pushfq\n\torq $0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
        lazy_status status = lazy_once_init_slow(&once, NULL);
        __asm__ volatile("pushfq\n\tandq $~0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
        if (is_child) _exit(status == LAZY_OK || status == LAZY_E_FORKED ? 0 : 2);
        CHECK_IS(status, LAZY_OK);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        if (steps <= target) break;
    }
    CHECK(target > 500);
}

int main(void) {
    struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
    dl_iterate_phdr(find, NULL);
    CHECK(first != 0);
    CHECK_IS(sigaction(SIGTRAP, &action, NULL), 0);
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) any_instruction(policy);
    return finish();
}
#else
int main(void) {
    fputs("single steps are written for x86-64 only\n", stderr);
    return 77;
}
#endif
