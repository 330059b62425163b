/* What a plugin would bring along: callbacks in code that goes away. Preloaded only so that it is built; the program loads a
   copy of its own, which it can unload. Everything that the callbacks touch is reached through `struct plugin_context`. */
#include <stddef.h>

struct plugin_context {
    int (*before)(void *);  /* called first, in the program; its result is returned */
    void (*dropped)(void *); /* called by drop */
    int (*unload)(void *);  /* the last that a callback does: nothing of the plugin is on the stack when it runs */
    void *argument;
};

int plugin_run(void *ctx) {
    struct plugin_context *context = ctx;
    return context->before(context->argument);
}
/* A jump, not a call: it returns to the plugin's caller, although there is no plugin any more. */
int plugin_run_and_unload(void *ctx) {
    struct plugin_context *context = ctx;
    int (*unload)(void *) = context->unload;
    void *argument = context->argument;
    if (context->before(argument) != 0) return 1;
    return unload(argument);
}
void plugin_drop(void *ctx) {
    struct plugin_context *context = ctx;
    context->dropped(context->argument);
}
void plugin_describe(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    if (capacity > 0) buffer[0] = 0;
}
