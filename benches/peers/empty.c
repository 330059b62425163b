/* An object of the least size that needs the same libraries. */
int empty(void);
int empty(void) { return 0; }
