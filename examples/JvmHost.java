// Shows and checks what jvm_host.c does, which says how to build both and run this:
//   javac -d target examples/JvmHost.java
//   LD_LIBRARY_PATH=target/release java -Djava.library.path=target -cp target JvmHost
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

final class JvmHost implements AutoCloseable {
    static final int OK = 0, QUEUED = 1, RAISED = 100;

    static native long create(Runnable initializer);
    static native void destroy(long gate);
    static native int enter(long gate, Runnable runnable);
    static native int enterForeign(long gate);
    static native int waiters(long gate);

    private final long gate;

    JvmHost(Runnable initializer) { gate = create(initializer); }
    int enter() { return enter(gate, null); }
    int enter(Runnable runnable) { return enter(gate, runnable); }
    int enterForeign() { return enterForeign(gate); }
    void untilWaiting(int threads) { while (waiters(gate) < threads) Thread.yield(); }
    @Override public void close() { destroy(gate); }

    static void check(Object got, Object wanted) {
        if (!got.equals(wanted)) throw new AssertionError(got + " instead of " + wanted);
    }

    /** What each of so many threads at a barrier got; RAISED for an exception. */
    static List<Integer> storm(int count, IntUnaryOperator way) throws Exception {
        Integer[] got = new Integer[count];
        CyclicBarrier together = new CyclicBarrier(count);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int me = i;
            threads.add(new Thread(() -> {
                try {
                    together.await();
                    got[me] = way.applyAsInt(me);
                } catch (Exception exception) {
                    got[me] = RAISED;
                }
            }));
            threads.get(i).start();
        }
        for (Thread thread : threads) thread.join();
        return List.of(got);
    }

    static JvmHost self; // of the gate whose initializer runs

    static void sixteenAtABarrier() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (JvmHost gate = new JvmHost(() -> { runs.incrementAndGet(); self.untilWaiting(15); System.gc(); })) {
            self = gate;
            check(storm(16, i -> i % 4 == 0 ? gate.enterForeign() : gate.enter()), Collections.nCopies(16, OK));
            check(runs.get(), 1);
        }
    }

    static void racing() throws Exception {
        for (int round = 0; round < 200; round++) {
            AtomicInteger runs = new AtomicInteger();
            try (JvmHost gate = new JvmHost(runs::incrementAndGet)) {
                storm(8, i -> i % 2 == 0 ? gate.enter() : gate.enterForeign()).forEach(status -> check(status, OK));
                check(runs.get(), 1);
            }
        }
    }

    static final class Cold {
        static final Map<String, Integer> TABLE = Map.of("one", 1);
        static final int SUM = TABLE.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** The initializer loads classes, and a thread that the JVM doesn't know is attached for it. */
    static void coldClassesFromAForeignThread() {
        AtomicInteger sum = new AtomicInteger();
        try (JvmHost gate = new JvmHost(() -> sum.set(Cold.SUM))) {
            check(gate.enterForeign(), OK);
            check(sum.get(), 1);
            check(gate.enter(), OK);
        }
    }

    static void nested() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (JvmHost inner = new JvmHost(() -> { runs.incrementAndGet(); Thread.yield(); });
             JvmHost outer = new JvmHost(() -> { runs.incrementAndGet(); check(inner.enter(), OK); })) {
            storm(8, i -> i % 2 == 0 ? outer.enter() : inner.enter()).forEach(status -> check(status, OK));
            check(runs.get(), 2);
        }
    }

    static void exceptions() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (JvmHost gate = new JvmHost(() -> { if (runs.incrementAndGet() < 3) throw new IllegalStateException("no device"); })) {
            List<Integer> got = storm(6, i -> gate.enter());
            check(got.stream().filter(status -> status == RAISED).count(), 2L);
            check(got.stream().filter(status -> status == OK).count(), 4L);
            check(runs.get(), 3);
            check(storm(1, i -> gate.enter(() -> { throw new IllegalArgumentException("mine"); })), List.of(RAISED));
        }
    }

    static void queued() {
        StringBuilder order = new StringBuilder();
        try (JvmHost gate = new JvmHost(() -> order.append("init"))) {
            check(gate.enter(() -> { order.append(" first"); check(self.enter(() -> order.append(" nested")), OK); }), QUEUED);
            check(gate.enter(() -> order.append(" second")), QUEUED);
            self = gate;
            check(gate.enterForeign(), OK);
            check(gate.enter(() -> order.append(" last")), OK);
            check(order.toString(), "init first nested second last");
        }
    }

    /** Daemon threads wait, and one initializes, while the JVM ends. */
    static void exitWhileOthersWait() {
        JvmHost gate = new JvmHost(() -> { while (true) LockSupport.park(); });
        for (int i = 0; i < 4; i++) {
            boolean foreign = i % 2 == 1;
            Thread thread = new Thread(() -> { if (foreign) gate.enterForeign(); else gate.enter(); });
            thread.setDaemon(true);
            thread.start();
        }
        gate.untilWaiting(3);
    }

    public static void main(String[] arguments) throws Exception {
        System.loadLibrary("jvm_host");
        sixteenAtABarrier();
        racing();
        coldClassesFromAForeignThread();
        nested();
        exceptions();
        queued();
        exitWhileOthersWait();
        System.out.println("done");
    }
}
