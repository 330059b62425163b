/** The version of this header; `lazy_version()` is the version of the library that runs. */
#define LAZY_VERSION_MAJOR @MAJOR@
/** Higher in a version that has more in it. */
#define LAZY_VERSION_MINOR @MINOR@
/** Higher in a version that has faults mended. */
#define LAZY_VERSION_PATCH @PATCH@
/** The three in one number, as `lazy_version()` returns it. */
#define LAZY_VERSION_NUMBER (LAZY_VERSION_MAJOR << 16 | LAZY_VERSION_MINOR << 8 | LAZY_VERSION_PATCH)
/** The three as a text. */
#define LAZY_VERSION_STRING "@MAJOR@.@MINOR@.@PATCH@"

/** Stands before each function of the library. Define it yourself to replace it. */
#ifndef LAZY_API
#if defined(__GNUC__)
#define LAZY_API __attribute__((__visibility__("default")))
#else
#define LAZY_API
#endif
#endif
