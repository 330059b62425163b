/* A file of a mixed program: -DMODE=name, and the flags of that mode. */
#include "cpp_modes.hpp"
