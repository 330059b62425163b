/* Single steps of the processor over the library's own code: a trap at each of its instructions, counted, until the one that is meant. For
   x86-64 and C11; on others this is the whole program, which is skipped. */
#ifndef SINGLE_STEPS_H
#define SINGLE_STEPS_H
#if defined __x86_64__
#include "callers.h"
#include <link.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

static uintptr_t code_first, code_last; /* of the library */
static long steps, target;
static volatile sig_atomic_t is_child;
static void (*at_target)(uintptr_t offset); /* runs in the trap, at an address in the library */

static inline int find_code(struct dl_phdr_info *object, size_t size, void *ctx) {
    (void)size;
    for (int i = 0; strstr(object->dlpi_name, "liblazyonce") && i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD || !(object->dlpi_phdr[i].p_flags & PF_X)) continue;
        code_first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        code_last = code_first + object->dlpi_phdr[i].p_memsz;
    }
    return ctx != NULL;
}
/* Only in the library: in the middle of glibc's allocator its own fork hangs. */
static inline void trap(int number, siginfo_t *info, void *context) {
    ucontext_t *interrupted = (ucontext_t *)context;
    uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
    (void)number;
    (void)info;
    if (at < code_first || at >= code_last || steps++ != target) return;
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
    at_target(at - code_first);
}
static inline void stop_at_target(void (*act)(uintptr_t offset)) {
    struct sigaction action = { .sa_sigaction = trap, .sa_flags = SA_SIGINFO };
    at_target = act;
    dl_iterate_phdr(find_code, NULL);
    CHECK(code_first != 0);
    CHECK_IS(sigaction(SIGTRAP, &action, NULL), 0);
}
/* From here on, until they end, on this thread. Not for a function that keeps something below its stack pointer. */
#define BEGIN_SINGLE_STEPS() do { \
    steps = 0; \
    __asm__ volatile("pushfq\n\torq $0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc"); \
} while (0)
#define END_SINGLE_STEPS() __asm__ volatile("pushfq\n\tandq $~0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc")
#define IN_SINGLE_STEPS(statement) do { \
    BEGIN_SINGLE_STEPS(); \
    statement; \
    END_SINGLE_STEPS(); \
} while (0)

/* The child, which has an alarm, goes on where its parent was interrupted. */
static inline void fork_there(uintptr_t offset) {
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        alarm(20);
        return;
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        dprintf(2, "at instruction %ld, in the library at 0x%lx, the child ended with status 0x%x\n", target, (long)offset, (unsigned)status);
        _exit(1);
    }
}
#else
#include <stdio.h>
int main(void) {
    fputs("single steps are written for x86-64 only\n", stderr);
    return 77;
}
#endif
#endif
