// Guards against two copies of the library that take each other's onces for their own: the same file under another name, loaded
// with RTLD_LOCAL as a plugin brings it along. Each keeps to itself, says whose once it was given, and both survive a fork.
#include "two_copies.h"

int main(void) {
    copy ours = copy_in(RTLD_DEFAULT);
    void *handle = load_copy(ours.file);
    copy theirs = copy_in(handle);
    CHECK_HAS(theirs.file, "libplugins-own.so");
    check_two(&ours, &theirs);
    CHECK_IS(dlclose(handle), 0); /* it stays: nothing of it can be unloaded */
    CHECK_IS(theirs.init(theirs.get_default()), LAZY_OK);
    return finish();
}
