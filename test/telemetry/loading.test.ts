/** When the code of traces is loaded. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../helpers/documents.ts";

const PROGRAM = `
import { createRequire } from "node:module";
import { watchBooks } from ${JSON.stringify(join(ROOT, "src/keeper/books/telemetry.ts"))};
const loaded = () => Object.keys(createRequire(import.meta.path).cache).some((path) => path.includes("src/telemetry/"));
let observer;
const books = { observers: { add: (added) => (observer = added), sent() {} }, reporter: { other() {} } };
const telemetry = watchBooks(books);
telemetry.settings({});
observer.records({ calls: [] });
await telemetry.close();
const before = loaded();
telemetry.settings({ traces: { url: "http://127.0.0.1:1", headers: {}, share: 1, parent: "respect", service: "weir" } });
await telemetry.close();
console.log(before, loaded());
`;

test("the code of traces is loaded when the config has them, and not before", () => {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", PROGRAM]);
  expect([stdout.toString(), stderr.toString()]).toEqual(["false true\n", ""]);
});
