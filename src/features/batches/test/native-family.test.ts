/** Batches that Azure and Mistral run by their own batch APIs, with the files of weir. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeFamily, FLAVOURS } from "./fake-family.ts";
import { BatchClient } from "./native-client.ts";

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

const client = new BatchClient(gateway.url);

for (const name of ["azure", "azure-dated", "mistral"] as const)
  describe(name, () => {
    const host = hosts[name];
    const model = MODELS[name];

    test("lines go as one batch at the lower price", async () => {
      const batch = await client.ended(await client.madeOf(model, ["one", "bad", "three"]));
      expect([host.wrong, host.called]).toEqual([[], 0]);
      expect(await client.results(batch)).toEqual({ l0: "You said one.", l1: 400, l2: "You said three." });
      expect(batch).toMatchObject({
        request_counts: { total: 3, completed: 2, failed: 1 },
        weir: { how: "native", cost: "0.00013" },
      });
      expect([host.batches.length, [...host.billed.values()]]).toEqual([1, [1, 1]]);
      expect(host.batches[0]!.wanted["metadata"]).toEqual({ weir_batch: expect.any(String) });
    });

    test("a creation whose answer is lost makes no twin", async () => {
      host.loses = 5;
      const ids = await Promise.all(
        Array.from({ length: 5 }, (_, round) => client.madeOf(model, [`round ${round}`])),
      );
      for (const [round, id] of ids.entries())
        expect(await client.results(await client.ended(id))).toEqual({ l0: `You said round ${round}.` });
      expect([host.batches.length, host.wrong, host.called]).toEqual([5, [], 0]);
      expect([...host.billed.values()]).toEqual([1, 1, 1, 1, 1]);
    });

    test("a line that expired or was cancelled at the provider says so", async () => {
      host.expires = true;
      const late = await client.ended(await client.madeOf(model, ["one", "two"]));
      expect(await client.results(late)).toEqual({ l0: "You said one.", l1: "batch_expired" });
      Object.assign(host, { expires: false, looks: 1_000 });
      const id = await client.madeOf(model, ["three", "four"]);
      while (host.batches.length < 2) await Bun.sleep(20);
      await client.openai.batches.cancel(id);
      const cancelled = await client.ended(id);
      expect(cancelled.status).toBe("cancelled");
      expect(await client.results(cancelled)).toEqual({ l0: "You said three.", l1: "batch_cancelled" });
      expect([host.batches[1]!.state, host.wrong, host.called]).toEqual(["cancelled", [], 0]);
    });
  });
