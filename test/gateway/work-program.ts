/** A gateway in a process of its own: does so many pieces of work at once, and dies in the middle of another one if it is told to. */
import { loadConfig } from "../../src/config/load.ts";
import type { WorkerHost } from "../../src/gateway/seams.ts";
import { startWeir } from "../../src/run/weir.ts";

const [folder = "", count = "0", end = ""] = process.argv.slice(2);
const { config } = loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
let host!: WorkerHost;
const start = (given: WorkerHost) => {
  host = given;
  return { seams: () => undefined };
};
const workers = [{ name: "shop", load: async () => ({ start }) }];
const weir = await startWeir({ config, env: {}, write: () => undefined, workers });
await weir.books();
const buy = (run: () => Promise<void>) =>
  host.work({ by: "shop", name: "buy", payer: {}, units: { call: 1 }, timeoutMs: 60_000, run });
const all = await Promise.allSettled(Array.from({ length: Number(count) }, () => buy(async () => {})));
console.log(all.filter(({ status }) => status === "fulfilled").length);
if (end === "die") {
  // What was done is reported; what is held is not.
  await Bun.sleep(300);
  await buy(async () => process.kill(process.pid, "SIGKILL") && undefined);
}
await weir.stop();
