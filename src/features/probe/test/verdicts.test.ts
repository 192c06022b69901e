/** Every verdict about every fake host is right, within the bound of calls that is printed before the first. */
import { afterAll, expect, test } from "bun:test";
import { createTransport } from "../../../http/index.ts";
import type { JsonObject } from "../../../core/json.ts";
import { writeBlock } from "../block.ts";
import { planOf } from "../plan.ts";
import { probeHost } from "../run.ts";
import { settingsOf } from "../settings.ts";
import type { ProbedHost } from "../probed-host.ts";
import { startHost } from "./host.ts";
import { EVERYTHING, type Row, traitsOf, VARIANTS } from "./variants.ts";

const transport = createTransport({}, { idleMs: 1 });
const printed: string[] = [];

async function probed({ host: variant }: Row, pauses: number[] = [], callMs?: number, runMs?: number) {
  const host = startHost(variant);
  try {
    const credentials: Record<string, string> = variant.key ? { authorization: `Bearer ${variant.key}` } : {};
    const place: ProbedHost = {
      baseUrl: host.url,
      chatUrl: () => `${host.url}/chat/completions`,
      headers: {},
      credentials,
    };
    const found = await probeHost({
      place,
      transport,
      mostCalls: planOf().calls,
      callMs,
      runMs,
      // A host without a list has to be asked for a model by its name.
      ...(variant.models === "refused" && { model: "chat-1" }),
      pause: async (milliseconds) => void pauses.push(milliseconds),
    });
    const block = writeBlock(found.findings, settingsOf(found.findings), {
      provider: "acme",
      model: found.model,
      host: { baseUrl: host.url, listsModels: found.findings.models?.verdict === "yes" },
      date: "2026-01-01",
    });
    return { ...found, block, sent: host.seen.length };
  } finally {
    await host.stop();
  }
}

test("the table has the hosts that the README promises", () => {
  expect(VARIANTS.length).toBeGreaterThan(24);
  expect(new Set(VARIANTS.map(({ name }) => name)).size).toBe(VARIANTS.length);
});

for (const row of VARIANTS)
  test(`every verdict is right: ${row.name}`, async () => {
    const { findings, block, calls, sent } = await probed(row);
    const verdicts = Object.fromEntries(
      Object.entries(findings).map(([name, { verdict }]) => [name, verdict]),
    );
    expect(verdicts).toEqual({ ...EVERYTHING, ...row.verdicts });
    const { providers } = Bun.YAML.parse(block) as { providers: { acme: JsonObject } };
    const { baseUrl: _url, speaks, traits = {}, ...options } = providers.acme;
    expect(speaks).toBe("chat-completions");
    expect(traits).toEqual(traitsOf(row));
    expect(options).toEqual(row.provider ?? {});
    expect(sent).toBe(calls);
    expect(calls).toBeLessThanOrEqual(planOf().calls);
    printed.push(
      `${row.name.padEnd(32)} ${String(calls).padStart(2)} calls  ${JSON.stringify({ ...options, ...(traits as JsonObject) })}`,
    );
  });

test("an error that is not about the feature, and no answer, decide nothing", async () => {
  const vague = {
    name: "",
    host: { images: "refused", refusal: 503, words: "overloaded" },
    verdicts: {},
  } as const;
  const { findings, block } = await probed(vague);
  expect(findings.images).toEqual({ verdict: "unclear", evidence: "503: overloaded" });
  expect(block).toContain("\n#   images: 503: overloaded");
  expect(block).not.toContain("images: false");
  const stalled = await probed({ name: "", host: { stalls: "images" }, verdicts: {} }, [], 200);
  expect(stalled.findings.images).toEqual({ verdict: "unclear", evidence: "did not answer within 0.2 s" });
  expect(stalled.findings.logprobs?.verdict).toBe("yes");
});

test("a host that answers 429 for ever is given up after a few calls", async () => {
  const host = startHost({ limited: 1000 });
  const place: ProbedHost = {
    baseUrl: host.url,
    chatUrl: () => `${host.url}/chat/completions`,
    headers: {},
    credentials: {},
  };
  const run = probeHost({ place, transport, mostCalls: planOf().calls, pause: async () => {} });
  expect(run).rejects.toThrow("does not answer a simple question to chat-1: 429: slow down.");
  await run.catch(() => {});
  expect(host.seen.length).toBe(6);
  await host.stop();
});

test("nothing is asked after the time is over", async () => {
  const late = probed({ name: "", host: {}, verdicts: {} }, [], 1000, -1);
  await expect(late).rejects.toThrow("the time of the probe is over");
});

test("a 429 is waited for as long as the host says", async () => {
  const pauses: number[] = [];
  await probed(
    VARIANTS.find(({ host }) => host.limited === 3)!,
    pauses,
  );
  expect(pauses).toEqual([5, 5, 5]);
});

afterAll(() => {
  if (process.env["PRINT_TABLES"]) console.log(printed.join("\n"));
});
