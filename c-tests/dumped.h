/* What lazy_dump writes, as text. For C11. */
#ifndef DUMPED_H
#define DUMPED_H
#include "check.h"
#include <ctype.h>
#include <sys/mman.h>

/* The whole dump, to be freed. */
static inline char *dumped(void) {
    int fd = memfd_create("dump", 0);
    CHECK(fd >= 0);
    errno = 42;
    CHECK_IS(lazy_dump(fd), LAZY_OK);
    CHECK_IS(errno, 42);
    off_t size = lseek(fd, 0, SEEK_END);
    CHECK(size >= 0);
    char *text = (char *)calloc(1, (size_t)size + 1);
    CHECK(text != NULL);
    CHECK_IS(pread(fd, text, (size_t)size, 0), size);
    close(fd);
    return text;
}
/* The line of the dump that has this name, to be freed. */
static inline char *line_about(const char *text, const char *name) {
    const char *at = strstr(text, name), *first = at, *end;
    CHECK(at != NULL);
    while (first > text && first[-1] != '\n') first--;
    end = strchr(at, '\n');
    return strndup(first, end ? (size_t)(end - first) : strlen(first));
}
/* Whether it has this word or number, and not only as a part of a longer one. */
static inline bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length])) return true;
    return false;
}
static inline bool has_number(const char *text, long number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%ld", number);
    return has_word(text, digits);
}
#endif
