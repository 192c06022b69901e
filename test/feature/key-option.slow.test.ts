/** A feature with an option of keys in a copy of the source: the processes of weir have the option by its line alone. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve, until } from "../helpers/serving.ts";
import { SourceCopy } from "../helpers/source-copy.ts";

setDefaultTimeout(120_000);

const MANIFEST = `
import { Type } from "@sinclair/typebox";
import type { Feature } from "../../feature/feature.ts";
import { keyOption } from "../../ledger/keys/option.ts";

const mostTools = keyOption<number>({
  name: "mostTools",
  schema: Type.Integer({ minimum: 0, description: "Most calls of tools in one call." }),
  flag: { name: "--most-tools", value: "N", help: "most calls of tools", read: Number },
  label: "Most calls of tools",
  narrows: (own = Infinity, maker) => (own <= maker ? undefined : "mostTools must be at most " + maker),
  words: (most) => "at most " + most + " calls of tools",
});

export const toolCount: Feature = { name: "tool-count", keyOptions: [mostTools] };
`;
const ADMIN = "weir-planted-admin-0001";
const CONFIG = `
keys: [{ name: ci, key: weir-planted-key-000001, mostTools: 3 }]
adminKeys: [{ name: boss, key: ${ADMIN}, role: admin }]
`;

let copy: SourceCopy;
let root = "";

beforeAll(() => {
  copy = new SourceCopy();
  ({ root } = copy);
  mkdirSync(join(root, "src/features/tool-count"));
  writeFileSync(join(root, "src/features/tool-count/index.ts"), MANIFEST);
  copy.add("toolCount", "src/features/tool-count/index.ts");
});

afterAll(() => copy.remove());

test.each([1, 2])("with %i workers", async (workers) => {
  const gateway = await serve({ root, workers, binary: false, config: CONFIG });
  try {
    const own = await fetch(`${gateway.url}/v1/key`, {
      headers: { authorization: "Bearer weir-planted-key-000001" },
    });
    expect(await own.json()).toMatchObject({ scopes: { most_tools: 3 } });

    const create = gateway.run("keys", "create", "app", "--most-tools", "2", "--json");
    expect([create.code, create.output]).toEqual([0, expect.stringContaining('"mostTools": 2')]);

    const admin = /(http\S+)\/console/.exec(gateway.log.join("\n"))?.[1];
    const ask = async (key: string, body?: object) => {
      const answer = await fetch(`${admin}/admin/v1/keys`, {
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
      return (await answer.json()) as { secret: string };
    };
    expect(await ask(ADMIN)).toMatchObject({
      options: expect.arrayContaining([
        { name: "mostTools", label: "Most calls of tools", type: "integer" },
      ]) as object,
    });
    const scopes = { mostTools: 2 };
    const { secret } = await ask(ADMIN, { name: "eng", kind: "admin", path: "/eng", scopes });
    expect(await ask(secret, { name: "more", path: "/eng/search", scopes: { mostTools: 9 } })).toMatchObject({
      error: { code: "not_permitted", path: "/mostTools" },
    });
  } finally {
    await gateway.end();
  }
});

test.each([1, 2])(
  "a build without the feature refuses calls of keys with its option, with %i workers",
  async (workers) => {
    const state = join(root, `state-${workers}`);
    const started = {
      workers,
      binary: false,
      config: CONFIG.replace(", mostTools: 3", ""),
      env: { WEIR_STATE: state },
    };
    const make = async (...args: string[]) => {
      const { code, output } = gateway.run("keys", "create", ...args, "--json");
      expect(code).toBe(0);
      return (
        JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as { secret: string }
      ).secret;
    };
    let gateway = await serve({ ...started, root });
    const [bound, free] = [await make("app", "--most-tools", "2"), await make("free")];
    const ask = async (key: string) => {
      const answer = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${key}` } });
      return [answer.status, await answer.text()] as const;
    };
    expect((await ask(bound))[0]).toBe(200);
    await gateway.end();
    gateway = await serve(started);
    try {
      // The keys of the store are known when one of them is accepted.
      expect(await until(async () => (await ask(free))[0] === 200)).toBe(true);
      const [status, text] = await ask(bound);
      expect([status, text]).toEqual([403, expect.stringContaining("unknown_restriction")]);
      expect(text).toContain("the restriction mostTools");
      const said = () =>
        gateway.log.filter((line) => line.includes("the key app has the restriction mostTools"));
      expect(await until(() => said().length > 0)).toBe(true);
      expect(said().length).toBe(1);
      expect(gateway.run("keys", "show", "app").output).toContain(
        "the key app has the restriction mostTools, which this build",
      );
      expect(gateway.run("keys", "revoke", "app", "--yes").code).toBe(0);
      expect(await until(async () => (await ask(bound))[0] === 401)).toBe(true);
    } finally {
      await gateway.end();
    }
  },
);
