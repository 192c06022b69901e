/** Workers open no database and make no spans: a module that they load is in the list that a plugin in the worker reads. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { TARGET } from "../helpers/gateway.ts";
import { ask, serve } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const PLUGIN = `import { definePlugin, NO_USAGE } from "weir";
import { createRequire } from "node:module";
async function* generate(request) {
  yield { type: "message-start", id: "x", model: request.model };
  yield { type: "block-start", index: 0, block: { type: "text" } };
  yield { type: "block-delta", index: 0, delta: Object.keys(createRequire(import.meta.path).cache).join(" ") };
  yield { type: "block-end", index: 0 };
  yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE } };
}
export default definePlugin({ name: "modules", providers: [{ name: "modules", generate }] });
`;

test("a worker has loaded no module of a database, and none of traces", async () => {
  // The binary is one module.
  if (TARGET === "binary") return;
  const config = "traces: { to: http://127.0.0.1:1 }";
  const weir = await serve({ config, workers: 2, binary: false, plugins: { "modules.ts": PLUGIN } });
  try {
    const { status, text } = await ask(weir.url, "modules/x");
    expect([status, text]).toEqual([200, expect.stringContaining("src/ledger/worker/ledger.ts")]);
    expect(
      text.match(
        /\S*(?:sqlite|postgres\/|keeper\/database|features\/traces\/(?:sending|spans|exporter|otlp))\S*/g,
      ),
    ).toBeNull();
  } finally {
    await weir.end();
  }
});
