/* The JVM as a host: a thread is attached before a once is owned, and may sleep so: there is no wait hook. Build and run:
   cc -shared -fPIC -Iinclude -I"$JAVA_HOME"/include{,/linux} -o target/libjvm_host.so examples/jvm_host.c -Ltarget/release -llazyonce
   javac -d target examples/JvmHost.java && LD_LIBRARY_PATH=target/release java -Djava.library.path=target -cp target JvmHost */
#include <jni.h>
#include <lazyonce.h>
#include <pthread.h>
#include <stdlib.h>

static JavaVM *machine;

/* The host. */

static int32_t run_attached(void *ctx, void (*body)(void *arg), void *arg) {
    void *env;
    jint state = (*machine)->GetEnv(machine, &env, JNI_VERSION_1_8);
    (void)ctx;
    if (state == JNI_OK) {
        body(arg);
        return 0;
    }
    /* As a daemon: the JVM doesn't end before its other threads have, and this one may be about to wait. */
    if (state != JNI_EDETACHED || (*machine)->AttachCurrentThreadAsDaemon(machine, &env, NULL) != JNI_OK) return 1;
    body(arg);
    (*machine)->DetachCurrentThread(machine);
    return 0;
}

static const lazy_host jvm = { sizeof(lazy_host), "jvm", NULL, run_attached, NULL };

/* A gate for Java: new JvmHost(Runnable). */

typedef struct gate { lazy_once once; jobject initializer; } gate;

static JNIEnv *here(void) {
    void *env = NULL;
    (*machine)->GetEnv(machine, &env, JNI_VERSION_1_8);
    return env;
}

/* A Java exception stays pending, and comes out where this thread returns to Java. A native thread has no such place. */
static int32_t run_runnable(void *ctx) {
    JNIEnv *env = here();
    jclass class = (*env)->GetObjectClass(env, ctx);
    jmethodID run = (*env)->GetMethodID(env, class, "run", "()V");
    (*env)->CallVoidMethod(env, ctx, run);
    (*env)->DeleteLocalRef(env, class);
    return (*env)->ExceptionCheck(env);
}
static int32_t initialize(void *ctx) { return run_runnable(((gate *)ctx)->initializer); }
static void release(void *runnable) { (*here())->DeleteGlobalRef(here(), runnable); }

JNIEXPORT jlong JNICALL Java_JvmHost_create(JNIEnv *env, jclass class, jobject initializer) {
    gate *g = calloc(1, sizeof *g);
    (void)class;
    g->initializer = (*env)->NewGlobalRef(env, initializer);
    lazy_config config = { .size = sizeof config, .name = "gate", .initialize = initialize, .ctx = g, .host = &jvm,
                           .on_failure = LAZY_FAIL_RETRY }; /* so each exception has the one caller that it comes out of */
    lazy_once_configure(&g->once, &config);
    return (jlong)g;
}

JNIEXPORT void JNICALL Java_JvmHost_destroy(JNIEnv *env, jclass class, jlong handle) {
    gate *g = (gate *)handle;
    (void)class;
    lazy_once_close(&g->once);
    (*env)->DeleteGlobalRef(env, g->initializer);
    free(g);
}

/* Initializes, or runs or queues the runnable. Returns the status. */
JNIEXPORT jint JNICALL Java_JvmHost_enter(JNIEnv *env, jclass class, jlong handle, jobject runnable) {
    lazy_request request = LAZY_REQUEST_INIT;
    (void)class;
    if (!runnable) return LAZY_INIT(&((gate *)handle)->once);
    request.fn = run_runnable;
    request.ctx = (*env)->NewGlobalRef(env, runnable);
    request.drop = release;
    request.flags = LAZY_REQUEST_HOLD_HOST;
    request.site = LAZY_HERE;
    lazy_status status = lazy_once_submit(&((gate *)handle)->once, &request, NULL);
    if (status < 0 && status != LAZY_E_CALLBACK) release(request.ctx); /* it was not taken */
    return status;
}

/* Initializes on a thread that the JVM doesn't know. Returns the status. */
static void *enter(void *ctx) { return (void *)(intptr_t)lazy_once_init(ctx); }

JNIEXPORT jint JNICALL Java_JvmHost_enterForeign(JNIEnv *env, jclass class, jlong handle) {
    pthread_t thread;
    void *status;
    (void)env, (void)class;
    if (pthread_create(&thread, NULL, enter, &((gate *)handle)->once)) return LAZY_E_UNAVAILABLE;
    pthread_join(thread, &status);
    return (jint)(intptr_t)status;
}

JNIEXPORT jint JNICALL Java_JvmHost_waiters(JNIEnv *env, jclass class, jlong handle) {
    lazy_info info = LAZY_INFO_INIT;
    (void)env, (void)class;
    lazy_once_info(&((gate *)handle)->once, &info);
    return (jint)info.waiters;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
    (void)reserved;
    machine = vm;
    return JNI_VERSION_1_8;
}
