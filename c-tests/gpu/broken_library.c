/* A shared object that lacks a function: it can be loaded only by somebody who does not resolve everything at once. */
int function_that_nobody_has(void);
int calls_it(void);
int calls_it(void) { return function_that_nobody_has(); }
