/* A CUDA driver that computes on the processor, for `--backend=host`: the entries of device.h as the documentation has them, with a thread for
   each stream and the kernels by their names. It injects no faults, that is fake_libcuda.c, and proves nothing about a GPU: the text of
   the kernels is not read, and how a device orders, waits and fails is nobody's knowledge here. Its devices are called "host:". */
#define _GNU_SOURCE
#include "philox.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum result {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, DEINITIALIZED = 4, NO_DEVICE = 100, INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, ILLEGAL_STATE = 401, NOT_FOUND = 500, NOT_READY = 600,
    NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_WRONG_THREAD = 908
};
enum { FIRST_DEVICE = 500, DEVICES = 2, MOST_THREADS = 1024, VERSION = 13000, NON_BLOCKING = 1, JIT_ERROR_LOG = 5 };
enum capture_mode { GLOBAL, THREAD_LOCAL, RELAXED };
enum capture_status { NOT_CAPTURED, CAPTURED, INVALIDATED };

/* One thing that a stream does: a kernel with its parameters, a copy or a function of the program's. */
typedef struct operation {
    struct operation *next;
    void (*run)(struct operation *operation);
    uint64_t first, second;
    uint32_t blocks, threads;
    void *host;
    void (*function)(void *ctx);
} operation;
typedef struct list { operation *first, **end; size_t length; } list;

typedef struct stream {
    struct stream *next;
    pthread_t worker;
    bool is_started, is_busy, is_ending;
    list waiting, captured;
    enum capture_status status;
    enum capture_mode mode;
    const void *captured_by; /* the thread */
} stream;
typedef struct context { bool is_active; stream null_stream; } context;

/* Taken by no entry before it is known that this process is no child of the one that initialized: a thread that is gone may hold it there. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int initialized_by; /* the process */
static atomic_bool is_gone;
static int visible[DEVICES], visible_count;
static context contexts[DEVICES]; /* the primary ones; their addresses stand for them */
static stream *streams;           /* all but the contexts' own */
/* In the static block of each thread: where LeakSanitizer looks for others, it may read what is none. */
static _Thread_local struct own { context *current; enum capture_mode mode; } own __attribute__((__tls_model__("initial-exec")));

__attribute__((__destructor__)) static void deinitialize(void) { atomic_store(&is_gone, true); }
static int initialized(void) {
    if (atomic_load(&is_gone)) return DEINITIALIZED;
    return atomic_load(&initialized_by) == getpid() ? SUCCESS : NOT_INITIALIZED;
}
static int usable(void) {
    int result = initialized();
    return result || own.current ? result : INVALID_CONTEXT;
}
/* For an entry that takes the lock: there, unless its result is an error already. */
static int enter(void) {
    int result = usable();
    if (!result) pthread_mutex_lock(&lock);
    return result;
}
static int leave(int result) {
    pthread_mutex_unlock(&lock);
    return result;
}

/* The threads of a launch, one after another. */
static void philox_fill(operation *o) {
    uint32_t *out = (uint32_t *)(uintptr_t)o->first;
    philox state = *(const philox *)(uintptr_t)o->second;
    for (uint32_t block = 0; block < o->blocks && block < o->threads; block++) {
        philox_block(&state, out + 4 * block);
        philox_next(&state);
    }
}
static void philox_advance(operation *o) {
    philox *state = (philox *)(uintptr_t)o->first;
    uint64_t carry = o->blocks;
    for (int word = 0; word < 4; word++) {
        carry += state->counter[word];
        state->counter[word] = (uint32_t)carry;
        carry >>= 32;
    }
}
static void count(operation *o) {
    uint32_t *counter = (uint32_t *)(uintptr_t)o->first;
    for (uint32_t thread = 0; thread < o->threads; thread++) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}
static void spin(operation *o) {
    struct timespec left = { (time_t)(o->first / 1000000000), (long)(o->first % 1000000000) };
    while (nanosleep(&left, &left)) {}
}
static void copy_in(operation *o) {
    memcpy((void *)(uintptr_t)o->first, o->host, o->second);
    free(o->host);
}
static void copy_out(operation *o) { memcpy(o->host, (const void *)(uintptr_t)o->first, o->second); }
static void call(operation *o) { o->function(o->host); }

/* The kernels of kernels.h: each has its first parameter, these follow. */
static const struct kernel { const char *name; void (*run)(operation *o); bool has_address, has_blocks; } kernels[] = {
    { "philox_fill", philox_fill, true, true },
    { "philox_advance", philox_advance, false, true },
    { "count", count, false, false },
    { "spin", spin, false, false },
};
enum { KERNELS = sizeof kernels / sizeof *kernels };
static const char module[] = "the only module";

static void append(list *l, operation o) {
    operation *copy = malloc(sizeof *copy);
    if (!copy) abort();
    *copy = o;
    copy->next = NULL;
    if (!l->first) l->end = &l->first;
    *l->end = copy;
    l->end = &copy->next;
    l->length++;
}
static operation *take(list *l) {
    operation *taken = l->first;
    l->first = taken->next;
    l->length--;
    return taken;
}
static void empty(list *l) {
    while (l->first) free(take(l));
}

static void *work(void *of) {
    stream *s = of;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->waiting.first && !s->is_ending) pthread_cond_wait(&changed, &lock);
        if (!s->waiting.first) break;
        operation *taken = take(&s->waiting);
        s->is_busy = true;
        pthread_mutex_unlock(&lock);
        taken->run(taken);
        free(taken);
        pthread_mutex_lock(&lock);
        s->is_busy = false;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}
static bool is_idle(const stream *s) { return !s->is_busy && !s->waiting.first; }
static void push(stream *s, operation o) {
    if (!s->is_started) s->is_started = !pthread_create(&s->worker, NULL, work, s);
    if (!s->is_started) abort();
    append(&s->waiting, o);
    pthread_cond_broadcast(&changed);
}
static stream *stream_of(void *handle) { return handle ? handle : &own.current->null_stream; }

static int invalidate(stream *s) {
    s->status = INVALIDATED;
    return CAPTURE_UNSUPPORTED;
}
/* What may allocate or wait is refused beside captures, which it ends: those of this thread, and, if it says so itself, the GLOBAL ones. */
static int potentially_unsafe(void) {
    int result = SUCCESS;
    for (stream *s = streams; s && own.mode != RELAXED; s = s->next) {
        bool is_near = s->captured_by == &own || (s->mode == GLOBAL && own.mode == GLOBAL);
        if (s->status != NOT_CAPTURED && s->mode != RELAXED && is_near) result = invalidate(s);
    }
    return result;
}
static int add(stream *s, operation o) {
    if (s->status == INVALIDATED) return CAPTURE_INVALIDATED;
    if (s->status == CAPTURED) append(&s->captured, o);
    else push(s, o);
    return SUCCESS;
}
/* One that is captured would read and write the program's memory whenever it is replayed, which nobody here wants. */
static int add_copy(stream *s, operation o) { return s->status == NOT_CAPTURED ? add(s, o) : invalidate(s); }

/* A list of numbers, which ends before the first that is no device, or stands there twice. */
static bool is_visible(long device) {
    for (int i = 0; i < visible_count; i++) {
        if (visible[i] == device) return true;
    }
    return false;
}
static void look_for_devices(void) {
    const char *wanted = getenv("CUDA_VISIBLE_DEVICES");
    for (visible_count = 0; visible_count < DEVICES;) {
        char *end = NULL;
        long device = wanted ? strtol(wanted, &end, 10) : visible_count;
        if ((wanted && end == wanted) || device < 0 || device >= DEVICES || is_visible(device)) return;
        visible[visible_count++] = (int)device;
        if (wanted && *end != ',') return;
        if (wanted) wanted = end + 1;
    }
}
static context *context_of(int device) {
    return device >= FIRST_DEVICE && device < FIRST_DEVICE + visible_count ? &contexts[visible[device - FIRST_DEVICE]] : NULL;
}

int cuInit(unsigned flags) {
    if (flags) return INVALID_VALUE;
    if (atomic_load(&initialized_by)) return initialized();
    pthread_mutex_lock(&lock);
    look_for_devices();
    if (visible_count) atomic_store(&initialized_by, getpid());
    return leave(visible_count ? SUCCESS : NO_DEVICE);
}
int cuDriverGetVersion(int *version) {
    *version = VERSION;
    return SUCCESS;
}
int cuDeviceGetCount(int *number) {
    int result = initialized();
    if (!result) *number = visible_count;
    return result;
}
int cuDeviceGet(int *device, int ordinal) {
    int result = initialized();
    if (!result && (ordinal < 0 || ordinal >= visible_count)) return INVALID_DEVICE;
    /* A driver says nowhere that a device is its ordinal. */
    if (!result) *device = FIRST_DEVICE + ordinal;
    return result;
}
int cuDeviceGetName(char *name, int capacity, int device) {
    int result = initialized();
    if (result || !context_of(device)) return result ? result : INVALID_DEVICE;
    snprintf(name, (size_t)capacity, "host: no GPU, the processor stands in for one");
    return SUCCESS;
}
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active) {
    int result = initialized();
    if (result || !context_of(device)) return result ? result : INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    *flags = 0;
    *is_active = context_of(device)->is_active;
    return leave(SUCCESS);
}
int cuDevicePrimaryCtxRetain(void **retained, int device) {
    int result = initialized();
    if (result || !context_of(device)) return result ? result : INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    context_of(device)->is_active = true;
    *retained = context_of(device);
    return leave(SUCCESS);
}
int cuCtxGetCurrent(void **current) {
    int result = initialized();
    if (!result) *current = own.current;
    return result;
}
int cuCtxSetCurrent(void *wanted) {
    int result = initialized();
    bool is_known = !wanted || wanted == &contexts[0] || wanted == &contexts[1];
    if (!result && !is_known) return INVALID_CONTEXT;
    if (!result) own.current = wanted;
    return result;
}
int cuCtxGetDevice(int *device) {
    int result = usable();
    for (int ordinal = 0; !result && ordinal < visible_count; ordinal++) {
        if (own.current == &contexts[visible[ordinal]]) *device = FIRST_DEVICE + ordinal;
    }
    return result;
}

int cuModuleLoadDataEx(void **loaded, const void *image, unsigned options, unsigned *option, void **value) {
    int result = enter();
    if (result) return result;
    result = potentially_unsafe();
    if (!result && strncmp(image, ".version ", 9)) result = INVALID_PTX;
    for (unsigned i = 0; i < options; i++) {
        if (option[i] == JIT_ERROR_LOG) strcpy(value[i], result == INVALID_PTX ? "it does not begin as PTX does" : "");
    }
    *loaded = (void *)(uintptr_t)module;
    return leave(result);
}
int cuModuleGetFunction(void **function, void *loaded, const char *name) {
    int result = usable();
    if (result || loaded != module) return result ? result : INVALID_HANDLE;
    for (int i = 0; i < KERNELS; i++) {
        if (!strcmp(name, kernels[i].name)) return *function = (void *)(uintptr_t)&kernels[i], SUCCESS;
    }
    return NOT_FOUND;
}

int cuMemAlloc_v2(uint64_t *address, size_t size) {
    int result = enter();
    if (result) return result;
    result = potentially_unsafe();
    void *memory = result ? NULL : malloc(size);
    if (memory) memset(memory, 0xaa, size); /* a device's memory is not zero either */
    *address = (uintptr_t)memory;
    return leave(result || memory ? result : OUT_OF_MEMORY);
}
int cuMemFree_v2(uint64_t address) {
    int result = enter();
    if (result) return result;
    result = potentially_unsafe();
    if (!result) free((void *)(uintptr_t)address);
    return leave(result);
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *handle) {
    int result = enter();
    if (result) return result;
    void *copy = malloc(size); /* the program may use its memory again at once */
    if (!copy) abort();
    memcpy(copy, from, size);
    result = add_copy(stream_of(handle), (operation){ .run = copy_in, .first = to, .second = size, .host = copy });
    if (result) free(copy);
    return leave(result);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *handle) {
    int result = enter();
    if (result) return result;
    return leave(add_copy(stream_of(handle), (operation){ .run = copy_out, .first = from, .second = size, .host = to }));
}

int cuStreamCreate(void **created, unsigned flags) {
    int result = enter();
    if (result) return result;
    /* Others are ordered after the NULL stream, which no program here relies on. */
    if (flags != NON_BLOCKING) return leave(NOT_SUPPORTED);
    stream *s = calloc(1, sizeof *s);
    if (!s) return leave(OUT_OF_MEMORY);
    s->next = streams;
    streams = s;
    *created = s;
    return leave(SUCCESS);
}
int cuStreamDestroy_v2(void *handle) {
    int result = enter();
    if (result) return result;
    stream *s = handle, **place = &streams;
    while (*place && *place != s) place = &(*place)->next;
    if (!*place) return leave(INVALID_HANDLE);
    *place = s->next;
    s->is_ending = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (s->is_started) pthread_join(s->worker, NULL);
    empty(&s->captured);
    free(s);
    return SUCCESS;
}
int cuStreamSynchronize(void *handle) {
    int result = enter();
    if (result) return result;
    stream *s = stream_of(handle);
    if (s->status != NOT_CAPTURED) return leave(invalidate(s));
    result = potentially_unsafe();
    while (!result && !is_idle(s)) pthread_cond_wait(&changed, &lock);
    return leave(result);
}
int cuStreamQuery(void *handle) {
    int result = enter();
    if (result) return result;
    stream *s = stream_of(handle);
    if (s->status != NOT_CAPTURED) return leave(invalidate(s));
    result = potentially_unsafe();
    return leave(result || is_idle(s) ? result : NOT_READY);
}

int cuStreamBeginCapture_v2(void *handle, unsigned mode) {
    int result = enter();
    if (result) return result;
    stream *s = stream_of(handle);
    if (!handle) return leave(CAPTURE_UNSUPPORTED);
    if (mode > RELAXED) return leave(INVALID_VALUE);
    if (s->status != NOT_CAPTURED) return leave(ILLEGAL_STATE);
    s->status = CAPTURED;
    s->mode = (enum capture_mode)mode;
    s->captured_by = &own;
    return leave(SUCCESS);
}
int cuStreamEndCapture(void *handle, void **graph) {
    int result = enter();
    if (result) return result;
    stream *s = stream_of(handle);
    if (s->status == NOT_CAPTURED) return leave(ILLEGAL_STATE);
    if (s->mode != RELAXED && s->captured_by != &own) return leave(CAPTURE_WRONG_THREAD);
    list *whole = s->status == CAPTURED ? malloc(sizeof *whole) : NULL;
    if (whole) *whole = s->captured;
    else empty(&s->captured);
    s->captured = (list){ NULL, NULL, 0 };
    s->status = NOT_CAPTURED;
    *graph = whole;
    return leave(whole ? SUCCESS : CAPTURE_INVALIDATED);
}
int cuStreamIsCapturing(void *handle, unsigned *status) {
    int result = enter();
    if (result) return result;
    *status = stream_of(handle)->status;
    return leave(SUCCESS);
}
int cuThreadExchangeStreamCaptureMode(unsigned *mode) {
    int result = initialized();
    if (result || *mode > RELAXED) return result ? result : INVALID_VALUE;
    enum capture_mode before = own.mode;
    own.mode = (enum capture_mode)*mode;
    *mode = before;
    return SUCCESS;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    int result = enter();
    if (result) return result;
    if (flags) return leave(NOT_SUPPORTED);
    list *copy = calloc(1, sizeof *copy);
    if (!copy) return leave(OUT_OF_MEMORY);
    for (operation *o = ((list *)graph)->first; o; o = o->next) append(copy, *o);
    *executable = copy;
    return leave(SUCCESS);
}
int cuGraphGetNodes(void *graph, void **nodes, size_t *number) {
    int result = initialized();
    if (result || nodes) return result ? result : NOT_SUPPORTED;
    *number = ((const list *)graph)->length;
    return SUCCESS;
}
int cuGraphLaunch(void *executable, void *handle) {
    int result = enter();
    if (result) return result;
    stream *s = stream_of(handle);
    if (s->status != NOT_CAPTURED) return leave(invalidate(s));
    for (operation *o = ((list *)executable)->first; o; o = o->next) push(s, *o);
    return leave(SUCCESS);
}
static int destroy_graph(list *graph) {
    int result = initialized();
    if (result) return result;
    empty(graph);
    free(graph);
    return SUCCESS;
}
int cuGraphExecDestroy(void *executable) { return destroy_graph(executable); }
int cuGraphDestroy(void *graph) { return destroy_graph(graph); }

/* The lines of kernels.h have one dimension. */
int cuLaunchKernel(void *function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                   unsigned threads_z, unsigned shared_size, void *handle, void **parameters, void **extra) {
    int result = enter();
    if (result) return result;
    const struct kernel *kernel = function;
    bool is_line = blocks_y == 1 && blocks_z == 1 && threads_y == 1 && threads_z == 1 && !shared_size && !extra;
    if (!is_line || !blocks_x || !threads_x || threads_x > MOST_THREADS) return leave(INVALID_VALUE);
    operation o = { .run = kernel->run, .first = *(uint64_t *)*parameters++, .threads = blocks_x * threads_x };
    if (kernel->has_address) o.second = *(uint64_t *)*parameters++;
    if (kernel->has_blocks) o.blocks = *(uint32_t *)*parameters;
    return leave(add(stream_of(handle), o));
}
int cuLaunchHostFunc(void *handle, void (*function)(void *ctx), void *ctx) {
    int result = enter();
    if (result) return result;
    return leave(add(stream_of(handle), (operation){ .run = call, .host = ctx, .function = function }));
}

static const struct { int result; const char *name, *text; } texts[] = {
    { SUCCESS, "CUDA_SUCCESS", "no error" },
    { INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down" },
    { NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed" },
    { INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
    { ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state" },
    { NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
    { NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
    { CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing" },
    { CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture" },
    { CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture was begun by another thread" },
};
enum { TEXTS = sizeof texts / sizeof *texts };
int cuGetErrorName(int result, const char **name) {
    *name = NULL;
    for (int i = 0; i < TEXTS; i++) {
        if (texts[i].result == result) *name = texts[i].name;
    }
    return *name ? SUCCESS : INVALID_VALUE;
}
int cuGetErrorString(int result, const char **text) {
    *text = NULL;
    for (int i = 0; i < TEXTS; i++) {
        if (texts[i].result == result) *text = texts[i].text;
    }
    return *text ? SUCCESS : INVALID_VALUE;
}
