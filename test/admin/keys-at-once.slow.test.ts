/** What the admin API has answered about keys holds for calls that begin then, at every worker. */
import { readFileSync } from "node:fs";
import { expect, setDefaultTimeout, test } from "bun:test";
import { serve } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const ROUNDS = 60;

interface Created {
  readonly key: { readonly id: string };
  readonly secret: string;
}

test("a new key admits, a revoked one does not, and an opened gateway needs none", async () => {
  const gateway = await serve({ workers: 2, config: "{}" });
  const [file] = new Bun.Glob("run/**/*.json").scanSync({ cwd: gateway.folder, absolute: true, dot: true });
  const { admin } = JSON.parse(readFileSync(file!, "utf8")) as { admin: { url: string; credential: string } };
  const change = async (method: string, path: string, body?: object): Promise<Created> => {
    const got = await fetch(`${admin.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${admin.credential}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(got.ok, `${method} ${path}: ${got.status}`).toBe(true);
    return (await got.json()) as Created;
  };
  /** Each on a connection of its own, so that both workers have some. */
  const statuses = async (key?: string) => {
    const call = async () => {
      const headers = { connection: "close", ...(key !== undefined && { authorization: `Bearer ${key}` }) };
      const got = await fetch(`${gateway.url}/v1/models`, { headers });
      await got.text();
      return got.status;
    };
    return [...new Set(await Promise.all([call(), call(), call(), call()]))];
  };
  try {
    const lasting = await change("POST", "/keys", { name: "lasting" });
    const seen = { created: new Set<number>(), revoked: new Set<number>(), other: new Set<number>() };
    let isOver = false;
    // The workers are busy when they hear of a change.
    const busy = Array.from({ length: 3 }, async () => {
      while (!isOver) for (const status of await statuses(lasting.secret)) seen.other.add(status);
    });
    for (let round = 0; round < ROUNDS; round++) {
      const { key, secret } = await change("POST", "/keys", { name: `key-${round}` });
      for (const status of await statuses(secret)) seen.created.add(status);
      await change("DELETE", `/keys/${key.id}`);
      for (const status of await statuses(secret)) seen.revoked.add(status);
    }
    isOver = true;
    await Promise.all(busy);
    expect(seen).toEqual({ created: new Set([200]), revoked: new Set([401]), other: new Set([200]) });
    await change("DELETE", `/keys/${lasting.key.id}`);
    expect(await statuses()).toEqual([401]);
    for (let round = 0; round < ROUNDS / 4; round++) {
      await change("POST", "/access/open");
      expect(await statuses()).toEqual([200]);
      const { key } = await change("POST", "/keys", { name: `next-${round}` });
      expect(await statuses()).toEqual([401]);
      await change("DELETE", `/keys/${key.id}`);
    }
  } finally {
    await gateway.end();
  }
});
