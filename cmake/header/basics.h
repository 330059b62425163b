/** The version of this header; `lazy_version()` is the version of the library that runs. */
#define LAZY_VERSION_MAJOR @MAJOR@
#define LAZY_VERSION_MINOR @MINOR@
#define LAZY_VERSION_PATCH @PATCH@
#define LAZY_VERSION_NUMBER (LAZY_VERSION_MAJOR << 16 | LAZY_VERSION_MINOR << 8 | LAZY_VERSION_PATCH)
#define LAZY_VERSION_STRING "@MAJOR@.@MINOR@.@PATCH@"

/** Stands before each function of the library. Define it yourself to replace it. */
#ifndef LAZY_API
#if defined(__GNUC__)
#define LAZY_API __attribute__((__visibility__("default")))
#else
#define LAZY_API
#endif
#endif
