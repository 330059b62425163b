# Shows and checks what ruby_host.c does, each row in a process of its own. From the repository, when that is built:
#   export RUBYLIB=target LD_LIBRARY_PATH=target/release
#   ruby examples/ruby_host.rb
require "ruby_host"
require "timeout"

ROW, ORDER = ARGV[0], ARGV[1].to_i
OK, QUEUED, CALLBACK, DEFERRED, HOST, INTERRUPTED = 0, 1, -5, -4, -9, -15
Stop = Class.new(StandardError)

def check(got, wanted) = got == wanted || abort("#{caller(1, 1)[0]}: #{got.inspect} instead of #{wanted.inspect}")
def status = Thread.current.instance_variable_get(:@status)
def poll = (sleep 0.001 until yield)
def until_waiting(gate, threads) = ORDER == 0 ? poll { gate.info[1] >= threads } : sleep(0.5) # the old ways can't tell

def pair(first, second)
  runs, arrived = 0, false
  gate = Gate.new(ORDER) { runs += 1; poll { arrived }; until_waiting(gate, 1) }
  a = Thread.new { gate.enter(first) }
  poll { runs == 1 }
  b = Thread.new { arrived = true; gate.enter(second) }
  check [a.value, b.value, runs], [OK, OK, 1]
end

# Several threads at once, every second one without the GVL. Returns what each got, a status or an exception.
def storm(gate, count)
  go = Queue.new
  threads = Array.new(count) { |i| Thread.new { go.pop; gate.enter(i.odd?) rescue $! } }
  poll { go.num_waiting == count }
  go.close
  threads.map(&:value)
end

# Yields a gate whose initializer runs on another thread until the block is left, or calls `finish`.
def while_initializing
  over = false
  gate = Gate.new(0) { poll { over } }
  other = Thread.new { gate.enter(false) }
  poll { gate.info[0] == 1 }
  yield gate, finish = -> { over = true }
  finish.call
  check [other.value, *gate.info], [OK, 4, 0, 0]
end

# A waiting thread whose wait the block ends, or else the limit; with this error. Nothing was run or queued.
def given_up(error, limit: nil, &ends)
  [false, true].each do |released|
    ran = []
    while_initializing do |gate|
      waiter = Thread.new do
        Timeout.timeout(limit) { gate.enter(released) { ran << 1 } }
      ensure
        check [status, *gate.info], [INTERRUPTED, 1, 0, 0]
      end
      waiter.report_on_exception = false
      (until_waiting(gate, 1); ends.call(waiter)) if ends
      check (waiter.value rescue $!.class), error
    end
    check ran, []
  end
end

ROWS = {
  "neither holds the GVL" => -> { pair(true, true) },
  "the second holds it" => -> { pair(true, false) },
  "the first holds it" => -> { pair(false, true) },
  "both hold it" => -> { pair(false, false) },
  "16 at a barrier" => lambda do
    runs = 0
    gate = Gate.new(ORDER) { runs += 1; until_waiting(gate, 15) }
    check [storm(gate, 16), runs], [[OK] * 16, 1]
    50.times { check storm(Gate.new(ORDER) { 3.times { sleep 0.0001 } }, 16), [OK] * 16 }
  end,
  "cold require" => lambda do
    files = %w[net/http csv erb optparse tempfile json psych]
    check $LOADED_FEATURES.grep(%r{/(#{files.join("|")})\.rb}), []
    check storm(Gate.new(ORDER) { files.each { |file| require file } }, 8), [OK] * 8
  end,
  "nested" => lambda do
    inner = Gate.new(0) { sleep 0.001 }
    outer = Gate.new(0) { inner.enter(true); GC.start; until_waiting(outer, 1) }
    check [outer, inner, outer].map { |gate| Thread.new { gate.enter(false) } }.map(&:value), [OK] * 3
  end,
  "Timeout" => -> { given_up(Timeout::Error, limit: 0.5) },
  "Thread#raise" => -> { given_up(Stop) { |waiter| waiter.raise(Stop) } },
  "Thread#kill" => -> { given_up(nil, &:kill) },
  "raised before the wait" => lambda do
    while_initializing do |gate|
      Thread.handle_interrupt(Stop => :on_blocking) { Thread.current.raise(Stop); gate.enter(false) { abort } } rescue nil
      check status, INTERRUPTED
    end
  end,
  "a trap, and a masked raise" => lambda do
    traps, ran = 0, []
    trap("USR1") { traps += 1 }
    while_initializing do |gate, finish|
      Thread.handle_interrupt(Stop => :never) do
        Thread.new do
          until_waiting(gate, 1)
          Process.kill("USR1", $$); poll { traps == 1 }
          Thread.main.raise(Stop); poll { Thread.main.pending_interrupt? && gate.info[1] == 1 }
          finish.call
        end
        check gate.enter(false) { ran << 1 }, OK
      end
    rescue Stop
      ran << 2
    end
    check ran, [1, 2]
  end,
  "Ctrl-C" => lambda do
    while_initializing do |gate|
      Thread.new { until_waiting(gate, 1); Process.kill("INT", $$) }
      check gate.enter(true), INTERRUPTED
    rescue Interrupt
      check status, INTERRUPTED
    end
  end,
  "foreign thread" => lambda do
    ran, gate = [], Gate.new(0) { sleep 0.001 }
    check gate.enter_foreign, HOST
    check gate.enter_foreign { ran << Thread.current }, QUEUED
    while_initializing { |busy| check busy.enter_foreign, HOST }
    check [gate.enter(false), ran], [OK, [Thread.current]]
    check [gate.enter_foreign, gate.enter_foreign { abort }], [OK, HOST]
  end,
  "exceptions" => lambda do
    runs = 0
    gate = Gate.new(0) { sleep 0.001; raise Stop, "no device" if (runs += 1) < 3 }
    got = storm(gate, 6)
    check [got.grep(Stop).map(&:message), got.count(OK), runs], [["no device"] * 2, 4, 3]
    check [(gate.enter(false) { raise Stop } rescue $!.class), status], [Stop, CALLBACK]
    check [catch(:out) { gate.enter(true) { throw :out, 7 } }, status], [7, CALLBACK]
    fresh = Gate.new(0) {}
    check fresh.enter(true) { raise Stop if (runs += 1) < 5 }, QUEUED
    check [(fresh.enter(true) rescue $!.class), status, fresh.enter(true), runs], [Stop, DEFERRED, OK, 5]
  end,
  "exit while others wait" => lambda do
    gate = Gate.new(0) { sleep }
    4.times { |i| Thread.new { gate.enter(i.odd?) } }
    until_waiting(gate, 3)
  end,
}

ROWS.fetch(ROW).call if ROW
if $0 == __FILE__ && !ROW
  run = ["timeout", "-s", "KILL", "60", RbConfig.ruby, "-W", __FILE__]
  exit ROWS.keys.map { |row| system(*run, row).tap { |done| puts "#{row.ljust(27)} | #{done ? "done" : $?}" } }.all?
end
