/** Batches that Azure and Mistral run by their own batch APIs, with the files of weir. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeFamily, FLAVOURS } from "./fake-family.ts";

setDefaultTimeout(120_000);

const state = mkdtempSync(join(tmpdir(), "weir-native-family-"));
const hosts = {
  azure: new FakeFamily(FLAVOURS.azure),
  "azure-dated": new FakeFamily(FLAVOURS["azure-dated"]),
  mistral: new FakeFamily(FLAVOURS.mistral),
};
const MODELS = {
  azure: "azure/eu-gpt",
  "azure-dated": "azure-dated/eu-gpt",
  mistral: "mistral/mistral-small",
};
const price = { input: 1, output: 2 };

const gateway = await startGateway({
  env: { WEIR_STATE: state },
  config: {
    providers: {
      azure: { baseUrl: hosts.azure.url, apiKey: "k-azure-0123456789" },
      "azure-dated": {
        ...{ baseUrl: hosts["azure-dated"].url, apiKey: "k-azure-0123456789" },
        variables: { apiVersion: "2024-10-21" },
      },
      mistral: { baseUrl: hosts.mistral.url, apiKey: "k-mistral-0123456789" },
    },
    prices: Object.fromEntries(Object.values(MODELS).map((model) => [model, price])),
    // The two of Azure are known by their names, as each customer has an address of its own.
    batches: { native: { mistral: { api: "mistral" } }, poll: 1, limits: { perKey: 100 }, retries: 0 },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  for (const host of Object.values(hosts)) host.stop();
  rmSync(state, { recursive: true, force: true });
});
beforeEach(() => {
  for (const host of Object.values(hosts)) {
    host.billed.clear();
    host.batches.length = 0;
    host.wrong.length = 0;
    Object.assign(host, { called: 0, looks: 1, loses: 0, expires: false });
  }
});

const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });

type Seen = OpenAI.Batch & { weir: { how: string; cost: string } };

async function made(model: string, texts: readonly string[]): Promise<string> {
  const lines = texts.map((content, at) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: { model, max_tokens: 99, messages: [{ role: "user", content }] },
    }),
  );
  const file = await toFile(Buffer.from(lines.join("\n")), "in.jsonl");
  const { id } = await openai.files.create({ file, purpose: "batch" });
  const batch = await openai.batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return batch.id;
}

async function ended(id: string): Promise<Seen> {
  for (;;) {
    const batch = (await openai.batches.retrieve(id)) as Seen;
    if (["completed", "failed", "cancelled", "expired"].includes(batch.status)) return batch;
    await Bun.sleep(50);
  }
}

/** Results by `custom_id`: the text, the status of an error, or the code of a line without an answer. */
async function results({ output_file_id, error_file_id }: OpenAI.Batch): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const id of [output_file_id, error_file_id]) {
    const text = id ? await (await openai.files.content(id)).text() : "";
    for (const line of text.split("\n").filter(Boolean)) {
      const { custom_id, response, error } = JSON.parse(line) as {
        custom_id: string;
        response: { status_code: number; body: OpenAI.ChatCompletion } | null;
        error: { code: string } | null;
      };
      expect(found[custom_id]).toBeUndefined();
      const said = response?.body.choices?.[0]?.message.content;
      found[custom_id] = said ?? response?.status_code ?? error?.code;
    }
  }
  return found;
}

for (const name of ["azure", "azure-dated", "mistral"] as const)
  describe(name, () => {
    const host = hosts[name];
    const model = MODELS[name];

    test("lines go as one batch at the lower price", async () => {
      const batch = await ended(await made(model, ["one", "bad", "three"]));
      expect([host.wrong, host.called]).toEqual([[], 0]);
      expect(await results(batch)).toEqual({ l0: "You said one.", l1: 400, l2: "You said three." });
      expect(batch).toMatchObject({
        request_counts: { total: 3, completed: 2, failed: 1 },
        weir: { how: "native", cost: "0.00013" },
      });
      expect([host.batches.length, [...host.billed.values()]]).toEqual([1, [1, 1]]);
      expect(host.batches[0]!.wanted["metadata"]).toEqual({ weir_batch: expect.any(String) });
    });

    test("a creation whose answer is lost makes no twin", async () => {
      host.loses = 5;
      const ids = await Promise.all(Array.from({ length: 5 }, (_, round) => made(model, [`round ${round}`])));
      for (const [round, id] of ids.entries())
        expect(await results(await ended(id))).toEqual({ l0: `You said round ${round}.` });
      expect([host.batches.length, host.wrong, host.called]).toEqual([5, [], 0]);
      expect([...host.billed.values()]).toEqual([1, 1, 1, 1, 1]);
    });

    test("a line that expired or was cancelled at the provider says so", async () => {
      host.expires = true;
      const late = await ended(await made(model, ["one", "two"]));
      expect(await results(late)).toEqual({ l0: "You said one.", l1: "batch_expired" });
      Object.assign(host, { expires: false, looks: 1_000 });
      const id = await made(model, ["three", "four"]);
      while (host.batches.length < 2) await Bun.sleep(20);
      await openai.batches.cancel(id);
      const cancelled = await ended(id);
      expect(cancelled.status).toBe("cancelled");
      expect(await results(cancelled)).toEqual({ l0: "You said three.", l1: "batch_cancelled" });
      expect([host.batches[1]!.state, host.wrong, host.called]).toEqual(["cancelled", [], 0]);
    });
  });
