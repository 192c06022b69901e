/** A gateway in a process of its own: prints its address, and its memory for each line that it reads. The argument is its config. */
import { startGateway } from "./gateway.ts";

const gateway = await startGateway({
  target: "source",
  config: JSON.parse(process.argv[2]!) as Record<string, unknown>,
});
await gateway.opened();
console.log(gateway.url);

let peak = 0;
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);

for await (const line of console) {
  if (line === "end") break;
  if (line === "reset") {
    Bun.gc(true);
    peak = process.memoryUsage.rss();
  }
  console.log(String(Math.max(peak, process.memoryUsage.rss())));
}
await gateway.stop();
process.exit(0);
