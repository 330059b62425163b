#include "peer.hpp"
#include <pthread.h>

struct once {
    pthread_once_t control = PTHREAD_ONCE_INIT;
};
struct call {
    void operator()(once &once, void (*initialize)()) const { pthread_once(&once.control, initialize); }
};
SHOW("pthread_once", once, call)
