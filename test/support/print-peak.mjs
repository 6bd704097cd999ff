// Preloaded by a test: each process prints its peak memory in KiB when it exits and, in a child, at each message.
const print = () => process.stderr.write(`peak ${process.resourceUsage().maxRSS}\n`);
process.on('exit', print);
const { send } = process;
if (send !== undefined) {
  process.send = function (...message) {
    print();
    return send.apply(this, message);
  };
}
