/** Secrets that change while calls run. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { ROOT_TOKEN, startVault } from "./fake-vault.ts";

setDefaultTimeout(60_000);

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

const ANSWER = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "some-model" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** A host that takes one key, and a gateway that has it from a Vault. */
async function rotating(refresh?: string) {
  const vault = startVault();
  vault.put("llm", { openai: "first-key-of-the-host-0001" });
  const host = { key: "first-key-of-the-host-0001", since: 0, firstAfter: 0, refused: 0 };
  const upstream = startUpstream(({ headers }) => {
    if (headers.get("authorization") !== `Bearer ${host.key}`) {
      host.refused++;
      return json({ error: { message: "wrong key" } }, 401);
    }
    if (host.firstAfter === 0 && host.since > 0) host.firstAfter = performance.now();
    return json(ANSWER);
  });
  const running = await startGateway({
    config: {
      state: "none",
      workers: 1,
      secrets: {
        vault: { address: vault.url, auth: { token: "${VAULT_ROOT}" } },
        ...(refresh !== undefined && { refresh }),
      },
      retries: { attempts: 1 },
      providers: {
        host: {
          ...{ baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["some-model"] },
          apiKey: "${vault:secret/data/llm#openai}",
        },
      },
    },
    env: { VAULT_ROOT: ROOT_TOKEN },
  });
  open.push(vault, upstream, running);
  const rotate = (key: string) => {
    vault.put("llm", { openai: key });
    [host.key, host.since, host.firstAfter] = [key, performance.now(), 0];
  };
  return { vault, host, upstream, running, rotate };
}

const reads = (asked: readonly string[]) => asked.filter((line) => line.includes("secret/data")).length;

test("a key that is rotated while calls run: none fails, and the new one is in use within a second", async () => {
  const { vault, host, running, rotate } = await rotating();
  const before = reads(vault.asked);
  const statuses: number[] = [];
  let sent = 0;
  const caller = async () => {
    while (sent < 1_000) {
      if (++sent === 400) rotate("second-key-of-the-host-0002");
      statuses.push((await ask(running.url, "host/some-model")).status);
    }
  };
  await Promise.all(Array.from({ length: 20 }, caller));
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(statuses.length).toBeGreaterThanOrEqual(1_000);
  expect(host.refused).toBeGreaterThan(0);
  expect(host.firstAfter - host.since).toBeLessThan(1_000);
  expect(reads(vault.asked) - before).toBe(1);
});

test("a thousand calls that are refused at once read the secret once, and wait for a slow store together", async () => {
  const { vault, running, rotate } = await rotating();
  await ask(running.url, "host/some-model");
  rotate("second-key-of-the-host-0002");
  vault.delayMs = 500;
  const before = reads(vault.asked);
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, () => ask(running.url, "host/some-model").then(({ status }) => status)),
  );
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(reads(vault.asked) - before).toBe(1);
  expect(performance.now() - began).toBeGreaterThan(450);
});

test("a refused key that has not changed is refused: the store is asked once in ten seconds", async () => {
  const { vault, host, running } = await rotating();
  host.key = "a-key-that-no-store-has";
  const before = reads(vault.asked);
  const answers = [];
  for (let call = 0; call < 5; call++) answers.push((await ask(running.url, "host/some-model")).status);
  expect(new Set(answers)).toEqual(new Set([502]));
  expect(reads(vault.asked) - before).toBe(1);
});

test("a store that is slow or down blocks no call; the last value stays, and weir says so", async () => {
  const { vault, running } = await rotating();
  vault.delayMs = 500;
  const began = performance.now();
  for (let call = 0; call < 20; call++) expect((await ask(running.url, "host/some-model")).status).toBe(200);
  expect((performance.now() - began) / 20).toBeLessThan(200);
  await vault.stop();
  for (let call = 0; call < 5; call++) expect((await ask(running.url, "host/some-model")).status).toBe(200);
});

test("a header of a provider follows its secret, and its other text stays", async () => {
  const seen: (string | null)[] = [];
  const vault = startVault();
  vault.put("llm", { team: "team-secret-0001" });
  const upstream = startUpstream(({ headers }) => {
    seen.push(headers.get("x-team"));
    return headers.get("x-team") === `team ${vault.kv.get("llm")!.data["team"] as string}`
      ? json(ANSWER)
      : json({ error: { message: "no" } }, 401);
  });
  const running = await startGateway({
    config: {
      state: "none",
      workers: 1,
      secrets: { vault: { address: vault.url } },
      providers: {
        host: {
          ...{ baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["some-model"] },
          headers: { "x-team": "team ${vault:secret/data/llm#team}" },
        },
      },
    },
    env: { VAULT_TOKEN: ROOT_TOKEN },
  });
  open.push(vault, upstream, running);
  expect((await ask(running.url, "host/some-model")).status).toBe(200);
  vault.put("llm", { team: "team-secret-0002" });
  expect((await ask(running.url, "host/some-model")).status).toBe(200);
  expect(seen).toEqual(["team team-secret-0001", "team team-secret-0001", "team team-secret-0002"]);
});

test("a store that goes away is said once, and again when it is back; a new value needs no refusal", async () => {
  const { vault, host, running, rotate } = await rotating("1s");
  const lines = (text: string) => running.log.filter((line) => line.includes(text)).length;
  const health = async () => (await (await fetch(`${running.url}/health`)).json()) as { degraded?: string[] };
  expect((await health()).degraded).toBeUndefined();
  vault.failsWith = 503;
  expect(await until(() => lines("secrets_stale") === 1, 10_000)).toBe(true);
  expect((await health()).degraded).toEqual(["secrets"]);
  expect(running.log.join("\n")).toContain(
    "secrets_stale: the secret ${vault:secret/data/llm#openai} cannot be read: Vault answered with status 503: fake failure; the last value stays in use",
  );
  await Bun.sleep(1_500);
  expect(lines("secrets_stale")).toBe(1);
  rotate("second-key-of-the-host-0002");
  vault.failsWith = 0;
  expect(await until(() => lines("can be read again") === 1, 10_000)).toBe(true);
  expect((await ask(running.url, "host/some-model")).status).toBe(200);
  expect(host.refused).toBe(0);
  expect((await health()).degraded).toBeUndefined();
});

test("a key of clients that is rotated: the new one is valid without a restart, and the old one a minute longer", async () => {
  const vault = startVault();
  vault.put("llm", { client: "first-key-of-a-client-0001" });
  const running = await startGateway({
    config: {
      state: "none",
      workers: 1,
      secrets: { refresh: "1s", vault: { address: vault.url } },
      keys: [{ name: "app", key: "${vault:secret/data/llm#client}" }],
    },
    env: { VAULT_TOKEN: ROOT_TOKEN },
  });
  open.push(vault, running);
  const status = async (key: string) => {
    const response = await fetch(`${running.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await response.text();
    return response.status;
  };
  expect(await status("first-key-of-a-client-0001")).toBe(200);
  expect(await status("second-key-of-a-client-0002")).toBe(401);
  vault.put("llm", { client: "second-key-of-a-client-0002" });
  expect(await until(async () => (await status("second-key-of-a-client-0002")) === 200, 10_000)).toBe(true);
  expect(await status("first-key-of-a-client-0001")).toBe(200);
  expect(await status("third-key-of-a-client-0003")).toBe(401);
});
