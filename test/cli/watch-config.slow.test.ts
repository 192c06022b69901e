/** A gateway that reloads by itself: a pod whose config map and secret change, and nobody sends it a signal. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";
import { Volume } from "../helpers/volume.ts";

setDefaultTimeout(120_000);

const POD = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };
const PATIENCE_MS = 30_000;

let running: Serving | undefined;
let root = "";

afterEach(async () => {
  await running?.end();
  running = undefined;
  rmSync(root, { recursive: true, force: true });
});

const OPS = "weir-test-ops-key-0001";
const NEXT = "weir-test-ops-key-0002";

interface Pod {
  weir: Serving;
  config: Volume;
  secrets: Volume;
  admin: string;
}

const CONFIG = (secrets: string, alias: string) =>
  `aliases: { ${alias}: mock/chat }\nstop: { delayMs: 0 }\nadmin: { keys: [{ name: ops, key: "\${file:${secrets}/ops}", role: admin }] }\n`;

async function start(workers: number, env: Record<string, string> = POD): Promise<Pod> {
  root = mkdtempSync(join(tmpdir(), "weir-pod-"));
  const secrets = new Volume(join(root, "secrets"), { ops: OPS });
  const config = new Volume(join(root, "config"), { "weir.yaml": CONFIG(secrets.folder, "one") });
  const weir = await serve({ config: "{}", workers, env: { WEIR_CONFIG: config.path("weir.yaml"), ...env } });
  running = weir;
  let admin = "";
  await until(() => {
    admin =
      /http:\/\/127\.0\.0\.1:\d+(?=\/console| )/.exec(weir.log.join("\n").replaceAll(weir.url, ""))?.[0] ??
      "";
    return admin !== "";
  });
  return { weir, config, secrets, admin };
}

const reloads = ({ log }: Serving) =>
  log.filter((line) => line.includes("the configuration was reloaded")).length;

const serves = async (weir: Serving, model: string) => (await ask(weir.url, model)).status === 200;

describe.each([1, 2])("%d workers", (workers) => {
  test("take the config of a swapped volume, once, and keep the old one while the new one is wrong", async () => {
    const { weir, config, secrets } = await start(workers);
    expect(await serves(weir, "one")).toBe(true);
    expect(await serves(weir, "two")).toBe(false);
    config.swap({ "weir.yaml": CONFIG(secrets.folder, "two") });
    expect(await until(() => serves(weir, "two"), PATIENCE_MS)).toBe(true);
    config.swap({ "weir.yaml": "aliases: [\n" });
    const refused = () =>
      weir.log.some((line) => line.includes("the previous configuration is still active"));
    expect(await until(refused, PATIENCE_MS)).toBe(true);
    expect(await serves(weir, "two")).toBe(true);
    config.swap({ "weir.yaml": CONFIG(secrets.folder, "three"), "other.yaml": "" });
    expect(await until(() => serves(weir, "three"), PATIENCE_MS)).toBe(true);
    await Bun.sleep(3_500);
    expect(reloads(weir)).toBe(2);
  });

  test("take the key of a swapped secret, and refuse the one before", async () => {
    const { weir, secrets, admin } = await start(workers);
    const statusOf = async (key: string) =>
      (await fetch(`${admin}/admin/v1/keys`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await statusOf(OPS)).toBe(200);
    secrets.swap({ ops: NEXT });
    // The admin API lets an address wait that tries wrong keys, so the valid one is asked for.
    expect(await until(async () => (await statusOf(OPS)) === 401, PATIENCE_MS)).toBe(true);
    expect(await statusOf(NEXT)).toBe(200);
    // A secret that is taken away is a wrong config.
    secrets.swap({});
    const told = () => weir.log.some((line) => line.includes("cannot be read") && line.includes("previous"));
    expect(await until(told, PATIENCE_MS)).toBe(true);
    expect(await statusOf(NEXT)).toBe(200);
    secrets.swap({ ops: OPS });
    expect(await until(async () => (await statusOf(NEXT)) === 401, PATIENCE_MS)).toBe(true);
    expect(await statusOf(OPS)).toBe(200);
  });
});

test("elsewhere a change waits for a reload, unless the config says otherwise", async () => {
  const { weir, config, secrets } = await start(1, {});
  config.swap({ "weir.yaml": CONFIG(secrets.folder, "two") });
  await Bun.sleep(4_000);
  expect(reloads(weir)).toBe(0);
  expect(weir.run("reload")).toMatchObject({ code: 0 });
  expect(await serves(weir, "two")).toBe(true);
});

test("outside of Kubernetes `watch: on` reloads a file that an editor writes", async () => {
  running = await serve({ config: "watch: on\n", workers: 2 });
  const weir = running;
  expect(await serves(weir, "two")).toBe(false);
  weir.configure("watch: on\naliases: { two: mock/chat }\n");
  expect(await until(() => serves(weir, "two"), PATIENCE_MS)).toBe(true);
});
