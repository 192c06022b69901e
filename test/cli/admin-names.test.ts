/** The admin listener follows a reload of the names by which clients reach it, in a process of its own too. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { TARGET } from "../helpers/gateway.ts";
import { serve, until } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

for (const workers of [1, 2])
  test(`with ${workers} worker(s), names and admin.names of a reloaded config hold at once`, async () => {
    const configOf = (names: string[], own: string[]) => JSON.stringify({ names, admin: { names: own } });
    const weir = await serve({ config: configOf(["one.example"], []), workers, binary: TARGET === "binary" });
    try {
      const [, admin] = weir.log.join("\n").match(/console (http:\/\/127\.0\.0\.1:\d+)\/console/) ?? [];
      const allowed = async (host: string) =>
        (await fetch(`${admin}/admin/v1/status`, { headers: { host } })).status !== 403;
      const hosts = async () => [
        await allowed("one.example"),
        await allowed("two.example"),
        await allowed("three.example"),
      ];
      expect(await hosts()).toEqual([true, false, false]);
      weir.configure(configOf(["two.example"], ["three.example"]));
      weir.signal("SIGHUP");
      expect(await until(() => allowed("three.example"), 30_000)).toBe(true);
      expect(await hosts()).toEqual([false, true, true]);
      weir.configure("{}");
      weir.signal("SIGHUP");
      expect(await until(async () => !(await allowed("two.example")), 30_000)).toBe(true);
      expect(await hosts()).toEqual([false, false, false]);
    } finally {
      await weir.end();
    }
  });
