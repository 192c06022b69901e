/** When the code of traces is loaded, in the keeper and in a worker. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../../../test/helpers/documents.ts";

const FOLDER = join(ROOT, "src/features/traces");
const LOADED = `import { createRequire } from "node:module";
const loaded = (name) => Object.keys(createRequire(import.meta.path).cache).some((path) => path.endsWith("traces/" + name));
`;

const KEEPER = `${LOADED}
import { start } from ${JSON.stringify(join(FOLDER, "keeper.ts"))};
let observer;
const counted = [];
const part = start({ observe: (added) => (observer = added), report() {}, keyName: (id) => id, count: (_, [result]) => counted.push(result) });
const { receive } = part.connect();
receive({});
observer.records({ calls: [] });
await part.close();
const before = loaded("sending.ts");
receive({ settings: { url: "http://127.0.0.1:1", headers: {}, share: 1, parent: "respect", service: "weir" } });
await part.close();
console.log(before, loaded("sending.ts"), counted.join());
`;

const WORKER = `${LOADED}
import { start } from ${JSON.stringify(join(FOLDER, "worker.ts"))};
const sent = [];
const part = start({ channel: () => ({ isUp: true, send: (message) => sent.push(message), listen() {} }) });
const serve = async (to) => {
  const config = { traces: { to, headers: {}, share: 1, parent: "respect", service: "weir" }, metrics: {} };
  await part.seams(config);
  part.serves(config);
  return part.recorder(config) !== undefined;
};
const notes = [await serve(undefined)];
const before = loaded("facts.ts");
notes.push(await serve("http://127.0.0.1:1"), await serve(undefined));
console.log(notes.join(), before, loaded("facts.ts"), loaded("sending.ts"), sent.map(({ settings }) => settings?.url ?? "none").join());
`;

function printed(program: string): string[] {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  return [stdout.toString(), stderr.toString()];
}

test("the keeper loads the code of traces when the config has them, and not before", () => {
  expect(printed(KEEPER)).toEqual(["false true exported,dropped,refused\n", ""]);
});

test("a worker loads the code of the facts alone when the config has traces, and tells the keeper", () => {
  expect(printed(WORKER)).toEqual([
    "false,true,false false true false none,http://127.0.0.1:1/v1/traces,none\n",
    "",
  ]);
});
