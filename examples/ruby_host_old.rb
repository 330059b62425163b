# The control of ruby_host.rb: its first rows with pthread_once, and the GVL taken inside or outside of it. Built as that says:
#   export RUBYLIB=target LD_LIBRARY_PATH=target/release
#   ruby examples/ruby_host_old.rb
require_relative "ruby_host"

ORDERS = { 1 => "GVL inside pthread_once", 2 => "GVL outside pthread_once" }
RECOVERS = [[1, "neither holds the GVL"], [1, "the first holds it"]]
LIMIT = 5

# At ten looks all threads of the process slept, two at least in a lock (it is 202, futex), and it used no time.
def asleep?(pid)
  looks = Array.new(10) do
    sleep 0.1
    Dir["/proc/#{pid}/task/*"].map do |task|
      state, *fields = File.read("#{task}/stat").rpartition(")").last.split
      { sleeps: state == "S", time: fields[10, 2].sum(&:to_i),
        lock: /^202 |futex/.match?(File.read("#{task}/syscall") + File.read("#{task}/wchan")) }
    end
  end
  times = looks.map { |tasks| tasks.sum { _1[:time] } }
  looks.all? { |tasks| tasks.all? { _1[:sleeps] } && tasks.count { _1[:lock] } >= 2 } && times.last - times.first <= 1
end

# How the row of each process ends, within the limit.
def outcomes(running)
  late = Thread.new { sleep LIMIT }
  ended = running.map { |pid| Process.detach(pid) }
  sleep 0.01 while late.alive? && ended.any?(&:alive?)
  ended.map do |process|
    next process.value.success? ? "done" : "FAILED: #{process.value}" unless process.alive?
    3.times.any? { asleep?(process.pid) } ? "HANG (seen asleep in a lock after #{LIMIT} s)" : "still runs after #{LIMIT} s"
  end
ensure
  ended.each { |process| Process.kill("KILL", process.pid) if process.alive? }
end

as_claimed = ORDERS.flat_map do |order, name|
  rows = ROWS.keys.first(6)
  running = rows.map { |row| spawn(RbConfig.ruby, File.join(__dir__, "ruby_host.rb"), row, order.to_s) }
  rows.zip(outcomes(running)).map do |row, text|
    puts format("%-27s | %-24s | %s", row, name, text)
    text.start_with?(RECOVERS.include?([order, row]) ? "done" : "HANG")
  end
end
exit as_claimed.all?
