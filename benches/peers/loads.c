/* How long does dlopen take in a process that has loaded nothing but libc? Prints nanoseconds. Arguments: an object. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv) {
    long long began = now();
    void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    long long took = now() - began;
    if (handle == NULL) {
        puts(argc > 1 ? dlerror() : "what?");
        return 1;
    }
    return printf("%lld\n", took) < 0;
}
