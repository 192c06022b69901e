/** `weir status` and `weir stop`: the gateways of a user, found and ended. */
import { afterEach, expect, test } from "bun:test";
import { runCommand } from "../helpers/command.ts";
import { TARGET } from "../helpers/gateway.ts";
import { serve, type Serving } from "../helpers/serving.ts";

const LONG_MS = 60_000;
const running: Serving[] = [];

afterEach(async () => {
  for (const weir of running.splice(0)) await weir.end();
});

async function start(env: Record<string, string> = {}, workers = 1): Promise<Serving> {
  const weir = await serve({ config: "{}", workers, binary: TARGET === "binary", env });
  running.push(weir);
  return weir;
}

interface Listed {
  gateways: { port: number; pid: number; folder: string; admin: string; status: string; version: string }[];
}

/** As the same user, from another folder. */
const weir = ({ folder }: Serving, ...args: string[]) => runCommand(args, { cwd: folder });

test(
  "a gateway is listed with its folder and process, and stops; then there is none",
  async () => {
    const serving = await start({}, 2);
    const port = Number(new URL(serving.url).port);
    const { code, out } = await weir(serving, "status", "--json");
    const { gateways } = JSON.parse(out) as Listed;
    expect([code, gateways]).toEqual([
      0,
      [expect.objectContaining({ port, pid: serving.pid, folder: serving.folder, status: "ok" })],
    ]);
    expect((await weir(serving, "status")).out).toContain(serving.folder);

    const stopped = await weir(serving, "stop");
    expect([stopped.code, stopped.out]).toEqual([
      0,
      `stopped the gateway on port ${port} (pid ${serving.pid})\n`,
    ]);
    expect(await serving.exited).toBe(0);
    const after = await weir(serving, "status");
    expect([after.code, after.err]).toEqual([
      1,
      "weir: no gateway of this user is running; start one with weir serve\n",
    ]);
    expect(JSON.parse((await weir(serving, "status", "--json")).out)).toEqual({ gateways: [] });
    const twice = await weir(serving, "stop");
    expect([twice.code, twice.err]).toEqual([
      1,
      expect.stringContaining("no gateway of this user is running"),
    ]);
  },
  LONG_MS,
);

test(
  "with several gateways stop names each with its folder, and ends the one that --port names",
  async () => {
    const one = await start();
    const other = await start({ HOME: one.folder, XDG_RUNTIME_DIR: `${one.folder}/run` });
    const unclear = await weir(one, "stop");
    expect(unclear.code).toBe(1);
    for (const { url, pid, folder } of [one, other])
      expect(unclear.err).toMatch(new RegExp(`port ${new URL(url).port} +pid ${pid} +${folder}`));
    const { port } = new URL(other.url);
    const { out } = await weir(one, "stop", "--port", port, "--json");
    expect(JSON.parse(out)).toEqual({
      stopped: { port: Number(port), pid: other.pid, folder: other.folder },
    });
    expect(await other.exited).toBe(0);
    const { out: left } = await weir(one, "status", "--json");
    expect((JSON.parse(left) as Listed).gateways.map(({ pid }) => pid)).toEqual([one.pid]);
  },
  LONG_MS,
);

test(
  "stop waits for an answer that runs",
  async () => {
    const serving = await start();
    const response = await fetch(`${serving.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "mock/pace-100",
        stream: true,
        messages: [{ role: "user", content: "Say a few words that take a while" }],
      }),
    });
    const [stopped, text] = await Promise.all([weir(serving, "stop"), response.text()]);
    expect([stopped.code, text]).toEqual([0, expect.stringContaining("data: [DONE]")]);
  },
  LONG_MS,
);
