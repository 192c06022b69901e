/** A disk without room under captured calls. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { TARGET } from "../../../../test/helpers/gateway.ts";
import { ask, serve, until } from "../../../../test/helpers/serving.ts";
import { smallDisk } from "../../../../test/helpers/small-disk.ts";

setDefaultTimeout(120_000);

test("captured calls that find no room are counted, the calls and their records are not lost, and it goes on", async () => {
  const small = smallDisk(8 * 1024);
  if (!small) return;
  onTestFinished(() => small.end());
  const weir = await serve({
    config: JSON.stringify({ capture: { share: 1 } }),
    workers: 1,
    binary: TARGET === "binary",
    env: { WEIR_STATE: small.path },
  });
  onTestFinished(() => weir.end());
  const call = async (count: number) => {
    for (let at = 0; at < count; at++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  };
  const says = (text: string) => until(() => weir.log.some((line) => line.includes(text)), 20_000);
  await call(1);
  expect(await until(() => existsSync(join(small.path, "capture.db")), 20_000)).toBe(true);
  small.fill();
  await call(20);
  expect(await says("captured calls are lost:")).toBe(true);
  expect(await says("records of calls wait: the store cannot be written: the disk is full")).toBe(true);
  small.clear();
  await call(1);
  expect(await says("captured calls were lost; calls are captured again")).toBe(true);
  expect(await says("the books are written again")).toBe(true);
  const audit = weir.run("audit");
  expect([audit.code, audit.output]).toEqual([0, expect.stringMatching(/one record +22 calls/)]);
});
