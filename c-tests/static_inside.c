/* A shared object that contains the static library, as an extension that brings it along. */
#include <lazyonce.h>

lazy_once *static_inside_default(void) { return lazy_default(); }
/* So that the linker takes all of it. */
const void *const static_inside_all[] = {
    (const void *)lazy_once_named, (const void *)lazy_once_configure, (const void *)lazy_once_init, (const void *)lazy_once_submit,
    (const void *)lazy_once_cancel, (const void *)lazy_permit_capture, (const void *)lazy_dump, (const void *)lazy_last_error,
};
