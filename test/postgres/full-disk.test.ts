/** The server is away and the disk of the node is full: calls go on, and no record is lost once there is room again. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { ask, serve, until } from "../helpers/serving.ts";
import { smallDisk } from "../helpers/small-disk.ts";

setDefaultTimeout(120_000);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe.skipIf(missingPostgres !== undefined)("a node without its server", () => {
  test("whose spool finds no room keeps every record, also where the server returns first", async () => {
    const disk = smallDisk(8 * 1024);
    if (!disk) return;
    ends.push(() => disk.end());
    const server = await startPostgres();
    ends.push(() => server.close());
    const config = JSON.stringify({ store: server.url });
    const weir = await serve({ config, workers: 1, binary: false, env: { WEIR_STATE: disk.path } });
    ends.push(() => weir.end());
    const call = async (count: number) => {
      for (let at = 0; at < count; at++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    };
    const says = (text: string) => until(() => weir.log.some((line) => line.includes(text)), 30_000);
    await call(2);
    await server.stop();
    await call(5);
    expect(await says("records of calls wait: PostgreSQL cannot be reached")).toBe(true);
    disk.fill();
    await call(30);
    await server.start();
    await call(5);
    disk.clear();
    expect(await says("the books are written again")).toBe(true);
    await call(3);
    const audit = () => weir.run("audit").output;
    expect(await until(() => /one record +45 calls/.test(audit()), 20_000)).toBe(true);
    expect(audit()).toContain("The books hold.");
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(0);
  });
});
