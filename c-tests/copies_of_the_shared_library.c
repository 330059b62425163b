// Guards against two copies of the library that take each other's onces for their own: the same file under another name, loaded
// with RTLD_LOCAL as a plugin brings it along. Each keeps to itself, says whose once it was given, and both survive a fork.
#include "two_copies.h"
#include <limits.h>

static void copy_file(const char *from_path, const char *to_path) {
    char bytes[65536];
    int from = open(from_path, O_RDONLY), to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    ssize_t size;
    CHECK(from >= 0 && to >= 0);
    while ((size = read(from, bytes, sizeof bytes)) > 0) CHECK_IS(write(to, bytes, (size_t)size), size);
    close(from);
    close(to);
}

int main(void) {
    char folder[] = "/tmp/lazyonce-copy-XXXXXX", path[PATH_MAX];
    copy ours = copy_in(RTLD_DEFAULT);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libplugins-own.so", folder);
    copy_file(ours.file, path);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    rmdir(folder);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    copy theirs = copy_in(handle);
    CHECK_HAS(theirs.file, "libplugins-own.so");
    check_two(&ours, &theirs);
    CHECK_IS(dlclose(handle), 0); /* it stays: nothing of it can be unloaded */
    CHECK_IS(theirs.init(theirs.get_default()), LAZY_OK);
    return finish();
}
