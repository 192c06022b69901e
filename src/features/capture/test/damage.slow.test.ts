/** Damage to capture.db: the gateway starts and captures on, or says that it cannot. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../keeper/store/database.ts";
import { TARGET } from "../../../../test/helpers/gateway.ts";
import { ask, serve, until } from "../../../../test/helpers/serving.ts";
import { CAPTURE_MIGRATIONS } from "../file.ts";

setDefaultTimeout(120_000);

const HARMS: readonly [what: string, harm: (file: string) => void, captures: boolean][] = [
  ["emptied", (file) => truncateSync(file, 0), true],
  ["a random head", (file) => writeFileSync(file, crypto.getRandomValues(new Uint8Array(8_192))), false],
  ["text in its place", (file) => writeFileSync(file, "text"), false],
  ["removed", (file) => rmSync(file), true],
  ["a folder in its place", (file) => (rmSync(file), mkdirSync(file)), false],
];

test.each(HARMS)("capture.db: %s", async (_, harm, captures) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-capture-damage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "capture.db");
  openDatabase(file, CAPTURE_MIGRATIONS).close();
  harm(file);
  const weir = await serve({
    config: JSON.stringify({ capture: { share: 1 } }),
    workers: 1,
    binary: TARGET === "binary",
    env: { WEIR_STATE: folder },
  });
  onTestFinished(() => weir.end());
  expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  const isKept = () => {
    const { output } = weir.run("logs", "--json");
    const id = /"id": "(req_[^"]+)"/.exec(output)?.[1];
    return id !== undefined && weir.run("logs", "--call", id, "--body").code === 0;
  };
  const isReported = () => weir.log.some((line) => line.includes("captured calls are lost:"));
  expect(await until(captures ? isKept : isReported, 20_000)).toBe(true);
});
