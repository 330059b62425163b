/* Ruby (MRI) as a host: its lock, the GVL, is taken before a once is owned, and let go while a thread waits. Build and run:
   cc -shared -fPIC -Iinclude $(pkg-config --cflags ruby) -o target/ruby_host.so examples/ruby_host.c -Ltarget/release -llazyonce
   RUBYLIB=target LD_LIBRARY_PATH=target/release ruby examples/ruby_host.rb */
#include <lazyonce.h>
#include <pthread.h>
#include <ruby.h>
#include <ruby/thread.h>

int ruby_thread_has_gvl_p(void); /* exported by every Ruby since 1.9, declared by the newest only */

/* What rb_protect caught on this thread; Ruby keeps the exception itself until rb_jump_tag lets it go on. A native thread is
   a Ruby thread here: under RUBY_MN_THREADS a thread calls rb_thread_lock_native_thread first. */
static __thread int caught;

static int protected(VALUE (*fn)(VALUE), VALUE arg) {
    int tag = 0;
    rb_protect(fn, arg, &tag);
    if (tag) caught = tag;
    return tag;
}

typedef struct piece { void (*run)(void *arg); void *arg; int done; } piece;

static void *run_piece(void *ctx) {
    piece *p = ctx;
    p->done = 1;
    p->run(p->arg);
    return NULL;
}

static int32_t run_attached(void *ctx, void (*body)(void *arg), void *arg) {
    piece p = { body, arg, 0 };
    (void)ctx;
    if (!ruby_native_thread_p()) return 1; /* Ruby has no way to attach it, and ends the process if asked to */
    if (ruby_thread_has_gvl_p()) run_piece(&p);
    else rb_thread_call_with_gvl(run_piece, &p);
    return 0;
}

static VALUE check_interrupts(VALUE nothing) {
    rb_thread_check_ints(); /* may raise, run a trap, or let another thread on */
    return nothing;
}

static int32_t wait_detached(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    piece p = { park, arg, 0 };
    (void)ctx;
    do { /* with an interrupt pending rb_nogvl returns at once, but it may be masked, a trap, or a mere wake-up */
        rb_nogvl(run_piece, &p, interrupt, arg, RB_NOGVL_INTR_FAIL);
        if (protected(check_interrupts, Qnil)) return 1;
    } while (!p.done);
    return 0;
}

static const lazy_host ruby = { sizeof(lazy_host), "ruby", NULL, run_attached, wait_detached };

/* A gate for Ruby: Gate.new(order) { initializer }, where the order is 0, or one of these old ways. */

enum { GVL_INSIDE = 1, GVL_OUTSIDE };
typedef struct gate { lazy_once once; pthread_once_t old; int order; VALUE initializer, blocks; } gate;

static VALUE call_proc(VALUE proc) { return rb_funcall(proc, rb_intern("call"), 0); }
static int32_t run_proc(void *proc) { return protected(call_proc, (VALUE)proc); }
static int32_t initialize(void *ctx) { return run_proc((void *)((gate *)ctx)->initializer); }

static __thread gate *old_gate;
static void run_old(void *ctx) { initialize(ctx); }
static void start_old(void) { run_attached(NULL, run_old, old_gate); }
static void enter_old(void *ctx) {
    old_gate = ctx;
    pthread_once(&old_gate->old, start_old);
}

typedef struct entry { gate *gate; VALUE block; lazy_status status; int entered; } entry;

static void *enter(void *ctx) {
    entry *e = ctx;
    e->entered = 1;
    if (e->gate->order == GVL_INSIDE) enter_old(e->gate);
    else if (e->gate->order == GVL_OUTSIDE) run_attached(NULL, enter_old, e->gate);
    else if (NIL_P(e->block)) e->status = LAZY_INIT(&e->gate->once);
    else e->status = LAZY_CALL_HELD(&e->gate->once, run_proc, (void *)e->block);
    return NULL;
}

static void mark(void *ctx) { rb_gc_mark(((gate *)ctx)->initializer), rb_gc_mark(((gate *)ctx)->blocks); }
static void release(void *ctx) { lazy_once_close(&((gate *)ctx)->once), xfree(ctx); }
static const rb_data_type_t type = { .wrap_struct_name = "gate", .function = { .dmark = mark, .dfree = release } };

static VALUE gate_new(VALUE class, VALUE order) {
    gate *g;
    VALUE self = TypedData_Make_Struct(class, gate, &type, g);
    lazy_config config = { .size = sizeof config, .name = "gate", .initialize = initialize, .ctx = g, .host = &ruby,
                           .on_failure = LAZY_FAIL_RETRY }; /* so each exception has the one caller that it comes out of */
    g->old = PTHREAD_ONCE_INIT;
    g->order = NUM2INT(order);
    g->initializer = rb_block_proc();
    g->blocks = rb_ary_new();
    if (lazy_once_configure(&g->once, &config) < 0) rb_raise(rb_eRuntimeError, "%s", lazy_last_error()->message);
    return self;
}

static entry entry_of(VALUE self) {
    entry e = { rb_check_typeddata(self, &type), rb_block_given_p() ? rb_block_proc() : Qnil, 0, 0 };
    rb_ary_push(e.gate->blocks, e.block); /* a queued block is known to the library only */
    return e;
}

/* enter(released) initializes, with a block runs or queues that, holding the GVL or having let it go. Returns the status. */
static VALUE gate_enter(VALUE self, VALUE released) {
    entry e = entry_of(self);
    int tag;
    if (!RTEST(released)) enter(&e);
    while (!e.entered) {
        rb_nogvl(enter, &e, NULL, NULL, RB_NOGVL_INTR_FAIL);
        if (!e.entered) rb_thread_check_ints();
    }
    rb_iv_set(rb_thread_current(), "@status", INT2FIX(e.status)); /* of a call that raises, too */
    if ((tag = caught)) {
        caught = 0;
        rb_jump_tag(tag);
    }
    if (e.status < 0) rb_raise(rb_eRuntimeError, "%s", lazy_last_error()->message);
    return INT2FIX(e.status);
}

/* The same from a thread that Ruby does not know; it never waits for the GVL, so this one may keep it. */
static VALUE gate_enter_foreign(VALUE self) {
    entry e = entry_of(self);
    pthread_t thread;
    if (pthread_create(&thread, NULL, enter, &e)) rb_sys_fail("pthread_create");
    pthread_join(thread, NULL);
    return INT2FIX(e.status);
}

static VALUE gate_info(VALUE self) {
    lazy_info info = LAZY_INFO_INIT;
    lazy_once_info(&((gate *)rb_check_typeddata(self, &type))->once, &info);
    return rb_ary_new_from_args(3, UINT2NUM(info.phase), UINT2NUM(info.waiters), ULL2NUM(info.queued));
}

void Init_ruby_host(void) {
    VALUE class = rb_define_class("Gate", rb_cObject);
    rb_undef_alloc_func(class);
    rb_define_singleton_method(class, "new", gate_new, 1);
    rb_define_method(class, "enter", gate_enter, 1);
    rb_define_method(class, "enter_foreign", gate_enter_foreign, 0);
    rb_define_method(class, "info", gate_info, 0);
}
