/** What a keeper that is killed leaves. `bun run stress` kills it 50 times. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { IS_STRESS } from "../../helpers/effort.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-kill-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KILLS = IS_STRESS ? 50 : 8;
const CALLS = 20;

/** Starts a writer and kills it after some batches. @returns the last one that it reported as stored */
async function killedWriter(path: string, batches: number): Promise<number> {
  const writer = Bun.spawn([process.execPath, join(import.meta.dir, "writer.ts"), path], {
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  let count = 0;
  for await (const chunk of writer.stdout) {
    text += new TextDecoder().decode(chunk);
    count = text.split("\n").length - 1;
    if (count >= batches) break;
  }
  writer.kill("SIGKILL");
  await writer.exited;
  expect(count).toBeGreaterThanOrEqual(batches);
  return Number(text.trimEnd().split("\n").at(-1));
}

test(`a writer that is killed ${KILLS} times loses no stored batch and stores none twice`, async () => {
  const path = join(folder, "weir.db");
  let acknowledged = 0;
  for (let kills = 0; kills < KILLS; kills++) acknowledged = await killedWriter(path, 3 + (kills % 5));
  const store = sqliteStore(path);
  await store.open();
  const seq = (await store.positions()).get("life")!;
  expect(seq).toBeGreaterThanOrEqual(acknowledged);
  expect(await store.sql.all("SELECT count(*) AS calls, count(DISTINCT request) AS ids FROM calls")).toEqual([
    { calls: seq * CALLS, ids: seq * CALLS },
  ]);
  expect(await store.sql.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  const { checks } = await new Reports(store.sql, store.sql).audit();
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  await store.close();
}, 120_000);
