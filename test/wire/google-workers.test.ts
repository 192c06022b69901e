/** What Google keeps for a key, with two workers and one store, and after a restart. */
import { GoogleGenAI } from "@google/genai";
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGoogle } from "../helpers/google-caches.ts";
import { startInteractions } from "../helpers/google-interactions.ts";
import { seeError } from "../helpers/sdk.ts";
import { serve, type Serving } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const contents = [{ role: "user", parts: [{ text: "A long book." }] }];

test("every worker knows whose it is and where, also after a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-google-"));
  const caches = startGoogle();
  const talks = startInteractions();
  const deployments = ["one", "two"].map((name) => ({ name, apiKey: `key-of-account-${name}` }));
  const traits = { storesAnswers: true };
  const talking = { baseUrl: talks.url, deployments, traits, speaks: "interactions", models: ["talk"] };
  const config = JSON.stringify({
    providers: { gemini: { baseUrl: caches.url, deployments }, talking },
  });
  const start = (workers: number) => serve({ config, workers, env: { WEIR_STATE: folder } });
  const stop = async (weir: Serving) => {
    weir.signal("SIGTERM");
    await weir.exited;
    await weir.end();
  };
  const first = await start(2);
  const keys = ["one", "two"].map(
    (name) => /weir_sk_[\w-]+/.exec(first.run("keys", "create", name).output)![0],
  );
  const names: string[] = [];
  const ids: string[] = [];
  const check = async (baseUrl: string) => {
    // New connections reach both workers.
    const [own, other] = keys.map(
      (apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl, headers: { connection: "close" } } }),
    ) as [GoogleGenAI, GoogleGenAI];
    for (let round = 0; round < 4; round++) {
      names.push((await own.caches.create({ model: "gemini-2.5-flash", config: { contents } })).name!);
      ids.push((await own.interactions.create({ model: "talking/talk", input: `Who ${round}?` })).id);
    }
    for (const name of names) {
      const config = { cachedContent: name };
      const ask = (client: GoogleGenAI) =>
        client.models.generateContent({ model: "gemini-2.5-flash", contents: "Who?", config });
      expect((await ask(own)).text).toBe("yes");
      expect((await seeError(() => ask(other))).status).toBe(404);
    }
    for (const id of ids) {
      expect(await own.interactions.get(id)).toMatchObject({ id });
      expect((await seeError(() => other.interactions.get(id))).status).toBe(404);
    }
    const listed: string[] = [];
    for await (const { name } of await own.caches.list()) listed.push(name!);
    expect(listed.toSorted()).toEqual(names.toSorted());
  };
  await check(first.url);
  await stop(first);
  const second = await start(1);
  await check(second.url);
  await stop(second);
  for (const fake of [caches, talks]) fake.stop();
  await rm(folder, { recursive: true, force: true });
});
