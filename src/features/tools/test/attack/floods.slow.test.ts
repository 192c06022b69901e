/** Servers over HTTP that send too much: what that costs, and what another server notices. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { fakeServer, text } from "../support/servers.ts";
import { ModernClient, textOf } from "../support/clients.ts";
import { descriptorsOf, errorOf, rssOf, serveTools, toolsProcess } from "./place.ts";

setDefaultTimeout(240_000);

const MB = 1024 * 1024;
const DURING_MS = 4_000;

async function flooding(tools: number) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "flooding-server.ts"), String(tools)], {
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  return { url: new TextDecoder().decode(value).trim(), stop: () => child.kill("SIGKILL") };
}

test("limits hold, memory stays, and another server answers", async () => {
  const calm = fakeServer("modern", { echo: () => text("calm") });
  const wild = await flooding(1_200);
  const more = await flooding(5_001);
  const again = await flooding(0);
  const allow = ["*"];
  const gateway = await serveTools(
    {
      calm: { url: calm.url, allow },
      wild: { url: wild.url, allow, timeoutMs: 5_000 },
      more: { url: more.url, allow },
      again: { url: again.url, allow },
    },
    { workers: 2 },
  );
  const at = (server: string) => new ModernClient({ url: `${gateway.url}/mcp/${server}` });
  try {
    const list = async (server: string) => {
      const names: string[] = [];
      for (let cursor: string | undefined; ;) {
        const { message } = await at(server).request("tools/list", cursor === undefined ? {} : { cursor });
        const { result, error } = message as {
          result?: { tools: { name: string }[]; nextCursor?: string };
          error?: { code: number };
        };
        if (!result) return error!.code;
        names.push(...result.tools.map(({ name }) => name));
        if ((cursor = result.nextCursor) === undefined) return names;
      }
    };
    const pid = await toolsProcess(gateway, () => at("calm").call("echo"));
    const names = (await list("wild")) as string[];
    expect([names.length, new Set(names).size]).toEqual([1_200, 1_200]);
    expect([await list("more"), await list("again")]).toEqual([1005, 1005]);
    for (let warm = 0; warm < 200; warm++) await at("calm").call("echo");
    const codes: Record<string, number | string> = {};
    const figures: object[] = [];
    for (const tool of ["event", "many", "endless", "invalid", "deep"]) {
      const before = { rss: rssOf(pid), descriptors: descriptorsOf(pid) };
      let grown = 0;
      let slowest = 0;
      const flood = at("wild").call(tool);
      flood.catch(() => {});
      for (const end = performance.now() + DURING_MS; performance.now() < end; await Bun.sleep(20)) {
        const began = performance.now();
        expect(textOf(await at("calm").call("echo"))).toBe("calm");
        slowest = Math.max(slowest, performance.now() - began);
        grown = Math.max(grown, rssOf(pid) - before.rss);
      }
      codes[tool] = errorOf(await flood).code ?? "result";
      const figure = {
        ...{ tool, slowestMs: Math.round(slowest), grownMB: Math.round(grown / MB), code: codes[tool] },
        descriptors: descriptorsOf(pid) - before.descriptors,
      };
      figures.push(figure);
      console.log(JSON.stringify(figure));
    }
    // What a client can read is passed on: bytes that are no text as the replacement character, deep values as they are.
    expect(codes).toEqual({ event: 1005, many: 1003, endless: 1005, invalid: "result", deep: "result" });
    expect(figures.filter((one) => (one as { grownMB: number }).grownMB > 128)).toEqual([]);
  } finally {
    await gateway.end();
    for (const one of [calm, wild, more, again]) one.stop();
  }
});
