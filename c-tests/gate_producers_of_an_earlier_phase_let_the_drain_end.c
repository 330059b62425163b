// Guards against a drain that never reaches its last phase: seeds of LAZY_PHASE_LAST are queued when it begins, and two
// producers that never stop hand in requests of an earlier phase. The drain must cut them off all the same, and run the seeds.
#include "producers.h"

int main(void) {
    for (int mode = 0; mode < 3; mode++) check_producers(mode, 3);
    return finish();
}
