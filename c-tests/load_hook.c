/* A library that calls back into the program from its constructor, while the loader holds its lock. */
void library_is_loaded(void);
__attribute__((constructor)) static void loaded(void) {
    library_is_loaded();
}
