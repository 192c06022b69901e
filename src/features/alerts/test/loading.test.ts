/** When the code of alerts is loaded. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../../../test/helpers/documents.ts";

const PROGRAM = `
import { createRequire } from "node:module";
import { start } from ${JSON.stringify(join(ROOT, "src/features/alerts/keeper.ts"))};
const loaded = () => Object.keys(createRequire(import.meta.path).cache).some((path) => path.includes("alerts/alerts.ts"));
let observer;
const counted = [];
const part = start({ offers: {}, write: async () => {}, observe: (added) => (observer = added), report() {}, count: (_, [result]) => counted.push(result) });
const { receive } = part.connect();
receive([]);
observer.records({ calls: [] });
observer.state(1, { breakers: [] });
observer.store("the disk is full");
await part.close();
const before = loaded();
receive([{ url: "http://127.0.0.1:1", events: ["budget"], format: "json", errorShare: 0.2 }]);
await part.close();
console.log(before, loaded(), counted.join());
`;

test("the code of alerts is loaded when the config has a receiver, and not before", () => {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", PROGRAM]);
  expect([stdout.toString(), stderr.toString()]).toEqual(["false true delivered,lost\n", ""]);
});
